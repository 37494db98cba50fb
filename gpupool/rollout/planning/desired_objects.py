"""The objects that are to be there, as they are sent to the API server."""

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
    """One object that is to be there."""

    kind: ResourceKind
    name: str
    body: Mapping[str, Plain]
    """What is sent, with the labels that say whose it is."""

    node: Located | None = None
    """The same with its places in the blueprint; None where only a saved plan is at hand."""

    said: Located | None = None
    """What the blueprint says to have it: a pool, a tier, a class."""

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
        """A digest of what is sent without what is sensitive, as an inventory keeps it."""
        return shorten_digest(digest(masking.blanked(self.sensitive, dict(self.body))))

    def place(self, field: str = "") -> BlueprintPlace | None:
        """Return where a field of the object stands in the blueprint, or what is nearest to it."""
        if self.node is None:
            return None
        at = place(_nearest(self.node, field) if field else self.said or self.node)
        return BlueprintPlace(at.file, at.line, at.column)


def build_desired_objects(wanted: DesiredState, where: store.InventoryRef) -> tuple[DesiredObject, ...]:
    """Return what a blueprint wants to be there, in the order in which it is written."""
    ours: dict[str, Plain] = {PART_OF: where.id, BLUEPRINT: wanted.blueprint}
    order = [*KINDS]
    made = []
    for each in sorted(wanted.manifests, key=lambda each: order.index(each.ref.kind)):
        body = plain_map(each.data)
        metadata = plain_map(body.get("metadata"))
        labels: dict[str, Plain] = {**plain_map(metadata.get("labels")), **ours}
        said = _without_empty({**body, "metadata": {**metadata, "labels": labels}})
        at = _at(wanted.node, each.path)
        made.append(DesiredObject(KINDS[each.ref.kind], each.ref.name, said, each.body, at, wanted.sensitive))
    return tuple(made)


def _without_empty(body: Mapping[str, Plain]) -> dict[str, Plain]:
    """Return a body without empty maps; a list is one value, with all that is in it.

    They say nothing, and once a map has had keys, the server takes an empty one for null and refuses it.
    """
    inside = {key: _without_empty(value) if isinstance(value, dict) else value for key, value in body.items()}
    return {key: value for key, value in inside.items() if value != {}}


def _at(blueprint: Located, path: str) -> Located:
    """Follow a path of the blueprint, as in `pools.chat.tiers.spot`, as far as somebody wrote it."""
    node = blueprint
    for key in path.split("."):
        inner = find(node, key)
        if inner is None:
            break
        node = inner
    return node


def _nearest(node: Located, field: str) -> Located:
    """Follow a field path of the API server as far as the blueprint goes."""
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
