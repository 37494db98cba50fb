"""Kubernetes objects: references, rendered manifests, labels and digests."""

import hashlib
import json
from collections.abc import Mapping
from typing import NamedTuple

from gpupool.yamlio.located import Located, Plain, plain_map


class Ref(NamedTuple):
    """What an object is called."""

    kind: str
    name: str


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


def is_pool(address: str) -> bool:
    """Return whether `KIND/NAME` is a NodePool."""
    return address.startswith("NodePool/")


def digest(value: Plain) -> str:
    """Return the sha256 of a value's canonical JSON."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
