"""Waiting until what was deleted is gone, with the nodes that went with it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.listing import list_all
from gpupool.cluster.rejections import message
from gpupool.cluster.resources import KINDS, NODE_POOL
from gpupool.errors import ClusterError, GpupoolError, StoppedError
from gpupool.planning.guards import is_kept, nodes
from gpupool.planning.ownership import applied, extracted
from gpupool.rollout.live_state import finalizers, generation_of, name_of, read, uid_of, version_of
from gpupool.rollout.planning.assess import apply_request, without_secrets
from gpupool.rollout.planning.desired_objects import DesiredObject
from gpupool.rollout.planning.usage import node_claims
from gpupool.rollout.watch.waiting import PATIENCE_SECONDS, UNSEEN, Readiness, Watch
from gpupool.yamlio.located import plain_map

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gpupool.cluster.client import Cluster, Request
    from gpupool.cluster.deadline import Deadline
    from gpupool.planning.plan import Change
    from gpupool.rollout.applying.results import Outcome
    from gpupool.rollout.planning.assess import DryRunContext
    from gpupool.rollout.watch.waiting import Key, Progress
    from gpupool.yamlio.located import Plain


GONE: Final = Readiness(is_ready=True, reason="gone")
"""An end: the object is not there any more, and no NodeClaim of it."""

NO_NODES: Final = Readiness(is_ready=True, reason="no NodeClaims left")
"""An end: no NodeClaim of it is there, while the object may stay."""


_RESERVE: Final = 0.1
"""The share of the time that a wait leaves to what comes after it."""


class DeletionContext(NamedTuple):
    """What every deletion of an apply needs."""

    asking: DryRunContext
    deadline: Deadline
    ensure_held: Callable[[], None]
    """Raises where the lock is lost."""

    done: Callable[[Outcome], None]
    say: Callable[[str], None]
    waits: Callable[[Progress], None]
    workers: int
    """How many objects are deleted at once."""

    is_waited_for: bool
    """Whether the end of an object, and of its nodes, is waited for."""


def wait_for(
    how: DeletionContext, wanted: Mapping[str, Readiness], *, is_last: bool = False
) -> dict[str, Readiness]:
    """Wait for the end of each object, by address; give how each was when it ended, or time was up."""
    # What comes after has to be asked as well.
    watch = Watch(how.deadline, how.waits, None if is_last else how.deadline.left * (1 - _RESERVE))
    cluster = how.asking.cluster.patient(PATIENCE_SECONDS)
    ends = {_key(address): end for address, end in wanted.items()}
    known: dict[Key, Readiness] = dict.fromkeys(ends, UNSEEN)
    with suppress(StoppedError, ClusterError):
        while True:
            try:
                known = _look(cluster, ends)
            except ClusterError as problem:
                known |= watch.without_answer(ends, problem)
            watch.tell(known)
            if all(each.is_ready for each in known.values()) or not watch.pause():
                break
    return {f"{kind}/{name}": each for (kind, name), each in known.items()}


def _key(address: str) -> Key:
    kind, _, name = address.partition("/")
    return kind, name


def _look(cluster: Cluster, ends: Mapping[Key, Readiness]) -> dict[Key, Readiness]:
    kinds = {kind for kind, _ in ends}
    there = {(kind, name_of(body)): body for kind in kinds for body in list_all(cluster, KINDS[kind])}
    usage = node_claims(cluster)
    found = {}
    for (kind, name), end in ends.items():
        count = usage.of(kind, name) or 0
        live = there.get((kind, name)) if end is GONE else None
        said = leaving(live, count) if live is not None else f"{nodes(count)} left" if count else ""
        found[kind, name] = Readiness(is_ready=False, reason=said, state=said) if said else end
    return found


def leaving(live: Mapping[str, Plain], count: int) -> str:
    """Return what an object that is being deleted waits for; `count` is the number of its NodeClaims."""
    held = finalizers(live)
    waits = [f"finalizer{'s' * (len(held) > 1)} {', '.join(held)}"] if held else []
    waits += [nodes(count)] if count else []
    return f"deleting ({': '.join(waits)})" if waits else "deleting"


_MOST_TRIES: Final = 10
_CONFLICT: Final = 409


def drained(how: DeletionContext, pools: Sequence[Change]) -> list[Change]:
    """Drain pools that have nodes; give the changes that delete them as they are then."""
    found = [_closed_if_in_use(how, each) for each in pools]
    closed = [new.address for new, old in zip(found, pools, strict=True) if new is not old]
    if closed and how.is_waited_for:
        wait_for(how, dict.fromkeys(closed, NO_NODES))
    return found


def _closed_if_in_use(how: DeletionContext, change: Change) -> Change:
    if how.deadline.is_stopped or not is_kept(change, how.asking.consent):
        return change
    try:
        how.ensure_held()
        return _closed(how, change)
    except GpupoolError as problem:
        # It still has its nodes, and so it is held back when its turn comes.
        said = without_secrets(how.asking, change.address, str(problem))
        how.say(f"{change.address} is not drained: {said}")
        return change


def _closed(how: DeletionContext, change: Change) -> Change:
    """Take from a pool what it may launch; give the change that deletes it as it is after that."""
    for _ in range(_MOST_TRIES):
        live = read(how.asking.cluster, change.address)
        if live is None or uid_of(live) != change.pre.uid or generation_of(live) != change.pre.generation:
            return change
        answer = how.asking.cluster.ask(_request(live))
        if answer.ok:
            how.say(f"{change.address} launches no more nodes")
            return replace(change, pre=replace(change.pre, generation=generation_of(answer.body)))
        if answer.status != _CONFLICT:
            said = f"the API server answers {answer.status}: {message(answer)}"
            raise ClusterError(said)
    said = "it keeps changing"
    raise ClusterError(said)


def _request(live: Mapping[str, Plain]) -> Request:
    """Apply all that gpupool said of a pool, and a limit: the next apply of a blueprint takes that back."""
    entry = applied(live)
    said = plain_map(extracted(dict(live), entry.fields)) if entry is not None else {}
    spec = plain_map(said.get("spec"))
    # Karpenter refuses to limit the CPUs of a pool with a fixed number of nodes: that number is its limit.
    is_static = "replicas" in plain_map(live.get("spec"))
    limits: dict[str, Plain] = {**plain_map(spec.get("limits")), "cpu": "0"}
    closed: dict[str, Plain] = {**spec, **({"replicas": 0} if is_static else {"limits": limits})}
    body: dict[str, Plain] = {
        "apiVersion": NODE_POOL.api_version,
        "kind": NODE_POOL.name,
        "metadata": {**plain_map(said.get("metadata")), "name": name_of(live)},
        "spec": closed,
    }
    wish = DesiredObject(NODE_POOL, name_of(live), body)
    return apply_request(wish, force=True, dry_run=False, uid=uid_of(live), version=version_of(live))
