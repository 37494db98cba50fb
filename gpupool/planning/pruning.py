"""Which objects are to be deleted, and which only look like it: nothing that was not proved to be ours."""

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
_ABOUT_POOLS: Final = frozenset((key,) for key in ("disruption", "limits", "replicas", "weight"))
"""What a NodePool says of itself and not of its nodes."""

_FEW: Final = 3
"""A pool that differs from a removed one in so few leaves is taken for the same under another name."""


class ListedObject(NamedTuple):
    """An object that the inventory lists."""

    ref: Ref
    uid: str
    """Empty where an apply was interrupted while it was about to be created."""


class Fate(NamedTuple):
    """What becomes of an object that the blueprint no longer has."""

    ref: Ref
    deleted: bool
    why: str
    """Why it is kept, where it is."""


def decide_fates(
    listed: Iterable[ListedObject],
    live: Mapping[Ref, Mapping[str, Plain]],
    wanted: Iterable[Ref],
    own_set: str,
) -> list[Fate]:
    """Return for each listed object that is no longer wanted, and is still there, whether it may be deleted."""
    kept = set(wanted)
    found = []
    for each in listed:
        body = live.get(each.ref)
        if each.ref in kept or body is None:
            continue
        why = explain_kept(body, each.uid, own_set)
        found.append(Fate(each.ref, not why, why))
    return found


def explain_kept(body: Mapping[str, Plain], uid: str, own_set: str) -> str:
    """Return why a live object is not gpupool's to delete; empty where it is. `uid` is what was listed."""
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


def keep_referenced_classes(found: Iterable[Fate], pools: Iterable[Mapping[str, Plain]]) -> list[Fate]:
    """Keep each class that a NodePool refers to; `pools` are those that there will be."""
    known = group_by_class(map(read_class_reference, pools))
    kept = []
    for each in found:
        names = known.get(each.ref) if each.deleted else None
        kept.append(Fate(each.ref, deleted=False, why=describe_references(names)) if names else each)
    return kept


def read_class_reference(pool: Mapping[str, Plain]) -> tuple[Ref, str]:
    """Return the node class that a NodePool refers to, and the pool's name."""
    return read_node_class(pool), plain_text(plain_map(pool.get("metadata")).get("name"))


def group_by_class(references: Iterable[tuple[Ref, str]]) -> dict[Ref, list[str]]:
    """Return for each node class the names of the NodePools that refer to it."""
    found: dict[Ref, list[str]] = {}
    for reference, name in references:
        found.setdefault(reference, []).append(name)
    return found


def describe_references(pools: Iterable[str]) -> str:
    """Return which NodePools refer to a class."""
    names = sorted(pools)
    return f"{', '.join(f'NodePool/{name}' for name in names)} refer{'s' * (len(names) == 1)} to it"


def is_renamed(gone: Live, new: Live, gone_class: Live | None, new_class: Live | None) -> bool:
    """Return whether a new NodePool looks like a removed one under another name.

    Where each has a node class of its own, that goes by the pool's name, and has to look the same as well.
    """
    if read_node_class(gone) != read_node_class(new) and not (
        gone_class and new_class and _alike(gone_class, new_class)
    ):
        return False
    return _alike(gone, new)


def _alike(live: Live, new: Live) -> bool:
    """Return whether nodes by the one are nearly the nodes by the other."""
    changed = [
        each
        for each in find_differences({"spec": live.get("spec")}, {"spec": new.get("spec")})
        if each.semantic and _shapes_nodes(each) and not is_default(each.keys, each.before)
    ]
    return len(changed) <= _FEW


def _shapes_nodes(difference: Difference) -> bool:
    """Return whether it is about nodes: all of a class, and a pool's template but for the name of its class."""
    at, reference = difference.keys[1:3], difference.keys[3:4]
    return at[:1] not in _ABOUT_POOLS and (at != ("template", "spec") or reference != ("nodeClassRef",))


def _template(body: Mapping[str, Plain]) -> Mapping[str, Plain]:
    return plain_map(plain_map(plain_map(body.get("spec")).get("template")).get("spec"))


def read_node_class(body: Mapping[str, Plain]) -> Ref:
    """Return kind and name of the node class that a NodePool refers to."""
    reference = plain_map(_template(body).get("nodeClassRef"))
    return Ref(str(reference.get("kind", "")), str(reference.get("name", "")))
