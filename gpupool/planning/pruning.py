"""Pruning: objects that left the blueprint, and whether gpupool may delete them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from gpupool.objects import Ref
from gpupool.planning import ownership
from gpupool.planning.compare import find_differences
from gpupool.planning.foreign_fields import PART_OF, is_default
from gpupool.yamlio.located import plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gpupool.planning.compare import Difference
    from gpupool.yamlio.located import Plain

    Live: TypeAlias = Mapping[str, Plain]


PROTECT: Final = "gpupool.dev/protect"
_POOL_FIELDS: Final = frozenset((key,) for key in ("disruption", "limits", "replicas", "weight"))
"""Fields of a NodePool that do not describe its nodes."""

_MAX_RENAME_DIFFERENCES: Final = 3
"""A new pool that differs from a removed one in at most this many leaves counts as renamed."""


class ListedObject(NamedTuple):
    """An object that the inventory lists."""

    ref: Ref
    uid: str
    """Empty where an apply was interrupted before the object was created."""


class Fate(NamedTuple):
    """The decision on an object that is no longer in the blueprint."""

    ref: Ref
    is_deleted: bool
    reason: str
    """Why it is kept; empty where it is deleted."""


def decide_fates(
    listed: Iterable[ListedObject],
    live: Mapping[Ref, Mapping[str, Plain]],
    desired: Iterable[Ref],
    own_set: str,
) -> list[Fate]:
    """Decide which listed objects are deleted: those that exist, are no longer desired, and are gpupool's."""
    kept = set(desired)
    fates = []
    for entry in listed:
        body = live.get(entry.ref)
        if entry.ref in kept or body is None:
            continue
        reason = explain_kept(body, entry.uid, own_set)
        fates.append(Fate(entry.ref, not reason, reason))
    return fates


def explain_kept(body: Mapping[str, Plain], uid: str, own_set: str) -> str:
    """Return why gpupool may not delete a live object; empty where it may. `uid` is the inventory's."""
    metadata = plain_map(body.get("metadata"))
    labels, annotations = plain_map(metadata.get("labels")), plain_map(metadata.get("annotations"))
    if uid and metadata.get("uid") != uid:
        return "it is another object of the same name: what gpupool applied was deleted since"
    if labels.get(PART_OF) != own_set:
        return f"its label {PART_OF} is not this blueprint's"
    if ownership.find_applied_entry(body) is None:
        return "gpupool owns no field of it"
    if metadata.get("ownerReferences"):
        return "it has an owner of its own"
    if PROTECT in labels or PROTECT in annotations:
        return f"{PROTECT} protects it"
    return ""


def keep_referenced_classes(fates: Iterable[Fate], pools: Iterable[Mapping[str, Plain]]) -> list[Fate]:
    """Return the fates with each class kept that a NodePool refers to; `pools` are those after the apply."""
    references = group_by_class(map(read_class_reference, pools))
    revised = []
    for fate in fates:
        names = references.get(fate.ref) if fate.is_deleted else None
        revised.append(Fate(fate.ref, is_deleted=False, reason=describe_references(names)) if names else fate)
    return revised


def read_class_reference(pool: Mapping[str, Plain]) -> tuple[Ref, str]:
    """Read the node class that a NodePool refers to, and the pool's name."""
    return read_node_class(pool), plain_text(plain_map(pool.get("metadata")).get("name"))


def group_by_class(references: Iterable[tuple[Ref, str]]) -> dict[Ref, list[str]]:
    """Collect the names of the NodePools that refer to each node class."""
    names: dict[Ref, list[str]] = {}
    for reference, name in references:
        names.setdefault(reference, []).append(name)
    return names


def describe_references(pools: Iterable[str]) -> str:
    """Return the message about the NodePools that refer to a class."""
    names = sorted(pools)
    return f"{', '.join(f'NodePool/{name}' for name in names)} refer{'s' * (len(names) == 1)} to it"


def is_renamed(removed: Live, new: Live, removed_class: Live | None, new_class: Live | None) -> bool:
    """Return whether a new NodePool is similar enough to a removed one to be a rename of it.

    Node classes may be named after their pools; where the two pools refer to different ones, the classes have
    to be similar as well.
    """
    if read_node_class(removed) != read_node_class(new) and not (
        removed_class and new_class and _is_similar(removed_class, new_class)
    ):
        return False
    return _is_similar(removed, new)


def _is_similar(live: Live, new: Live) -> bool:
    """Return whether the nodes of two specs are nearly the same."""
    changes = [
        leaf
        for leaf in find_differences({"spec": live.get("spec")}, {"spec": new.get("spec")})
        if leaf.semantic and _affects_nodes(leaf) and not is_default(leaf.keys, leaf.before)
    ]
    return len(changes) <= _MAX_RENAME_DIFFERENCES


def _affects_nodes(difference: Difference) -> bool:
    """Return whether a leaf describes nodes: all of a class, and a pool's template except `nodeClassRef`."""
    at, reference = difference.keys[1:3], difference.keys[3:4]
    return at[:1] not in _POOL_FIELDS and (at != ("template", "spec") or reference != ("nodeClassRef",))


def _template_spec(body: Mapping[str, Plain]) -> Mapping[str, Plain]:
    return plain_map(plain_map(plain_map(body.get("spec")).get("template")).get("spec"))


def read_node_class(body: Mapping[str, Plain]) -> Ref:
    """Read the kind and the name of the node class that a NodePool refers to."""
    reference = plain_map(_template_spec(body).get("nodeClassRef"))
    return Ref(str(reference.get("kind", "")), str(reference.get("name", "")))
