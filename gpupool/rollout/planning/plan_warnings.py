"""What a plan says beside its changes: what is not where it should be, and what looks odd."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpupool.cluster.resources import KINDS, NODE_POOL
from gpupool.objects import is_pool, labels_of
from gpupool.planning.admission import admitted
from gpupool.planning.foreign_fields import PART_OF
from gpupool.planning.pruning import class_of, renamed
from gpupool.planning.tools import signs
from gpupool.rollout.inventory.encoding import InventoryEntry, calculate_fullness

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gpupool.objects import Ref
    from gpupool.planning.plan import Change
    from gpupool.planning.pruning import Fate
    from gpupool.rollout.live_state import LiveState
    from gpupool.rollout.planning.assess import Assessed

_HALF: Final = 0.5
_RENAMES: Final = 10
"""So many deleted pools are looked for under another name; each is held against all that are new."""


def find_dangling_pools(
    observed: LiveState, assessed: Sequence[Assessed], deleted: set[Ref]
) -> Iterator[tuple[Ref, Ref]]:
    """Yield each pool whose EC2NodeClass does not exist after the apply, with that class."""
    later = ({*observed.live} - deleted) | {known.wish.ref for known in assessed}
    for known in assessed:
        if known.wish.kind == NODE_POOL:
            node_class = class_of(known.wish.body)
            if node_class.kind in KINDS and node_class.kind in observed.served and node_class not in later:
                yield known.wish.ref, node_class


def find_orphans(observed: LiveState, assessed: Sequence[Assessed]) -> Iterator[str]:
    """Yield objects with our label that the inventory does not list."""
    listed = {*observed.inventory.known, *(known.wish.ref for known in assessed)}
    for ref, body in sorted(observed.live.items()):
        if labels_of(body).get(PART_OF) == observed.inventory.place.id and ref not in listed:
            yield str(ref)


def find_lost(observed: LiveState) -> Iterator[str]:
    """Yield objects that the inventory lists and that are without our label."""
    for ref in sorted(observed.inventory.known):
        body = observed.live.get(ref)
        if body is not None and labels_of(body).get(PART_OF) != observed.inventory.place.id:
            yield str(ref)


def find_warnings(
    observed: LiveState, assessed: Sequence[Assessed], gone: Sequence[Fate], deletions: Sequence[Change]
) -> Iterator[str]:
    """Yield what whoever reads the plan should know beside the changes."""
    if observed.inventory.pending:
        yield "an apply was interrupted or is in progress: the next one completes it"
    for each in gone:
        if not each.deleted:
            yield f"{each.ref} is no longer in the blueprint and is kept: {each.why}"
    yield from _renames(observed, assessed, deletions)
    yield from _fullness(observed, assessed)
    yield from _admissions([each.change for each in assessed])
    yield from _shared(observed, [*(each.change for each in assessed), *deletions])


def _fullness(observed: LiveState, assessed: Sequence[Assessed]) -> Iterator[str]:
    """Warn before the inventory is full: a blueprint that does not fit can't be applied at all."""
    new = {
        each.wish.ref: InventoryEntry(each.wish.kind.name, each.wish.name, "", 0, each.wish.digest)
        for each in assessed
    }
    entries = [*{**new, **observed.inventory.known}.values()]
    if (full := calculate_fullness(entries)) > _HALF:
        yield (
            f"the inventory takes {full:.0%} of what a ConfigMap holds, for {len(entries)} objects: make"
            " several blueprints of it before it is full"
        )


def _admissions(changes: Sequence[Change]) -> Iterator[str]:
    for change in changes:
        for each in change.admissions:
            at = "" if each.place is None else f" ({each.place.file}:{each.place.line}:{each.place.column})"
            yield f"{change.address}: {admitted(each)}{at}"


def _shared(observed: LiveState, changes: Sequence[Change]) -> Iterator[str]:
    """Name the tools that will undo what is written here; what can't be written says it by itself."""
    for change in changes:
        if change.managed_by and not change.blocked:
            for each in signs(observed.live[change.ref]):
                yield f"{change.address}: {each.words}"


def _renames(observed: LiveState, assessed: Sequence[Assessed], deletions: Sequence[Change]) -> Iterator[str]:
    desired = {known.wish.ref: known.wish.body for known in assessed}
    bodies = {**observed.live, **desired}
    new = [known.wish.ref for known in assessed if known.change.actions == ("create",)]
    pools = [change for change in deletions if is_pool(change.ref)]
    for change in pools[:_RENAMES]:
        for ref in filter(is_pool, new):
            pair = observed.live[change.ref], desired[ref]
            classes = (bodies.get(class_of(body)) for body in pair)
            if renamed(*pair, *classes):
                nodes = f"all {change.node_claims} nodes" if change.node_claims else "its nodes"
                both = f"{change.address} and {ref} look like one renamed pool"
                yield f"{both}: {nodes} would be replaced"
