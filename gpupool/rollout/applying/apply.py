"""Carry a plan out: under the lock, written down before and after, classes first, deletions last."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from gpupool.cluster.deadline import Deadline
from gpupool.cluster.parallel import map_parallel
from gpupool.cluster.resources import EC2_NODE_CLASS, KINDS, NODE_POOL
from gpupool.errors import GpupoolError
from gpupool.planning.pruning import class_of
from gpupool.rollout.applying import not_ready, recording
from gpupool.rollout.applying.deletion import delete_all
from gpupool.rollout.applying.results import Outcome, Result
from gpupool.rollout.applying.termination import DeletionContext
from gpupool.rollout.applying.writing import write
from gpupool.rollout.inventory import store
from gpupool.rollout.live_state import observe
from gpupool.rollout.lock.lock import hold_lock
from gpupool.rollout.planning.verify import verify
from gpupool.rollout.redaction import collect_secrets
from gpupool.rollout.watch.waiting import UNSEEN, read_readiness, wait_ready

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gpupool.objects import Ref
    from gpupool.planning.masking import Masker
    from gpupool.planning.plan import Change, Plan
    from gpupool.rollout.connection import ReachedCluster
    from gpupool.rollout.inventory.store import Inventory
    from gpupool.rollout.lock.lock import Lock
    from gpupool.rollout.planning.assess import Assessed, DryRunContext
    from gpupool.rollout.watch.waiting import Progress, Readiness
    from gpupool.yamlio.located import Plain

Wait: TypeAlias = Literal["none", "ready"]
_LAST_WORDS_SECONDS: Final = 5.0
_RESERVE: Final = 0.2
"""The share of the time that waiting for classes leaves to what comes after."""


@dataclass(frozen=True, slots=True)
class ApplyOptions:
    """How a plan is carried out."""

    wait: Wait
    lock_timeout: float
    tooling: str
    """Name and version, for the inventory."""

    who: Mapping[str, Plain]
    """Who does it and from which commit, for the history."""

    overlays_count: bool
    """Whether Karpenter looks at NodeOverlays at all: its feature gate is on."""

    files: tuple[str, ...]
    """The blueprint's, for the line that would delete a lock."""

    say: Callable[[str], None]
    done: Callable[[Outcome], None]
    waits: Callable[[Progress], None]

    is_saved: bool = False
    """Whether the plan was saved, and approved as it stands."""


class _Work(NamedTuple):
    """What every step of one apply needs."""

    reached: ReachedCluster
    asking: DryRunContext
    plan: Plan
    how: ApplyOptions
    lock: Lock
    failed: threading.Event
    late: dict[Ref, str]
    """Why an object is not Ready that was waited for."""


def carry_out(
    reached: ReachedCluster, plan: Plan, approved: Sequence[Assessed], masker: Masker, how: ApplyOptions
) -> Result:
    """Take the lock, ensure that the plan is still true, and do it.

    Raises:
        StalePlanError: where it is no longer true; nothing was written.
        GuardError: where somebody else holds the lock for too long; nothing was written.
        ClusterError: where the server can't be asked before the first write.
    """
    from gpupool.rollout.planning.assess import DryRunContext

    place = store.InventoryRef(plan.inventory.namespace, plan.inventory.name)
    lines = (reached, place.namespace, place.name)
    with hold_lock(*lines, lock_timeout=how.lock_timeout, say=how.say, files=how.files) as lock:
        observed = observe(reached.cluster, place, reached.way.concurrency)
        everything = (*(each.wish.body for each in approved), *observed.live.values())
        asking = DryRunContext(
            reached.cluster, observed, masker, plan.consent, collect_secrets(masker, everything)
        )
        checked = verify(asking, plan, approved, reached.way.concurrency, is_saved=how.is_saved)
        began = store.begin(
            reached.cluster, observed.inventory, recording.list_pending(observed.inventory, checked.assessed),
            plan.id, how.tooling, asking.secrets,
        )  # fmt: skip
        work = _Work(reached, asking, plan, how, lock, threading.Event(), {})
        outcomes = _all(work, checked.assessed)
        result = Result(
            plan.id, tuple(outcomes), checked.notes, plan.charts, reached.uid, reached.deadline.signal,
            is_waited_for=how.wait == "ready", files=tuple(plan.source.files), consent=plan.consent,
        )  # fmt: skip
        last = Deadline(_LAST_WORDS_SECONDS)
        result = _recorded(work, began, checked.assessed, result)
        return not_ready.explain_not_ready(
            result, not_ready.Late(asking, work.late, began.history, how.who), last
        )


def _all(work: _Work, wanted: Sequence[Assessed]) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for kind in KINDS.values():
        stage = [each for each in wanted if each.wish.kind == kind]
        if kind == NODE_POOL and work.how.wait == "ready":
            outcomes += _pools(work, stage, wanted)
        else:
            outcomes += _stage(work, stage)
    if work.how.wait == "ready" and not work.failed.is_set():
        outcomes = _waited(work, outcomes)
    return [*outcomes, *_deletions(work, outcomes)]


def _stage(work: _Work, stage: Sequence[Assessed]) -> list[Outcome]:
    return map_parallel(work.reached.way.concurrency, lambda known: _one(work, known), stage)


def _one(work: _Work, known: Assessed) -> Outcome:
    change = known.change
    if change.leaving:
        said = f"{change.blocked}. Run the same command again when it is gone"
        work.how.done(outcome := Outcome(change.ref, "keep", "held back", said))
        return outcome
    if change.writes and (work.failed.is_set() or work.reached.deadline.is_stopped):
        return Outcome(change.ref, change.actions[0], "not tried", "skipped: an earlier step failed")
    try:
        if change.writes:
            work.lock.ensure_held()
        outcome = write(work.asking, known)
    except GpupoolError as problem:
        outcome = Outcome(change.ref, change.actions[0], "failed", str(problem))
    if outcome.state == "failed":
        work.failed.set()
    if change.writes:
        work.how.done(outcome)
    return outcome


def _pools(work: _Work, pools: Sequence[Assessed], wanted: Sequence[Assessed]) -> list[Outcome]:
    """Write each pool once its class is Ready: first those whose class is, then the others."""
    waiting_for = _unready_classes(work, [each for each in pools if each.change.writes], wanted)
    first = [each for each in pools if not each.change.writes or _class(each) not in waiting_for]
    outcomes = _stage(work, first)
    later = [each for each in pools if each.change.writes and _class(each) in waiting_for]
    if not later or work.failed.is_set():
        return outcomes + _stage(work, later)
    late = _late_classes(work, sorted(waiting_for))
    outcomes += _stage(work, [each for each in later if _class(each) not in late])
    for each in later:
        if (name := _class(each)) in late:
            said = f"its EC2NodeClass {name} is not Ready: {late[name]}"
            outcomes.append(Outcome(each.change.ref, each.change.actions[0], "not tried", said))
            work.how.done(outcomes[-1])
    return outcomes


def _late_classes(work: _Work, names: Sequence[str]) -> dict[str, str]:
    """Wait for classes; give those that are not Ready in time, and why."""
    deadline = work.reached.deadline
    wanted, seconds = {EC2_NODE_CLASS.name: names}, deadline.left * (1 - _RESERVE)
    try:
        found = wait_ready(work.reached.cluster, deadline, wanted, work.how.waits, seconds, _patterns(work))
    except GpupoolError as problem:
        # A signal, or a server that is away: what was written so far is still to be recorded.
        return dict.fromkeys(names, str(problem))
    work.late.update(_waiting(found))
    return {ref.name: readiness.reason for ref, readiness in found.items() if not readiness.is_ready}


def _patterns(work: _Work) -> tuple[str, ...]:
    return work.asking.masker.patterns


def _waiting(states: Mapping[Ref, Readiness]) -> dict[Ref, str]:
    """Return for each object that may still get Ready why it is not."""
    return {
        ref: readiness.reason
        for ref, readiness in states.items()
        if not (readiness.is_ready or readiness.is_hopeless or readiness is UNSEEN)
    }


def _class(pool: Assessed) -> str:
    return class_of(pool.wish.body).name


def _unready_classes(work: _Work, pools: Sequence[Assessed], wanted: Sequence[Assessed]) -> set[str]:
    """Return the classes that pools wait for: those that were just written, and those that were not Ready."""
    written = {each.wish.name for each in wanted if each.wish.kind == EC2_NODE_CLASS and each.change.writes}
    live = work.asking.observed.live
    unready = set()
    for ref in {class_of(pool.wish.body) for pool in pools}:
        body = live.get(ref)
        is_unready = body is not None and not read_readiness(body).is_ready
        if ref.kind == EC2_NODE_CLASS.name and (ref.name in written or is_unready):
            unready.add(ref.name)
    return unready


def _waited(work: _Work, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Wait until what is there is Ready, as far as it was not already."""
    live, names = work.asking.observed.live, {name: set[str]() for name in KINDS}
    for each in outcomes:
        kind, name = each.ref
        was_ready = each.action == "keep" and read_readiness(live[each.ref]).is_ready
        counts = kind in {EC2_NODE_CLASS.name, NODE_POOL.name} or work.how.overlays_count
        if each.state == "done" and not was_ready and counts:
            names[kind].add(name)
    wanted = {kind: sorted(each) for kind, each in names.items() if each}
    if not wanted:
        return [*outcomes]
    deadline = work.reached.deadline
    try:
        found = wait_ready(
            work.reached.cluster, deadline, wanted, work.how.waits, deadline.left, _patterns(work)
        )
    except GpupoolError:
        # All is written; what is left is to say so, and why nobody knows whether it is Ready.
        return (
            [*outcomes]
            if deadline.is_stopped
            else [_late(each, "unknown: the API server did not answer") for each in outcomes]
        )
    late = {ref: readiness.reason for ref, readiness in found.items() if not readiness.is_ready}
    for ref, readiness in found.items():
        if readiness is not UNSEEN:
            work.late.pop(ref, None)
    work.late.update(_waiting(found))
    return [_late(each, late[each.ref]) if each.ref in late else each for each in outcomes]


def _late(outcome: Outcome, why: str) -> Outcome:
    return outcome._replace(state="not ready", message=why)


def _deletions(work: _Work, outcomes: Sequence[Outcome]) -> list[Outcome]:
    doomed = [each for each in work.plan.changes if each.actions == ("delete",)]
    if not (doomed and work.plan.consent.prune):
        return []
    if work.failed.is_set() or any(each.state in {"failed", "not tried"} for each in outcomes):
        return [
            Outcome(each.ref, "delete", "not tried", "skipped: an earlier step failed") for each in doomed
        ]
    if any(each.state == "not ready" for each in outcomes):
        return [_kept(work, each) for each in doomed]
    how, waits = work.how, work.how.wait == "ready"
    return delete_all(
        DeletionContext(
            work.asking, work.reached.deadline, work.lock.ensure_held, how.done, how.say, how.waits,
            work.reached.way.concurrency, waits,
        ),
        doomed,
    )  # fmt: skip


def _kept(work: _Work, change: Change) -> Outcome:
    """Keep what may be all the capacity that works, as long as its replacement is not Ready."""
    outcome = Outcome(change.ref, "delete", "held back", "its replacement is not Ready")
    work.how.done(outcome)
    return outcome


def _recorded(work: _Work, began: Inventory, wanted: Sequence[Assessed], result: Result) -> Result:
    """Write down what is there now, also when a signal or the deadline ended it."""
    if work.lock.is_lost:
        # Somebody else may be at work; what is pending says all that he has to know.
        return result._replace(unrecorded="the lock is lost")
    entries = recording.list_current(began, work.asking.observed.live, wanted, result.outcomes)
    record = {**work.how.who, "plan": work.plan.id, "result": dict(result.record())}
    cluster = work.reached.cluster.with_deadline(_LAST_WORDS_SECONDS)
    try:
        store.finish(cluster, began, entries, record, work.how.tooling, work.asking.secrets)
    except GpupoolError as problem:
        return result._replace(unrecorded=str(problem))
    return result
