"""Moving objects from one inventory to another: a blueprint was renamed, or its inventory's namespace was.

Only the two labels that say whose an object is are changed. The new inventory lists everything before the
first label is written and the old one until after the last, so a run that is killed at any moment is finished
by running the same command again.
"""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.parallel import map_parallel
from gpupool.cluster.resources import KINDS
from gpupool.errors import ClusterError, GpupoolError, OutdatedError, UsageError
from gpupool.objects import labels_of
from gpupool.planning.foreign_fields import BLUEPRINT, PART_OF
from gpupool.planning.masking import Masker
from gpupool.planning.ownership import is_applied_already
from gpupool.rollout import redaction
from gpupool.rollout.applying.results import Result
from gpupool.rollout.applying.writing import RelabelContext, relabel
from gpupool.rollout.inventory import store
from gpupool.rollout.live_state import observe, uid_of
from gpupool.rollout.lock.lock import hold_lock
from gpupool.rollout.planning.desired_objects import build_desired_objects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from gpupool.cluster.client import Cluster
    from gpupool.objects import Ref
    from gpupool.rollout.applying.results import Outcome
    from gpupool.rollout.applying.writing import Relabelled
    from gpupool.rollout.connection import ReachedCluster
    from gpupool.rollout.desired_state import DesiredState
    from gpupool.rollout.inventory.encoding import InventoryEntry
    from gpupool.rollout.inventory.store import Inventory, InventoryRef
    from gpupool.rollout.live_state import LiveState
    from gpupool.rollout.lock.lock import Lock
    from gpupool.rollout.planning.desired_objects import DesiredObject
    from gpupool.yamlio.located import Plain

_LAST_WORDS_SECONDS: Final = 5.0


class Move(NamedTuple):
    """What a move does, as it is shown before it begins."""

    source: Inventory
    target: Inventory
    live: Mapping[Ref, Mapping[str, Plain]]
    """The objects that are moved."""

    undesired: tuple[Ref, ...]
    """Those that the blueprint does not have."""

    left: Mapping[Ref, str]
    """Why an object of the old inventory, or with its label, is not moved."""


@dataclass(frozen=True, slots=True)
class MoveOptions:
    """How a move is carried out."""

    lock_timeout: float
    tooling: str
    """Name and version, for the inventory."""

    who: Mapping[str, Plain]
    """Who does it and from which commit, for the history."""

    files: tuple[str, ...]
    """The blueprint's, for the command that would delete a lock."""

    say: Callable[[str], None]
    done: Callable[[Outcome], None]


class _Recording(NamedTuple):
    """What inventories are written with."""

    cluster: Cluster
    manner: MoveOptions
    secrets: redaction.Secrets


def find_move(reached: ReachedCluster, wanted: DesiredState, source: InventoryRef) -> Move:
    """Return what would be moved from an inventory to the blueprint's own.

    Raises:
        UsageError: where it is the blueprint's own.
        ClusterError: where there is no such inventory, or the server refuses.
    """
    target = store.InventoryRef(wanted.namespace, wanted.inventory)
    if source == target:
        text = f"--from {_words(source)}: this is the blueprint itself; name the one that has the objects now"
        raise UsageError(text)
    observed = observe(reached.cluster, target, reached.way.concurrency)
    found = store.read(reached.cluster, source)
    if not found.uid:
        text = (
            f"the inventory {source.namespace}/{source.name} does not exist: nothing to move. List"
            f" the inventories of the cluster with: kubectl get configmaps --all-namespaces -l {BLUEPRINT}"
        )
        raise ClusterError(text)
    _ensure_served(observed, found)
    left = dict(_left(observed, found))
    live = {each: observed.live[each] for each in found.known if each not in left}
    known = _desired(wanted, target)
    undesired = tuple(ref for ref in live if ref not in known)
    return Move(found, observed.inventory, live, undesired, left)


def _ensure_served(observed: LiveState, source: Inventory) -> None:
    """Raise where objects can't be seen: they would be taken for deleted."""
    missing = sorted({each.kind for each in source.known.values()} - observed.served)
    if missing:
        text = f"the API server does not know {', '.join(missing)}: Karpenter's CRDs are missing"
        raise ClusterError(text)


def _left(observed: LiveState, source: Inventory) -> Iterator[tuple[Ref, str]]:
    """Yield each object that is not moved, and why."""
    own = {source.place.id, observed.inventory.place.id}
    for ref, entry in source.known.items():
        if why := _why_not(observed.live.get(ref), entry, own):
            yield ref, why
    for ref, body in observed.live.items():
        if ref not in source.known and labels_of(body).get(PART_OF) == source.place.id:
            yield ref, "the old inventory does not list it, so gpupool may not have applied it"


def _desired(wanted: DesiredState, target: InventoryRef) -> dict[Ref, DesiredObject]:
    return {each.ref: each for each in build_desired_objects(wanted, target)}


def _why_not(body: Mapping[str, Plain] | None, entry: InventoryEntry, own: set[str]) -> str:
    """Return why an object that the old inventory lists is not moved; empty where it is."""
    if body is None:
        return "it does not exist any more"
    if entry.uid and uid_of(body) != entry.uid:
        return "it is another object of the same name: what gpupool applied was deleted since"
    label = labels_of(body).get(PART_OF)
    if label not in own and not (label is None and entry.uid):
        return f"its label {PART_OF} is not that blueprint's"
    return ""


def _words(place: InventoryRef) -> str:
    return f"{place.namespace}/{place.name.removeprefix('gpupool-')}"


def is_over(move: Move) -> bool:
    """Return whether there is nothing to do: the old inventory lists nothing that is moved."""
    return not move.source.known


def carry_out(reached: ReachedCluster, wanted: DesiredState, approved: Move, manner: MoveOptions) -> Result:
    """Take both locks, ensure that the move is still what was shown, and do it.

    Raises:
        OutdatedError: where it is not; nothing was written.
        GuardError: where another run holds one of the locks for too long; nothing was written.
        ClusterError: where the server can't be asked before the first write.
    """
    places = sorted((approved.source.place, approved.target.place))
    with ExitStack() as stack:
        # Always in the same order, so that two moves in opposite directions do not wait for each other.
        locks = tuple(stack.enter_context(_held(reached, each, approved, manner)) for each in places)
        move = find_move(reached, wanted, approved.source.place)
        if (_uids(move), move.left) != (_uids(approved), approved.left):
            text = "other objects would be moved than those that were shown: run the command again"
            raise OutdatedError(text)
        return _carried_out(reached, wanted, move, locks, manner)


def _held(
    reached: ReachedCluster, place: InventoryRef, move: Move, manner: MoveOptions
) -> AbstractContextManager[Lock]:
    # `unlock` finds a lock by its blueprint, and the old one's is not at hand.
    files = manner.files if place == move.target.place else ("OLD-BLUEPRINT.yaml",)
    return hold_lock(
        reached, place.namespace, place.name, lock_timeout=manner.lock_timeout, say=manner.say, files=files
    )


def _uids(move: Move) -> dict[Ref, str]:
    return {ref: uid_of(body) for ref, body in move.live.items()}


def _carried_out(
    reached: ReachedCluster, wanted: DesiredState, move: Move, locks: Sequence[Lock], manner: MoveOptions
) -> Result:
    target, plan = move.target.place, f"move from {_words(move.source.place)}"
    masker = Masker(wanted.sensitive, reached.uid, secrets.token_bytes())
    known = redaction.collect_secrets(masker, move.live.values())
    entries = {**move.target.known, **{entry.ref: entry for entry in _entries(move)}}
    began = store.begin(reached.cluster, move.target, entries.values(), plan, manner.tooling, known)
    labels: dict[str, Plain] = {PART_OF: target.id, BLUEPRINT: wanted.blueprint}
    work = RelabelContext(reached, labels, known, lambda: _ensure_held(locks), manner.done)
    done = [each for kind in KINDS for each in _stage(work, kind, move)]
    result = Result(plan, tuple(each.outcome for each in done), (), (), reached.uid, reached.deadline.signal)
    if result.of("failed", "not tried"):
        return result
    if any(lock.is_lost for lock in locks):
        return result._replace(unrecorded="the lock is lost")
    recording = _Recording(reached.cluster.with_deadline(_LAST_WORDS_SECONDS), manner, known)
    return _recorded(recording, began, move, _current(_desired(wanted, target), move, done), result)


def _stage(work: RelabelContext, kind: str, move: Move) -> list[Relabelled]:
    refs = sorted(ref for ref in move.live if ref.kind == kind)
    return map_parallel(work.reached.way.concurrency, lambda ref: relabel(work, ref, move.live[ref]), refs)


def _ensure_held(locks: Sequence[Lock]) -> None:
    for lock in locks:
        lock.ensure_held()


def _entries(move: Move) -> Iterable[InventoryEntry]:
    return (
        entry._replace(uid=uid_of(move.live[ref]))
        for ref, entry in move.source.known.items()
        if ref in move.live
    )


def _current(
    desired_objects: Mapping[Ref, DesiredObject], move: Move, done: Iterable[Relabelled]
) -> Iterable[InventoryEntry]:
    """Return the entries of the new inventory; an object that matches the blueprint has the blueprint's digest."""
    moved = {each.outcome.ref: each for each in done}
    entries = dict(move.target.known)
    for entry in _entries(move):
        outcome, live = moved[entry.ref]
        desired = desired_objects.get(entry.ref)
        matches = desired is not None and is_applied_already(live, desired.body)
        digest = desired.digest if desired is not None and matches else entry.digest
        entries[entry.ref] = entry._replace(generation=outcome.generation, digest=digest)
    return entries.values()


def _recorded(
    how: _Recording, began: Inventory, move: Move, entries: Iterable[InventoryEntry], result: Result
) -> Result:
    """Write the new inventory, and then empty the old one."""
    record = {**how.manner.who, "plan": result.plan, "result": dict(result.record())}
    away = {**record, "plan": f"move to {_words(began.place)}"}
    more = (how.manner.tooling, how.secrets)
    try:
        store.finish(how.cluster, began, entries, record, *more)
        store.finish(how.cluster, move.source, (), away, *more)
    except GpupoolError as problem:
        return result._replace(unrecorded=str(problem))
    return result
