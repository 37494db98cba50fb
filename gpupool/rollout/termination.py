"""Waiting until what was deleted is gone, with the nodes that went with it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.kinds import KINDS
from gpupool.cluster.listing import list_all
from gpupool.errors import ClusterError, StoppedError
from gpupool.planning.guards import nodes
from gpupool.rollout.observed import finalizers, name_of
from gpupool.rollout.usage import node_claims
from gpupool.rollout.waiting import PATIENCE_SECONDS, UNSEEN, Readiness, Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpupool.cluster.deadline import Deadline
    from gpupool.cluster.port import Cluster
    from gpupool.rollout.assess import Asking
    from gpupool.rollout.results import Outcome
    from gpupool.rollout.waiting import Key, Progress
    from gpupool.yamlio.nodes import Plain

GONE: Final = Readiness(is_ready=True, reason="gone")
"""An end: the object is not there any more, and no NodeClaim of it."""

NO_NODES: Final = Readiness(is_ready=True, reason="no NodeClaims left")
"""An end: no NodeClaim of it is there, while the object may stay."""


_RESERVE: Final = 0.1
"""The share of the time that a wait leaves to what comes after it."""


class Deleting(NamedTuple):
    """What every deletion of an apply needs."""

    asking: Asking
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
    how: Deleting, wanted: Mapping[str, Readiness], *, is_last: bool = False
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
    """Say what an object that is being deleted waits for; `count` is the number of its NodeClaims."""
    held = finalizers(live)
    waits = [f"finalizer{'s' * (len(held) > 1)} {', '.join(held)}"] if held else []
    waits += [nodes(count)] if count else []
    return f"deleting ({': '.join(waits)})" if waits else "deleting"
