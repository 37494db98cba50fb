"""Warnings of a plan: dangling references, orphans, lost labels, renames and a full inventory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpupool.cluster.resources import KINDS, NODE_POOL
from gpupool.objects import is_pool, labels_of
from gpupool.planning.admission import describe_admission
from gpupool.planning.foreign_fields import PART_OF
from gpupool.planning.pruning import is_renamed, read_node_class
from gpupool.planning.tools import find_tool_marks
from gpupool.rollout.inventory.encoding import InventoryEntry, calculate_fullness

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gpupool.objects import Ref
    from gpupool.planning.plan import Change
    from gpupool.planning.pruning import Fate
    from gpupool.rollout.live_state import LiveState
    from gpupool.rollout.planning.assess import AssessedObject

_HALF: Final = 0.5
_RENAMES: Final = 10
"""How many deleted pools are compared with all new ones, to find renames."""


def find_dangling_pools(
    observed: LiveState, assessed: Sequence[AssessedObject], deleted: set[Ref]
) -> Iterator[tuple[Ref, Ref]]:
    """Yield each pool whose EC2NodeClass does not exist after the apply, with that class."""
    later = ({*observed.live} - deleted) | {item.desired.ref for item in assessed}
    for item in assessed:
        if item.desired.kind == NODE_POOL:
            node_class = read_node_class(item.desired.body)
            if node_class.kind in KINDS and node_class.kind in observed.served and node_class not in later:
                yield item.desired.ref, node_class


def find_orphans(observed: LiveState, assessed: Sequence[AssessedObject]) -> Iterator[str]:
    """Yield objects with the blueprint's label that the inventory does not list."""
    listed = {*observed.inventory.entries, *(item.desired.ref for item in assessed)}
    for ref, body in sorted(observed.live.items()):
        if labels_of(body).get(PART_OF) == observed.inventory.place.id and ref not in listed:
            yield str(ref)


def find_lost(observed: LiveState) -> Iterator[str]:
    """Yield objects that the inventory lists and that do not have the blueprint's label."""
    for ref in sorted(observed.inventory.entries):
        body = observed.live.get(ref)
        if body is not None and labels_of(body).get(PART_OF) != observed.inventory.place.id:
            yield str(ref)


def find_warnings(
    observed: LiveState,
    assessed: Sequence[AssessedObject],
    removed: Sequence[Fate],
    deletions: Sequence[Change],
) -> Iterator[str]:
    """Yield the warnings of a plan."""
    if observed.inventory.pending:
        yield "an apply was interrupted or is in progress: the next one completes it"
    for fate in removed:
        if not fate.is_deleted:
            yield f"{fate.ref} is no longer in the blueprint and is kept: {fate.reason}"
    yield from _renames(observed, assessed, deletions)
    yield from _fullness(observed, assessed)
    changes = [item.change for item in assessed]
    yield from _admissions(changes)
    yield from _shared(observed, [*changes, *deletions])


def _fullness(observed: LiveState, assessed: Sequence[AssessedObject]) -> Iterator[str]:
    """Yield a warning before the inventory is full, as a larger blueprint can't be applied."""
    new = {
        item.desired.ref: InventoryEntry(
            item.desired.kind.name, item.desired.name, "", 0, item.desired.digest
        )
        for item in assessed
    }
    entries = [*{**new, **observed.inventory.entries}.values()]
    if (share := calculate_fullness(entries)) > _HALF:
        yield (
            f"the inventory takes {share:.0%} of what a ConfigMap holds, for {len(entries)} objects: make"
            " several blueprints of it before it is full"
        )


def _admissions(changes: Sequence[Change]) -> Iterator[str]:
    for change in changes:
        for admission in change.admissions:
            place = admission.place
            at = "" if place is None else f" ({place.file}:{place.line}:{place.column})"
            yield f"{change.address}: {describe_admission(admission)}{at}"


def _shared(observed: LiveState, changes: Sequence[Change]) -> Iterator[str]:
    """Yield the tools that will revert a change; blocked changes report them as their reason."""
    for change in changes:
        if change.managed_by and not change.blocked:
            for sign in find_tool_marks(observed.live[change.ref]):
                yield f"{change.address}: {sign.message}"


def _renames(
    observed: LiveState, assessed: Sequence[AssessedObject], deletions: Sequence[Change]
) -> Iterator[str]:
    desired = {item.desired.ref: item.desired.body for item in assessed}
    bodies = {**observed.live, **desired}
    new = [item.desired.ref for item in assessed if item.change.actions == ("create",)]
    pools = [change for change in deletions if is_pool(change.ref)]
    for change in pools[:_RENAMES]:
        for ref in filter(is_pool, new):
            pair = observed.live[change.ref], desired[ref]
            classes = (bodies.get(read_node_class(body)) for body in pair)
            if is_renamed(*pair, *classes):
                nodes = f"all {change.node_claims} nodes" if change.node_claims else "its nodes"
                both = f"{change.address} and {ref} look like one renamed pool"
                yield f"{both}: {nodes} would be replaced"
