"""Which objects are to be deleted, and which only look like it: nothing that was not proved to be ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.planning import ownership
from gpupool.planning.compare import differences
from gpupool.planning.foreign import PART_OF
from gpupool.yamlio.nodes import plain_map

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gpupool.yamlio.nodes import Plain

PROTECT: Final = "gpupool.dev/protect"
_FEW: Final = 3
"""A pool that differs from a removed one in so few leaves is taken for the same under another name."""


class Listed(NamedTuple):
    """An object that the inventory lists."""

    address: str
    uid: str
    """Empty where an apply was interrupted while it was about to be created."""


class Fate(NamedTuple):
    """What becomes of an object that the blueprint no longer has."""

    address: str
    deleted: bool
    why: str
    """Why it is kept, where it is."""


def fates(
    listed: Iterable[Listed], live: Mapping[str, Mapping[str, Plain]], wanted: Iterable[str], own_set: str
) -> list[Fate]:
    """Say for each listed object that is no longer wanted, and is still there, whether it may be deleted."""
    kept = set(wanted)
    found = []
    for each in listed:
        body = live.get(each.address)
        if each.address in kept or body is None:
            continue
        why = _kept_for(body, each.uid, own_set)
        found.append(Fate(each.address, not why, why))
    return found


def _kept_for(body: Mapping[str, Plain], uid: str, own_set: str) -> str:
    metadata = plain_map(body.get("metadata"))
    labels, annotations = plain_map(metadata.get("labels")), plain_map(metadata.get("annotations"))
    if uid and metadata.get("uid") != uid:
        return "it is another object of the same name: what gpupool applied was deleted since"
    if labels.get(PART_OF) != own_set:
        return f"its label {PART_OF} is not this blueprint's"
    if ownership.applied(body) is None:
        return "gpupool owns no field of it"
    if metadata.get("ownerReferences"):
        return "it has an owner of its own"
    if PROTECT in labels or PROTECT in annotations:
        return f"{PROTECT} protects it"
    return ""


def renamed(gone: Mapping[str, Plain], new: Mapping[str, Plain]) -> bool:
    """Say whether a new NodePool looks like a removed one under another name."""
    before, after = _template(gone), _template(new)
    same_class = before.get("nodeClassRef") == after.get("nodeClassRef")
    changed = [each for each in differences(dict(before), dict(after)) if each.semantic]
    return same_class and len(changed) <= _FEW


def _template(body: Mapping[str, Plain]) -> Mapping[str, Plain]:
    return plain_map(plain_map(plain_map(body.get("spec")).get("template")).get("spec"))


def class_of(body: Mapping[str, Plain]) -> tuple[str, str]:
    """Give kind and name of the node class that a NodePool refers to."""
    reference = plain_map(_template(body).get("nodeClassRef"))
    return str(reference.get("kind", "")), str(reference.get("name", ""))
