"""Deletion of objects that are not in use.

Objects are read, then their NodeClaims are counted, and each deletion names the version that was read. A node
that starts in between changes the status of its NodePool, so that the deletion of that pool starts again. One
count serves a batch of objects, so that thousands of deletions do not list all NodeClaims thousands of times.
"""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING, Final

from gpupool.cluster.client import Request, UnsureError
from gpupool.cluster.parallel import map_parallel
from gpupool.cluster.rejections import message
from gpupool.cluster.resources import EC2_NODE_CLASS, KINDS, NODE_OVERLAY, NODE_POOL
from gpupool.errors import GpupoolError, StoppedError
from gpupool.planning.pruning import explain_kept
from gpupool.rollout.applying.reapplying import CONFLICT, KEEPS_CHANGING, MOST_TRIES, UNSURE
from gpupool.rollout.applying.results import Outcome
from gpupool.rollout.applying.termination import GONE, describe_wait, drain_pools, wait_for_ends
from gpupool.rollout.live_state import describe_termination, generation_of, read, uid_of, version_of
from gpupool.rollout.planning.assess import without_secrets
from gpupool.rollout.planning.usage import count_use_of_classes, count_use_of_pools, empty_use

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gpupool.cluster.client import Response
    from gpupool.cluster.parallel import Item, Returned
    from gpupool.objects import Ref
    from gpupool.planning.plan import Change
    from gpupool.rollout.applying.results import OutcomeState
    from gpupool.rollout.applying.termination import DeletionContext
    from gpupool.rollout.planning.usage import InUse
    from gpupool.rollout.watch.waiting import Readiness
    from gpupool.yamlio.located import Plain

_BATCH: Final = 100
"""The number of pools in one count; the request's URL has all of their names."""

_SHARE: Final = 10
"""One count of node classes serves as many deletions as are sent in parallel. Where it lists thousands of
objects, it serves a tenth of that number, which take about as long as the count itself."""

_NOT_FOUND: Final = 404


def delete_all(deletion: DeletionContext, changes: Sequence[Change]) -> list[Outcome]:
    """Delete objects, pools first; errors are part of the outcomes."""
    outcomes: list[Outcome] = []
    failed = Event()
    for kind in (NODE_POOL, NODE_OVERLAY, EC2_NODE_CLASS):
        stage = [change for change in changes if change.ref.kind == kind.name]
        if kind == NODE_POOL and deletion.context.consent.drain:
            stage = drain_pools(deletion, stage)
        stage_outcomes = _Stage(deletion, kind.name, failed).delete(stage)
        outcomes += _waited(deletion, stage_outcomes, is_last=kind == EC2_NODE_CLASS)
    return outcomes


class _Stage:
    """The deletions of one kind, in batches: read all, count for all, then delete each."""

    def __init__(self, deletion: DeletionContext, kind: str, failed: Event) -> None:
        self._deletion = deletion
        self._kind = kind
        self._failed = failed
        self._size = deletion.workers if kind == EC2_NODE_CLASS.name else _BATCH
        self._outcomes: dict[Ref, Outcome] = {}

    def delete(self, changes: Sequence[Change]) -> list[Outcome]:
        """Delete objects; those that were written in between are read, counted and tried again."""
        remaining = [*changes]
        for attempt in range(MOST_TRIES):
            queue, remaining = remaining, []
            while queue:
                batch, queue = queue[: self._size], queue[self._size :]
                remaining += self._batch(batch, is_first=not attempt)
        for change in remaining:
            self._end(change, "failed", KEEPS_CHANGING)
        return [self._outcomes[change.ref] for change in changes]

    def _batch(self, batch: Sequence[Change], *, is_first: bool) -> list[Change]:
        """Read, count and delete a batch; return the changes of objects that were written in between."""
        bodies = self._in_parallel(lambda change: self._read(change, is_first=is_first), batch)
        ready = [(change, live) for change, live in zip(batch, bodies, strict=True) if live is not None]
        if not ready:
            return []
        [uses] = self._in_parallel(self._counted, [[change for change, _ in ready]])
        if uses is None:
            return []
        results = self._in_parallel(lambda item: self._delete(*item, uses), ready)
        return [change for (change, _), is_done in zip(ready, results, strict=True) if not is_done]

    def _in_parallel(self, function: Callable[[Item], Returned], items: Sequence[Item]) -> list[Returned]:
        # In threads, so that a second signal ends it during requests too.
        return map_parallel(self._deletion.workers, function, items)

    def _read(self, change: Change, *, is_first: bool) -> Mapping[str, Plain] | None:
        """Return the live object of a deletion; None where it has another outcome.

        An object that was listed under the lock is used where it matches the plan: the deletion names its
        version, so that the server rejects it after any write. Other objects are read again.
        """
        if self._is_over(change):
            return None
        listed = self._deletion.context.observed.live.get(change.ref)
        if is_first and listed is not None and _other_outcome(self._deletion, change, listed) is None:
            return listed
        try:
            live = read(self._deletion.context.cluster, change.ref)
        except GpupoolError as problem:
            self._end_by(change, problem)
            return None
        if (outcome := _other_outcome(self._deletion, change, live)) is not None:
            self._record(outcome)
            return None
        return live

    def _counted(self, changes: Sequence[Change]) -> InUse | None:
        """Count the use of a batch; None where that fails, which is recorded for each of its objects."""
        try:
            return self._count(changes)
        except GpupoolError as problem:
            for change in changes:
                self._end_by(change, problem)
            return None

    def _count(self, changes: Sequence[Change]) -> InUse:
        """Count the use of a batch.

        Raises:
            ClusterError: where the server rejects a request.
            StoppedError: after a signal.
        """
        cluster, allowed = self._deletion.context.cluster, {*self._deletion.context.consent.allow_delete}
        if self._kind == NODE_POOL.name:
            return count_use_of_pools(
                cluster, [change.ref.name for change in changes if change.address not in allowed]
            )
        if self._kind == EC2_NODE_CLASS.name:
            uses = count_use_of_classes(cluster)
            self._size = max(self._deletion.workers, uses.size // _SHARE)
            return uses
        return empty_use(self._kind)

    def _delete(self, change: Change, live: Mapping[str, Plain], uses: InUse) -> bool:
        """Delete an object; return False where it was written since it was read."""
        if self._is_over(change):
            return True
        if why := uses.why(change.ref.name):
            return self._end(change, "held back", why)
        try:
            self._deletion.ensure_held()
            answer = self._deletion.context.cluster.ask(_request(change, version_of(live)))
        except GpupoolError as problem:
            return self._end_by(change, problem)
        return answer.status != CONFLICT and self._record(self._answered(change, answer))

    def _answered(self, change: Change, answer: Response) -> Outcome:
        if answer.ok and describe_termination(answer.body):
            return _deleting(change, answer.body)
        if answer.ok or answer.status == _NOT_FOUND:
            return _outcome(change, "done")
        text = without_secrets(self._deletion.context, change.ref, message(answer))
        return _outcome(change, "failed", f"the API server answers {answer.status}: {text}")

    def _is_over(self, change: Change) -> bool:
        """Return whether deletions have ended early, which is recorded for this object."""
        is_over = self._deletion.deadline.is_stopped or self._failed.is_set()
        return is_over and self._end(change, "not tried", "skipped: an earlier step failed")

    def _end_by(self, change: Change, problem: GpupoolError) -> bool:
        if isinstance(problem, UnsureError):
            return self._end(change, "failed", UNSURE)
        if isinstance(problem, StoppedError):
            return self._end(change, "not tried", "it was stopped")
        if self._failed.is_set():
            return self._is_over(change)
        text = without_secrets(self._deletion.context, change.ref, str(problem))
        return self._end(change, "failed", text)

    def _end(self, change: Change, state: OutcomeState, reason: str = "") -> bool:
        return self._record(_outcome(change, state, reason))

    def _record(self, outcome: Outcome) -> bool:
        """Record and report the outcome of an object."""
        if outcome.state == "failed":
            self._failed.set()
        self._outcomes[outcome.ref] = outcome
        self._deletion.done(outcome)
        return True


def _other_outcome(
    deletion: DeletionContext, change: Change, live: Mapping[str, Plain] | None
) -> Outcome | None:
    """Return the outcome of an object that must not be deleted; None for one that may."""
    if live is None or uid_of(live) != change.pre.uid:
        return _outcome(change, "done", "it is gone already")
    if describe_termination(live):
        return _deleting(change, live)
    if generation_of(live) != change.pre.generation:
        return _outcome(change, "failed", "it was changed since the plan was made")
    why = explain_kept(live, change.pre.uid, deletion.context.observed.inventory.place.id)
    return _outcome(change, "held back", why) if why else None


def _request(change: Change, version: str) -> Request:
    kind, name = change.ref
    preconditions: dict[str, Plain] = {"uid": change.pre.uid, "resourceVersion": version}
    options: dict[str, Plain] = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": preconditions,
    }
    return Request("DELETE", KINDS[kind].path_of(name), body=options)


def _outcome(change: Change, state: OutcomeState, reason: str = "") -> Outcome:
    return Outcome(change.ref, "delete", state, reason)


def _deleting(change: Change, live: Mapping[str, Plain]) -> Outcome:
    """Return the outcome of an object with finalizers, which exists until they are removed."""
    uid, generation = change.pre.uid, generation_of(live)
    return Outcome(change.ref, "delete", "deleting", describe_wait(live, 0), uid, generation)


def _waited(deletion: DeletionContext, outcomes: Sequence[Outcome], *, is_last: bool) -> list[Outcome]:
    """Wait until objects that are being deleted, and their nodes, no longer exist."""
    allowed = deletion.context.consent.allow_delete
    ends = {
        outcome.ref: GONE
        for outcome in outcomes
        if outcome.state == "deleting" or (outcome.state == "done" and outcome.address in allowed)
    }
    if not (ends and deletion.is_waited_for):
        return [*outcomes]
    states = wait_for_ends(deletion, ends, is_last=is_last)
    return [
        _after(outcome, states[outcome.ref]) if outcome.ref in states else outcome for outcome in outcomes
    ]


def _after(outcome: Outcome, state: Readiness) -> Outcome:
    if state.is_ready:
        return outcome._replace(state="done", message="")
    return outcome._replace(state="deleting", message=state.reason)
