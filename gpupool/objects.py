"""Kubernetes objects: references, rendered manifests, labels and digests."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

from gpupool.yamlio.located import Located, Plain, plain_map

if TYPE_CHECKING:
    from collections.abc import Mapping


class Ref(NamedTuple):
    """The kind and the name of an object."""

    kind: str
    name: str

    def __str__(self) -> str:
        """Return its address, `KIND/NAME`."""
        return f"{self.kind}/{self.name}"

    @classmethod
    def parse(cls, address: str) -> Ref:
        """Parse an address; a text without a slash is a kind with an empty name."""
        kind, _, name = address.partition("/")
        return cls(kind, name)


class Manifest(NamedTuple):
    """One rendered object; every leaf of `body` has its location in the blueprint."""

    ref: Ref
    path: str
    """The path in the blueprint: `pools.chat.tiers.spot`."""

    body: Located
    data: Plain
    """The body without locations, which is checked and written."""

    pool: str = ""
    """The blueprint's pool that a NodePool is rendered from; empty for other kinds."""


def labels_of(body: Mapping[str, Plain]) -> Mapping[str, Plain]:
    """Return an object's own labels."""
    return plain_map(plain_map(body.get("metadata")).get("labels"))


def is_pool(ref: Ref) -> bool:
    """Return whether an object is a NodePool."""
    return ref.kind == "NodePool"


def digest(value: Plain) -> str:
    """Return the sha256 of a value's canonical JSON."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
