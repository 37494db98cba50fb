"""Draining of pools, and waits for the end of deleted objects and their nodes."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.listing import list_all
from gpupool.cluster.rejections import message
from gpupool.cluster.resources import KINDS, NODE_POOL
from gpupool.errors import ClusterError, GpupoolError, StoppedError
from gpupool.planning.guards import describe_node_claims, is_kept
from gpupool.rollout.applying.reapplying import applied_fields, reapply_request, send_until_current
from gpupool.rollout.live_state import by_ref, generation_of, read, read_finalizers, uid_of
from gpupool.rollout.planning.assess import without_secrets
from gpupool.rollout.planning.usage import count_all_claims
from gpupool.rollout.watch.waiting import PATIENCE_SECONDS, UNSEEN, Readiness, Watch
from gpupool.yamlio.located import plain_map

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gpupool.cluster.client import Cluster, Request
    from gpupool.cluster.deadline import Deadline
    from gpupool.objects import Ref
    from gpupool.planning.plan import Change
    from gpupool.rollout.applying.results import Outcome
    from gpupool.rollout.planning.assess import DryRunContext
    from gpupool.rollout.watch.waiting import Progress
    from gpupool.yamlio.located import Plain


GONE: Final = Readiness(is_ready=True, reason="gone")
"""The end of an object without NodeClaims that no longer exists."""

NO_NODES: Final = Readiness(is_ready=True, reason="no NodeClaims left")
"""The end of an object's NodeClaims; the object itself may exist."""


_RESERVE: Final = 0.1
"""The share of the time that a wait leaves for later steps."""


class DeletionContext(NamedTuple):
    """The context of the deletions of an apply."""

    context: DryRunContext
    deadline: Deadline
    ensure_held: Callable[[], None]
    """Raises an error where the lock is lost."""

    done: Callable[[Outcome], None]
    say: Callable[[str], None]
    waits: Callable[[Progress], None]
    workers: int
    """The number of parallel deletions."""

    is_waited_for: bool
    """Whether to wait for the end of an object and of its nodes."""


def wait_for_ends(
    deletion: DeletionContext, ends: Mapping[Ref, Readiness], *, is_last: bool = False
) -> dict[Ref, Readiness]:
    """Wait for the end of each object; return the state of each at the end or at the deadline."""
    # Later steps need time for their requests.
    watch = Watch(
        deletion.deadline, deletion.waits, None if is_last else deletion.deadline.left * (1 - _RESERVE)
    )
    cluster = deletion.context.cluster.with_patience(PATIENCE_SECONDS)
    states: dict[Ref, Readiness] = dict.fromkeys(ends, UNSEEN)
    with suppress(StoppedError, ClusterError):
        while True:
            try:
                states = _read_states(cluster, ends)
            except ClusterError as problem:
                states |= watch.without_answer(ends, problem)
            watch.report(states)
            if all(state.is_ready for state in states.values()) or not watch.pause():
                break
    return states


def _read_states(cluster: Cluster, ends: Mapping[Ref, Readiness]) -> dict[Ref, Readiness]:
    bodies = by_ref({kind: list_all(cluster, KINDS[kind]) for kind in {ref.kind for ref in ends}})
    usage = count_all_claims(cluster)
    states = {}
    for ref, end in ends.items():
        count = usage.of(ref) or 0
        live = bodies.get(ref) if end is GONE else None
        text = (
            describe_wait(live, count)
            if live is not None
            else f"{describe_node_claims(count)} left"
            if count
            else ""
        )
        states[ref] = Readiness(is_ready=False, reason=text, state=text) if text else end
    return states


def describe_wait(live: Mapping[str, Plain], count: int) -> str:
    """Return what a deletion waits for; `count` is the number of the object's NodeClaims."""
    names = read_finalizers(live)
    waits = [f"finalizer{'s' * (len(names) > 1)} {', '.join(names)}"] if names else []
    waits += [describe_node_claims(count)] if count else []
    return f"deleting ({': '.join(waits)})" if waits else "deleting"


def drain_pools(deletion: DeletionContext, pools: Sequence[Change]) -> list[Change]:
    """Drain pools that have nodes; return the changes that delete them after that."""
    changes = [_closed_if_in_use(deletion, change) for change in pools]
    closed = [new.ref for new, old in zip(changes, pools, strict=True) if new is not old]
    if closed and deletion.is_waited_for:
        wait_for_ends(deletion, dict.fromkeys(closed, NO_NODES))
    return changes


def _closed_if_in_use(deletion: DeletionContext, change: Change) -> Change:
    if deletion.deadline.is_stopped or not is_kept(change, deletion.context.consent):
        return change
    try:
        deletion.ensure_held()
        return _closed(deletion, change)
    except GpupoolError as problem:
        # It still has its nodes, so its deletion will be blocked.
        text = without_secrets(deletion.context, change.ref, str(problem))
        deletion.say(f"{change.address} is not drained: {text}")
        return change


def _closed(deletion: DeletionContext, change: Change) -> Change:
    """Set a pool's limit to 0; return the change that deletes it as it is after that."""

    def request_for(live: Mapping[str, Plain] | None) -> Request | None:
        if live is None or uid_of(live) != change.pre.uid or generation_of(live) != change.pre.generation:
            return None
        return _request(live)

    cluster = deletion.context.cluster
    answer = send_until_current(cluster, change.ref, read(cluster, change.ref), request_for)
    if answer is None:
        return change
    if not answer.ok:
        text = f"the API server answers {answer.status}: {message(answer)}"
        raise ClusterError(text)
    deletion.say(f"{change.address} launches no more nodes")
    return replace(change, pre=replace(change.pre, generation=generation_of(answer.body)))


def _request(live: Mapping[str, Plain]) -> Request:
    """Return a write of a pool as gpupool applied it, with a limit of 0 that the next apply removes."""
    fields = applied_fields(live)
    spec = plain_map(fields.get("spec"))
    # Karpenter rejects a CPU limit for a pool with a fixed number of nodes: that number is its limit.
    is_static = "replicas" in plain_map(live.get("spec"))
    limits: dict[str, Plain] = {**plain_map(spec.get("limits")), "cpu": "0"}
    closed: dict[str, Plain] = {**spec, **({"replicas": 0} if is_static else {"limits": limits})}
    return reapply_request(NODE_POOL, live, {**fields, "spec": closed})
