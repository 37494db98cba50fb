"""Delete what is no longer wanted, but nothing on which anything runs.

Objects are read, then what runs on them is counted, and each deletion asks for the object as read: a node
that comes in between changes the status of its NodePool, and so all of it begins anew for that pool. A count
serves one batch of objects, so that thousands of deletions do not list all NodeClaims thousands of times.
"""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING, Final

from gpupool.cluster.client import Request, UnsureError
from gpupool.cluster.parallel import map_parallel
from gpupool.cluster.rejections import message
from gpupool.cluster.resources import EC2_NODE_CLASS, KINDS, NODE_OVERLAY, NODE_POOL
from gpupool.errors import GpupoolError, StoppedError
from gpupool.planning.pruning import kept_for
from gpupool.rollout.applying.reapplying import CONFLICT, KEEPS_CHANGING, MOST_TRIES, UNSURE
from gpupool.rollout.applying.results import Outcome
from gpupool.rollout.applying.termination import GONE, describe_wait, drain_pools, wait_for_ends
from gpupool.rollout.live_state import describe_termination, generation_of, read, uid_of, version_of
from gpupool.rollout.planning.assess import without_secrets
from gpupool.rollout.planning.usage import count_use_of_classes, count_use_of_pools, empty_use

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gpupool.cluster.client import Response
    from gpupool.cluster.parallel import Result, Item
    from gpupool.objects import Ref
    from gpupool.planning.plan import Change
    from gpupool.rollout.applying.results import State
    from gpupool.rollout.applying.termination import DeletionContext
    from gpupool.rollout.planning.usage import InUse
    from gpupool.rollout.watch.waiting import Readiness
    from gpupool.yamlio.located import Plain

_BATCH: Final = 100
"""So many pools are counted for in one request: its address has all of their names."""

_SHARE: Final = 10
"""A count of node classes serves as many deletions as are sent at once. Where thousands of objects have to be
listed for it, it serves a tenth as many, which take about as long as the count itself."""

_NOT_FOUND: Final = 404


def delete_all(how: DeletionContext, doomed: Sequence[Change]) -> list[Outcome]:
    """Delete objects, pools first; what goes wrong is part of the outcomes."""
    outcomes: list[Outcome] = []
    failed = Event()
    for kind in (NODE_POOL, NODE_OVERLAY, EC2_NODE_CLASS):
        stage = [each for each in doomed if each.ref.kind == kind.name]
        if kind == NODE_POOL and how.asking.consent.drain:
            stage = drain_pools(how, stage)
        done = _Stage(how, kind.name, failed).delete(stage)
        outcomes += _waited(how, done, is_last=kind == EC2_NODE_CLASS)
    return outcomes


class _Stage:
    """The deletions of one kind, in batches: read all, count for all, then delete each as it was read."""

    def __init__(self, how: DeletionContext, kind: str, failed: Event) -> None:
        self._how = how
        self._kind = kind
        self._failed = failed
        self._size = how.workers if kind == EC2_NODE_CLASS.name else _BATCH
        self._outcomes: dict[Ref, Outcome] = {}

    def delete(self, doomed: Sequence[Change]) -> list[Outcome]:
        """Delete objects; what somebody else wrote meanwhile is read, counted and tried again."""
        left = [*doomed]
        for tries in range(MOST_TRIES):
            waiting, left = left, []
            while waiting:
                batch, waiting = waiting[: self._size], waiting[self._size :]
                left += self._batch(batch, is_first=not tries)
        for each in left:
            self._end(each, "failed", KEEPS_CHANGING)
        return [self._outcomes[each.ref] for each in doomed]

    def _batch(self, batch: Sequence[Change], *, is_first: bool) -> list[Change]:
        """Read, count and delete; return the changes of those that somebody else wrote meanwhile."""
        seen = self._each(lambda change: self._seen(change, is_first=is_first), batch)
        ready = [(each, live) for each, live in zip(batch, seen, strict=True) if live is not None]
        if not ready:
            return []
        [uses] = self._each(self._counted, [[change for change, _ in ready]])
        if uses is None:
            return []
        done = self._each(lambda each: self._delete(*each, uses), ready)
        return [change for (change, _), is_done in zip(ready, done, strict=True) if not is_done]

    def _each(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        # In threads, so that a second signal ends it whatever comes of the requests.
        return map_parallel(self._how.workers, function, items)

    def _seen(self, change: Change, *, is_first: bool) -> Mapping[str, Plain] | None:
        """Return an object that is to be deleted as it is; None where something else comes of it.

        What was listed under the lock counts where it is as the plan has it: the deletion names its version,
        so that the server refuses it where anything was written since. Everything else is read anew.
        """
        if self._is_over(change):
            return None
        listed = self._how.asking.observed.live.get(change.ref)
        if is_first and listed is not None and _as_found(self._how, change, listed) is None:
            return listed
        try:
            live = read(self._how.asking.cluster, change.ref)
        except GpupoolError as problem:
            self._end_by(change, problem)
            return None
        if (found := _as_found(self._how, change, live)) is not None:
            self._tell(found)
            return None
        return live

    def _counted(self, changes: Sequence[Change]) -> InUse | None:
        """Count what runs on a batch; None where that fails, which is noted for each of its objects."""
        try:
            return self._count(changes)
        except GpupoolError as problem:
            for each in changes:
                self._end_by(each, problem)
            return None

    def _count(self, changes: Sequence[Change]) -> InUse:
        """Count what runs on a batch that was read before.

        Raises:
            ClusterError: where the server refuses.
            StoppedError: where a signal came.
        """
        cluster, allowed = self._how.asking.cluster, {*self._how.asking.consent.allow_delete}
        if self._kind == NODE_POOL.name:
            return count_use_of_pools(
                cluster, [each.ref.name for each in changes if each.address not in allowed]
            )
        if self._kind == EC2_NODE_CLASS.name:
            uses = count_use_of_classes(cluster)
            self._size = max(self._how.workers, uses.size // _SHARE)
            return uses
        return empty_use(self._kind)

    def _delete(self, change: Change, live: Mapping[str, Plain], uses: InUse) -> bool:
        """Delete an object as it was read; False where somebody else wrote it since."""
        if self._is_over(change):
            return True
        if why := uses.why(change.ref.name):
            return self._end(change, "held back", why)
        try:
            self._how.ensure_held()
            answer = self._how.asking.cluster.ask(_request(change, version_of(live)))
        except GpupoolError as problem:
            return self._end_by(change, problem)
        return answer.status != CONFLICT and self._tell(self._answered(change, answer))

    def _answered(self, change: Change, answer: Response) -> Outcome:
        if answer.ok and describe_termination(answer.body):
            return _leaving(change, answer.body)
        if answer.ok or answer.status == _NOT_FOUND:
            return _outcome(change, "done")
        said = without_secrets(self._how.asking, change.ref, message(answer))
        return _outcome(change, "failed", f"the API server answers {answer.status}: {said}")

    def _is_over(self, change: Change) -> bool:
        """Return whether nothing more is to be deleted; it is noted for this object then."""
        is_over = self._how.deadline.is_stopped or self._failed.is_set()
        return is_over and self._end(change, "not tried", "skipped: an earlier step failed")

    def _end_by(self, change: Change, problem: GpupoolError) -> bool:
        if isinstance(problem, UnsureError):
            return self._end(change, "failed", UNSURE)
        if isinstance(problem, StoppedError):
            return self._end(change, "not tried", "it was stopped")
        if self._failed.is_set():
            return self._is_over(change)
        said = without_secrets(self._how.asking, change.ref, str(problem))
        return self._end(change, "failed", said)

    def _end(self, change: Change, state: State, said: str = "") -> bool:
        return self._tell(_outcome(change, state, said))

    def _tell(self, outcome: Outcome) -> bool:
        """Note what came of an object, and print it."""
        if outcome.state == "failed":
            self._failed.set()
        self._outcomes[outcome.ref] = outcome
        self._how.done(outcome)
        return True


def _as_found(how: DeletionContext, change: Change, live: Mapping[str, Plain] | None) -> Outcome | None:
    """Return what comes of an object that was just read and is not to be deleted; None for one that is."""
    if live is None or uid_of(live) != change.pre.uid:
        return _outcome(change, "done", "it is gone already")
    if describe_termination(live):
        return _leaving(change, live)
    if generation_of(live) != change.pre.generation:
        return _outcome(change, "failed", "it was changed since the plan was made")
    why = kept_for(live, change.pre.uid, how.asking.observed.inventory.place.id)
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


def _outcome(change: Change, state: State, said: str = "") -> Outcome:
    return Outcome(change.ref, "delete", state, said)


def _leaving(change: Change, live: Mapping[str, Plain]) -> Outcome:
    """Return what comes of an object with finalizers: it stays until whoever set them has done his part."""
    uid, generation = change.pre.uid, generation_of(live)
    return Outcome(change.ref, "delete", "deleting", describe_wait(live, 0), uid, generation)


def _waited(how: DeletionContext, outcomes: Sequence[Outcome], *, is_last: bool) -> list[Outcome]:
    """Wait until what is being deleted is gone, with the nodes that go with it."""
    allowed = how.asking.consent.allow_delete
    wanted = {
        each.ref: GONE
        for each in outcomes
        if each.state == "deleting" or (each.state == "done" and each.address in allowed)
    }
    if not (wanted and how.is_waited_for):
        return [*outcomes]
    found = wait_for_ends(how, wanted, is_last=is_last)
    return [_after(each, found[each.ref]) if each.ref in found else each for each in outcomes]


def _after(outcome: Outcome, found: Readiness) -> Outcome:
    if found.is_ready:
        return outcome._replace(state="done", message="")
    return outcome._replace(state="deleting", message=found.reason)
