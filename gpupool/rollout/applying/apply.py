"""Application of a plan under the lock: classes first, deletions last, recorded before and after."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from gpupool.cluster.deadline import Deadline
from gpupool.cluster.parallel import map_parallel
from gpupool.cluster.resources import EC2_NODE_CLASS, KINDS, NODE_POOL
from gpupool.errors import GpupoolError
from gpupool.planning.pruning import read_node_class
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
    from gpupool.rollout.planning.assess import AssessedObject, DryRunContext
    from gpupool.rollout.watch.waiting import Progress, Readiness
    from gpupool.yamlio.located import Plain

Wait: TypeAlias = Literal["none", "ready"]
_LAST_WORDS_SECONDS: Final = 5.0
_RESERVE: Final = 0.2
"""The share of the time that a wait for classes leaves for later steps."""


@dataclass(frozen=True, slots=True)
class ApplyOptions:
    """The options of an apply."""

    wait: Wait
    lock_timeout: float
    tooling: str
    """Name and version, for the inventory."""

    who: Mapping[str, Plain]
    """User and commit, for the history."""

    is_overlay_gate_on: bool
    """Whether Karpenter's feature gate for NodeOverlays is on."""

    files: tuple[str, ...]
    """The blueprint's files, for the command that would delete a lock."""

    say: Callable[[str], None]
    done: Callable[[Outcome], None]
    waits: Callable[[Progress], None]

    is_saved: bool = False
    """Whether the plan was saved and approved in that form."""


class _Run(NamedTuple):
    """The context of the steps of one apply."""

    reached: ReachedCluster
    context: DryRunContext
    plan: Plan
    options: ApplyOptions
    lock: Lock
    failed: threading.Event
    late: dict[Ref, str]
    """Why an object did not get Ready."""


def carry_out(
    reached: ReachedCluster,
    plan: Plan,
    approved: Sequence[AssessedObject],
    masker: Masker,
    options: ApplyOptions,
) -> Result:
    """Acquire the lock, check that the plan is still valid, and apply it.

    Raises:
        StalePlanError: where it is stale; nothing was written.
        GuardError: where another run holds the lock for too long; nothing was written.
        ClusterError: where a request fails before the first write.
    """
    from gpupool.rollout.planning.assess import DryRunContext

    place = store.InventoryRef(plan.inventory.namespace, plan.inventory.name)
    lock_place = (reached, place.namespace, place.name)
    with hold_lock(
        *lock_place, lock_timeout=options.lock_timeout, say=options.say, files=options.files
    ) as lock:
        observed = observe(reached.cluster, place, reached.options.concurrency)
        bodies = (*(item.desired.body for item in approved), *observed.live.values())
        context = DryRunContext(
            reached.cluster, observed, masker, plan.consent, collect_secrets(masker, bodies)
        )
        verified = verify(context, plan, approved, reached.options.concurrency, is_saved=options.is_saved)
        pending = recording.list_pending(observed.inventory, verified.assessed)
        began = store.begin(
            reached.cluster, observed.inventory, pending, plan.id, options.tooling, context.secrets
        )
        run = _Run(reached, context, plan, options, lock, threading.Event(), {})
        outcomes = _all(run, verified.assessed)
        result = Result(
            plan.id, tuple(outcomes), verified.notes, plan.charts, reached.uid, reached.deadline.signal,
            is_waited_for=options.wait == "ready", files=tuple(plan.source.files), consent=plan.consent,
        )  # fmt: skip
        last = Deadline(_LAST_WORDS_SECONDS)
        result = _recorded(run, began, verified.assessed, result)
        return not_ready.explain_not_ready(
            result, not_ready.LateObjects(context, run.late, began.history, options.who), last
        )


def _all(run: _Run, assessed: Sequence[AssessedObject]) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for kind in KINDS.values():
        stage = [item for item in assessed if item.desired.kind == kind]
        if kind == NODE_POOL and run.options.wait == "ready":
            outcomes += _pools(run, stage, assessed)
        else:
            outcomes += _stage(run, stage)
    if run.options.wait == "ready" and not run.failed.is_set():
        outcomes = _waited(run, outcomes)
    return [*outcomes, *_deletions(run, outcomes)]


def _stage(run: _Run, stage: Sequence[AssessedObject]) -> list[Outcome]:
    return map_parallel(run.reached.options.concurrency, lambda item: _one(run, item), stage)


def _one(run: _Run, item: AssessedObject) -> Outcome:
    change = item.change
    if change.leaving:
        text = f"{change.blocked}. Run the same command again when it is gone"
        run.options.done(outcome := Outcome(change.ref, "keep", "held back", text))
        return outcome
    if change.writes and (run.failed.is_set() or run.reached.deadline.is_stopped):
        return Outcome(change.ref, change.actions[0], "not tried", "skipped: an earlier step failed")
    try:
        if change.writes:
            run.lock.ensure_held()
        outcome = write(run.context, item)
    except GpupoolError as problem:
        outcome = Outcome(change.ref, change.actions[0], "failed", str(problem))
    if outcome.state == "failed":
        run.failed.set()
    if change.writes:
        run.options.done(outcome)
    return outcome


def _pools(run: _Run, pools: Sequence[AssessedObject], assessed: Sequence[AssessedObject]) -> list[Outcome]:
    """Write each pool once its class is Ready: first the pools with Ready classes, then the others."""
    waiting_for = _unready_classes(run, [pool for pool in pools if pool.change.writes], assessed)
    first = [pool for pool in pools if not pool.change.writes or _class(pool) not in waiting_for]
    outcomes = _stage(run, first)
    later = [pool for pool in pools if pool.change.writes and _class(pool) in waiting_for]
    if not later or run.failed.is_set():
        return outcomes + _stage(run, later)
    late = _late_classes(run, sorted(waiting_for))
    outcomes += _stage(run, [pool for pool in later if _class(pool) not in late])
    for pool in later:
        if (name := _class(pool)) in late:
            text = f"its EC2NodeClass {name} is not Ready: {late[name]}"
            outcomes.append(Outcome(pool.change.ref, pool.change.actions[0], "not tried", text))
            run.options.done(outcomes[-1])
    return outcomes


def _late_classes(run: _Run, names: Sequence[str]) -> dict[str, str]:
    """Wait for classes; return those that are not Ready in time, with the reasons."""
    deadline = run.reached.deadline
    awaited, seconds = {EC2_NODE_CLASS.name: names}, deadline.left * (1 - _RESERVE)
    try:
        states = wait_ready(
            run.reached.cluster, deadline, awaited, run.options.waits, seconds, _patterns(run)
        )
    except GpupoolError as problem:
        # After a signal, or without an answer, the writes so far are still to be recorded.
        return dict.fromkeys(names, str(problem))
    run.late.update(_waiting(states))
    return {ref.name: readiness.reason for ref, readiness in states.items() if not readiness.is_ready}


def _patterns(run: _Run) -> tuple[str, ...]:
    return run.context.masker.patterns


def _waiting(states: Mapping[Ref, Readiness]) -> dict[Ref, str]:
    """Return for each object that may still get Ready why it is not."""
    return {
        ref: readiness.reason
        for ref, readiness in states.items()
        if not (readiness.is_ready or readiness.is_hopeless or readiness is UNSEEN)
    }


def _class(pool: AssessedObject) -> str:
    return read_node_class(pool.desired.body).name


def _unready_classes(
    run: _Run, pools: Sequence[AssessedObject], assessed: Sequence[AssessedObject]
) -> set[str]:
    """Return the classes that pools wait for: those written now, and those that were not Ready."""
    written = {
        item.desired.name for item in assessed if item.desired.kind == EC2_NODE_CLASS and item.change.writes
    }
    live = run.context.observed.live
    unready = set()
    for ref in {read_node_class(pool.desired.body) for pool in pools}:
        body = live.get(ref)
        is_unready = body is not None and not read_readiness(body).is_ready
        if ref.kind == EC2_NODE_CLASS.name and (ref.name in written or is_unready):
            unready.add(ref.name)
    return unready


def _waited(run: _Run, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Wait until all written objects are Ready."""
    live, names = run.context.observed.live, {name: set[str]() for name in KINDS}
    for outcome in outcomes:
        kind, name = outcome.ref
        was_ready = outcome.action == "keep" and read_readiness(live[outcome.ref]).is_ready
        can_be_ready = kind in {EC2_NODE_CLASS.name, NODE_POOL.name} or run.options.is_overlay_gate_on
        if outcome.state == "done" and not was_ready and can_be_ready:
            names[kind].add(name)
    awaited = {kind: sorted(kind_names) for kind, kind_names in names.items() if kind_names}
    if not awaited:
        return [*outcomes]
    deadline = run.reached.deadline
    try:
        states = wait_ready(
            run.reached.cluster, deadline, awaited, run.options.waits, deadline.left, _patterns(run)
        )
    except GpupoolError:
        # Everything is written; the outcomes report that the readiness is unknown.
        return (
            [*outcomes]
            if deadline.is_stopped
            else [_late(outcome, "unknown: the API server did not answer") for outcome in outcomes]
        )
    late = {ref: readiness.reason for ref, readiness in states.items() if not readiness.is_ready}
    for ref, readiness in states.items():
        if readiness is not UNSEEN:
            run.late.pop(ref, None)
    run.late.update(_waiting(states))
    return [_late(outcome, late[outcome.ref]) if outcome.ref in late else outcome for outcome in outcomes]


def _late(outcome: Outcome, why: str) -> Outcome:
    return outcome._replace(state="not ready", message=why)


def _deletions(run: _Run, outcomes: Sequence[Outcome]) -> list[Outcome]:
    deletions = [change for change in run.plan.changes if change.actions == ("delete",)]
    if not (deletions and run.plan.consent.prune):
        return []
    if run.failed.is_set() or any(outcome.state in {"failed", "not tried"} for outcome in outcomes):
        return [
            Outcome(change.ref, "delete", "not tried", "skipped: an earlier step failed")
            for change in deletions
        ]
    if any(outcome.state == "not ready" for outcome in outcomes):
        return [_kept(run, change) for change in deletions]
    options, waits = run.options, run.options.wait == "ready"
    return delete_all(
        DeletionContext(
            run.context, run.reached.deadline, run.lock.ensure_held, options.done, options.say, options.waits,
            run.reached.options.concurrency, waits,
        ),
        deletions,
    )  # fmt: skip


def _kept(run: _Run, change: Change) -> Outcome:
    """Keep an object whose replacement is not Ready, as it may be the only working capacity."""
    outcome = Outcome(change.ref, "delete", "held back", "its replacement is not Ready")
    run.options.done(outcome)
    return outcome


def _recorded(run: _Run, began: Inventory, assessed: Sequence[AssessedObject], result: Result) -> Result:
    """Write the inventory, also after a signal or the deadline."""
    if run.lock.is_lost:
        # Another run may write now; the pending entries hold all that it needs.
        return result._replace(unrecorded="the lock is lost")
    entries = recording.list_current(began, run.context.observed.live, assessed, result.outcomes)
    record = {**run.options.who, "plan": run.plan.id, "result": dict(result.record())}
    cluster = run.reached.cluster.with_deadline(_LAST_WORDS_SECONDS)
    try:
        store.finish(cluster, began, entries, record, run.options.tooling, run.context.secrets)
    except GpupoolError as problem:
        return result._replace(unrecorded=str(problem))
    return result
