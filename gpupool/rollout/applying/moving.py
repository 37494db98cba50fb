"""Move of objects from one inventory to another, after a blueprint or its inventory's namespace was renamed.

Only the two labels of ownership change. The new inventory lists all objects before the first label is
written, and the old one until after the last, so that the same command completes a run that was killed.
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
from gpupool.planning.addresses import is_label, is_name
from gpupool.planning.foreign_fields import BLUEPRINT, PART_OF
from gpupool.planning.masking import Masker
from gpupool.planning.ownership import is_applied_already
from gpupool.rollout import redaction
from gpupool.rollout.applying.results import Result
from gpupool.rollout.applying.writing import RelabelContext, relabel
from gpupool.rollout.inventory import store
from gpupool.rollout.inventory.store import InventoryRef
from gpupool.rollout.live_state import observe, uid_of
from gpupool.rollout.lock.lock import hold_lock
from gpupool.rollout.planning.desired_objects import build_desired_objects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from gpupool.cluster.client import Cluster
    from gpupool.objects import Ref
    from gpupool.rollout.applying.results import Outcome
    from gpupool.rollout.applying.writing import RelabelledObject
    from gpupool.rollout.connection import ReachedCluster
    from gpupool.rollout.desired_state import DesiredState
    from gpupool.rollout.inventory.encoding import InventoryEntry
    from gpupool.rollout.inventory.store import Inventory
    from gpupool.rollout.live_state import LiveState
    from gpupool.rollout.lock.lock import Lock
    from gpupool.rollout.planning.desired_objects import DesiredObject
    from gpupool.yamlio.located import Plain

_LAST_WORDS_SECONDS: Final = 5.0


class Move(NamedTuple):
    """A move as it is shown before it starts."""

    source: Inventory
    target: Inventory
    live: Mapping[Ref, Mapping[str, Plain]]
    """The objects that are moved."""

    undesired: tuple[Ref, ...]
    """The moved objects that the blueprint does not have."""

    left: Mapping[Ref, str]
    """Why objects of the old inventory, or with its label, are not moved."""


@dataclass(frozen=True, slots=True)
class MoveOptions:
    """The options of a move."""

    lock_timeout: float
    tooling: str
    """Name and version, for the inventory."""

    who: Mapping[str, Plain]
    """User and commit, for the history."""

    files: tuple[str, ...]
    """The blueprint's files, for the command that would delete a lock."""

    say: Callable[[str], None]
    done: Callable[[Outcome], None]


class _Recording(NamedTuple):
    """The context of writing inventories."""

    cluster: Cluster
    options: MoveOptions
    secrets: redaction.Secrets


def parse_source(source: str) -> InventoryRef:
    """Parse `[NAMESPACE/]NAME` of a blueprint; the namespace is empty where none is named.

    Raises:
        UsageError: for what is no name of a blueprint.
    """
    namespace, slash, name = source.rpartition("/")
    if not (name and is_name(f"gpupool-{name}") and (is_label(namespace) or not slash)):
        message = f"--from {source}: expected a blueprint's name, such as demo or kube-system/demo"
        raise UsageError(message)
    return InventoryRef(namespace, f"gpupool-{name}")


def find_move(reached: ReachedCluster, desired: DesiredState, source: InventoryRef) -> Move:
    """Return the move from an inventory to the blueprint's own.

    Raises:
        UsageError: where it is the blueprint's own.
        ClusterError: where the inventory does not exist, or the server rejects a request.
    """
    target = store.InventoryRef(desired.namespace, desired.inventory)
    if source == target:
        text = (
            f"--from {_title(source)}: this is the blueprint itself; pass the name that its objects have now"
        )
        raise UsageError(text)
    observed = observe(reached.cluster, target, reached.options.concurrency)
    inventory = store.read(reached.cluster, source)
    if not inventory.uid:
        text = (
            f"the inventory {source.namespace}/{source.name} does not exist: nothing to move. List"
            f" the inventories of the cluster with: kubectl get configmaps --all-namespaces -l {BLUEPRINT}"
        )
        raise ClusterError(text)
    _ensure_served(observed, inventory)
    left = dict(_left(observed, inventory))
    live = {ref: observed.live[ref] for ref in inventory.entries if ref not in left}
    desired_objects = _desired(desired, target)
    undesired = tuple(ref for ref in live if ref not in desired_objects)
    return Move(inventory, observed.inventory, live, undesired, left)


def _ensure_served(observed: LiveState, source: Inventory) -> None:
    """Raise an error where a kind can't be listed, as its objects would seem deleted."""
    missing = sorted({entry.kind for entry in source.entries.values()} - observed.served)
    if missing:
        text = f"the API server does not serve {', '.join(missing)}: Karpenter's CRDs are not installed"
        raise ClusterError(text)


def _left(observed: LiveState, source: Inventory) -> Iterator[tuple[Ref, str]]:
    """Yield each object that is not moved, with the reason."""
    own = {source.place.id, observed.inventory.place.id}
    for ref, entry in source.entries.items():
        if why := _obstacle(observed.live.get(ref), entry, own):
            yield ref, why
    for ref, body in observed.live.items():
        if ref not in source.entries and labels_of(body).get(PART_OF) == source.place.id:
            yield ref, "the old inventory does not list it, so gpupool may not have applied it"


def _desired(desired: DesiredState, target: InventoryRef) -> dict[Ref, DesiredObject]:
    return {item.ref: item for item in build_desired_objects(desired, target)}


def _obstacle(body: Mapping[str, Plain] | None, entry: InventoryEntry, own: set[str]) -> str:
    """Return why an object that the old inventory lists is not moved; empty where it is."""
    if body is None:
        return "it does not exist any more"
    if entry.uid and uid_of(body) != entry.uid:
        return "it is another object of the same name: what gpupool applied was deleted since"
    label = labels_of(body).get(PART_OF)
    if label not in own and not (label is None and entry.uid):
        return f"its label {PART_OF} is not that blueprint's"
    return ""


def _title(place: InventoryRef) -> str:
    return f"{place.namespace}/{place.name.removeprefix('gpupool-')}"


def is_over(move: Move) -> bool:
    """Return whether the old inventory is empty, so that nothing is left to move."""
    return not move.source.entries


def carry_out(reached: ReachedCluster, desired: DesiredState, approved: Move, options: MoveOptions) -> Result:
    """Acquire both locks, check that the move is still the approved one, and carry it out.

    Raises:
        OutdatedError: where it is another one; nothing was written.
        GuardError: where another run holds one of the locks for too long; nothing was written.
        ClusterError: where a request fails before the first write.
    """
    places = sorted((approved.source.place, approved.target.place))
    with ExitStack() as stack:
        # Always in the same order, so that two moves in opposite directions do not wait for each other.
        locks = tuple(stack.enter_context(_held(reached, place, approved, options)) for place in places)
        move = find_move(reached, desired, approved.source.place)
        if (_uids(move), move.left) != (_uids(approved), approved.left):
            text = "the objects to move have changed since they were shown: run the command again"
            raise OutdatedError(text)
        return _carried_out(reached, desired, move, locks, options)


def _held(
    reached: ReachedCluster, place: InventoryRef, move: Move, options: MoveOptions
) -> AbstractContextManager[Lock]:
    # `unlock` finds a lock by its blueprint's file, and that of the old one is unknown.
    files = options.files if place == move.target.place else ("OLD-BLUEPRINT.yaml",)
    return hold_lock(
        reached, place.namespace, place.name, lock_timeout=options.lock_timeout, say=options.say, files=files
    )


def _uids(move: Move) -> dict[Ref, str]:
    return {ref: uid_of(body) for ref, body in move.live.items()}


def _carried_out(
    reached: ReachedCluster, desired: DesiredState, move: Move, locks: Sequence[Lock], options: MoveOptions
) -> Result:
    target, plan = move.target.place, f"move from {_title(move.source.place)}"
    masker = Masker(desired.sensitive, reached.uid, secrets.token_bytes())
    hidden = redaction.collect_secrets(masker, move.live.values())
    entries = {**move.target.entries, **{entry.ref: entry for entry in _entries(move)}}
    began = store.begin(reached.cluster, move.target, entries.values(), plan, options.tooling, hidden)
    labels: dict[str, Plain] = {PART_OF: target.id, BLUEPRINT: desired.blueprint}
    context = RelabelContext(reached, labels, hidden, lambda: _ensure_held(locks), options.done)
    results = [result for kind in KINDS for result in _stage(context, kind, move)]
    result = Result(
        plan, tuple(item.outcome for item in results), (), (), reached.uid, reached.deadline.signal
    )
    if result.of("failed", "not tried"):
        return result
    if any(lock.is_lost for lock in locks):
        return result._replace(unrecorded="the lock is lost")
    recording = _Recording(reached.cluster.with_deadline(_LAST_WORDS_SECONDS), options, hidden)
    return _recorded(recording, began, move, _current(_desired(desired, target), move, results), result)


def _stage(context: RelabelContext, kind: str, move: Move) -> list[RelabelledObject]:
    refs = sorted(ref for ref in move.live if ref.kind == kind)
    return map_parallel(
        context.reached.options.concurrency, lambda ref: relabel(context, ref, move.live[ref]), refs
    )


def _ensure_held(locks: Sequence[Lock]) -> None:
    for lock in locks:
        lock.ensure_held()


def _entries(move: Move) -> Iterable[InventoryEntry]:
    return (
        entry._replace(uid=uid_of(move.live[ref]))
        for ref, entry in move.source.entries.items()
        if ref in move.live
    )


def _current(
    desired_objects: Mapping[Ref, DesiredObject], move: Move, results: Iterable[RelabelledObject]
) -> Iterable[InventoryEntry]:
    """Return the entries of the new inventory, with new digests for objects that match the blueprint."""
    moved = {item.outcome.ref: item for item in results}
    entries = dict(move.target.entries)
    for entry in _entries(move):
        outcome, live = moved[entry.ref]
        desired = desired_objects.get(entry.ref)
        matches = desired is not None and is_applied_already(live, desired.body)
        digest = desired.digest if desired is not None and matches else entry.digest
        entries[entry.ref] = entry._replace(generation=outcome.generation, digest=digest)
    return entries.values()


def _recorded(
    recording: _Recording, began: Inventory, move: Move, entries: Iterable[InventoryEntry], result: Result
) -> Result:
    """Write the new inventory, then empty the old one."""
    record = {**recording.options.who, "plan": result.plan, "result": dict(result.record())}
    old_record = {**record, "plan": f"move to {_title(began.place)}"}
    more = (recording.options.tooling, recording.secrets)
    try:
        store.finish(recording.cluster, began, entries, record, *more)
        store.finish(recording.cluster, move.source, (), old_record, *more)
    except GpupoolError as problem:
        return result._replace(unrecorded=str(problem))
    return result
