"""Desired objects of a blueprint, as they are sent to the API server."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from gpupool.cluster.resources import KINDS
from gpupool.objects import Ref, digest
from gpupool.planning import masking
from gpupool.planning.blueprint_index import Owner
from gpupool.planning.causes import ObjectCauses, to_place
from gpupool.planning.foreign_fields import PART_OF
from gpupool.rollout.inventory.encoding import shorten_digest
from gpupool.rollout.inventory.store import BLUEPRINT
from gpupool.yamlio.located import Located, find, place, plain_map

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpupool.cluster.resources import ResourceKind
    from gpupool.planning.compare import LeafPath
    from gpupool.planning.plan import BlueprintCause, BlueprintPlace
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

    causes: ObjectCauses | None = None
    """The causes of its values in the blueprint; None for an object of a saved plan."""

    sensitive: tuple[str, ...] = ()
    """As in the blueprint's `sensitive`."""

    saved_inputs: Mapping[str, str] = field(default_factory=dict)
    """The texts of its inputs, for an object of a saved plan."""

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

    @property
    def inputs(self) -> Mapping[str, str]:
        """Return the short texts of the inputs of its calculated values, by field."""
        return self.saved_inputs if self.causes is None else self.causes.inputs

    @property
    def place(self) -> BlueprintPlace | None:
        """Return the place in the blueprint where it begins."""
        return None if self.causes is None else to_place(place(self.causes.source))

    def find_cause(self, path: str) -> BlueprintCause | None:
        """Return the cause of a field, named as the API server does, or that of its nearest parent."""
        return None if self.causes is None else self.causes.find_cause(_parse(path, self.body))

    def find_causes_since(self, old_inputs: Mapping[str, str]) -> ObjectCauses | None:
        """Return the causes of its values, given the texts of its inputs at the last apply."""
        return None if self.causes is None else replace(self.causes, old_inputs=old_inputs)


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
        causes = ObjectCauses(state.blueprint_index, Owner.parse(manifest.path), kind, manifest.body, source)
        desired.append(DesiredObject(KINDS[kind], name, sent, causes, state.sensitive))
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


def _parse(path: str, body: Mapping[str, Plain]) -> LeafPath:
    """Return the keys of a field path of the API server or of a plan, as far as the body has them."""
    keys: list[str | int] = []
    node: Plain = dict(body)
    for key, index in _STEP.findall(path):
        step: str | int = int(index) if isinstance(node, list) and index.isdigit() else key or index
        if isinstance(node, dict) and step in node:
            node = node[str(step)]
        elif isinstance(node, list) and isinstance(step, int) and step < len(node):
            node = node[step]
        else:
            break
        keys.append(step)
    return tuple(keys)
