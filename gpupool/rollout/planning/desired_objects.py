"""Desired objects of a blueprint, as they are sent to the API server."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from gpupool.cluster.resources import KINDS
from gpupool.objects import Ref, digest
from gpupool.planning import masking
from gpupool.planning.foreign_fields import PART_OF
from gpupool.planning.plan import BlueprintPlace
from gpupool.rollout.inventory.encoding import shorten_digest
from gpupool.rollout.inventory.store import BLUEPRINT
from gpupool.yamlio.located import Located, find, place, plain_map

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpupool.cluster.resources import ResourceKind
    from gpupool.rollout.desired_state import DesiredState
    from gpupool.rollout.inventory import store
    from gpupool.yamlio.located import Plain

_STEP = re.compile(r"([^.\[\]]+)|\[([^\]]*)\]")


@dataclass(frozen=True)
class DesiredObject:
    """A desired object, with its place in the blueprint."""

    kind: ResourceKind
    name: str
    body: Mapping[str, Plain]
    """The body that is sent, with the labels of its blueprint."""

    node: Located | None = None
    """The body with places in the blueprint; None for an object of a saved plan."""

    source: Located | None = None
    """The part of the blueprint that declares it: a pool, a tier, a class."""

    sensitive: tuple[str, ...] = ()
    """As in the blueprint's `sensitive`."""

    @property
    def ref(self) -> Ref:
        """Return the kind and the name."""
        return Ref(self.kind.name, self.name)

    @property
    def address(self) -> str:
        """Return `KIND/NAME`."""
        return str(self.ref)

    @cached_property
    def digest(self) -> str:
        """The digest of the body without sensitive values, as an inventory keeps it."""
        return shorten_digest(digest(masking.blank_sensitive_values(self.sensitive, dict(self.body))))

    def place(self, field: str = "") -> BlueprintPlace | None:
        """Return the place of a field in the blueprint, or that of its nearest parent."""
        if self.node is None:
            return None
        at = place(_nearest(self.node, field) if field else self.source or self.node)
        return BlueprintPlace(at.file, at.line, at.column)


def build_desired_objects(state: DesiredState, inventory: store.InventoryRef) -> tuple[DesiredObject, ...]:
    """Return the objects of a blueprint, in the order in which they are written."""
    own: dict[str, Plain] = {PART_OF: inventory.id, BLUEPRINT: state.blueprint}
    order = [*KINDS]
    desired = []
    for manifest in sorted(state.manifests, key=lambda manifest: order.index(manifest.ref.kind)):
        kind, name = manifest.ref
        body = plain_map(manifest.data)
        metadata = plain_map(body.get("metadata"))
        labels: dict[str, Plain] = {**plain_map(metadata.get("labels")), **own}
        sent = _without_empty({**body, "metadata": {**metadata, "labels": labels}})
        source = _at(state.node, manifest.path)
        desired.append(DesiredObject(KINDS[kind], name, sent, manifest.body, source, state.sensitive))
    return tuple(desired)


def _without_empty(body: Mapping[str, Plain]) -> dict[str, Plain]:
    """Return a body without empty maps outside lists.

    They set nothing, and where a map had keys before, the server reads an empty one as null and rejects it.
    """
    inside = {key: _without_empty(value) if isinstance(value, dict) else value for key, value in body.items()}
    return {key: value for key, value in inside.items() if value != {}}


def _at(blueprint: Located, path: str) -> Located:
    """Return the value at a path of the blueprint, as in `pools.chat.tiers.spot`, or its nearest parent."""
    node = blueprint
    for key in path.split("."):
        inner = find(node, key)
        if inner is None:
            break
        node = inner
    return node


def _nearest(node: Located, field: str) -> Located:
    """Return the value at a field path of the API server, or its nearest parent."""
    for key, index in _STEP.findall(field):
        inner: Located | None = None
        if isinstance(node.value, dict):
            inner = node.value.get(key or index)
        elif isinstance(node.value, list) and index.isdigit() and int(index) < len(node.value):
            inner = node.value[int(index)]
        if inner is None:
            return node
        node = inner
    return node
