"""Waiting until no node of a pool is older than the pool's last change."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from gpupool.cluster.kinds import EC2_NODE_CLASS, NODE_CLAIM, NODE_POOL
from gpupool.cluster.listing import list_all
from gpupool.errors import ClusterError
from gpupool.planning.pruning import class_of
from gpupool.rollout.claims import held_up, of_pools, outdated
from gpupool.rollout.observed import name_of
from gpupool.rollout.waiting import PATIENCE_SECONDS, UNSEEN, Readiness, Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from gpupool.cluster.deadline import Deadline
    from gpupool.cluster.kinds import Kind
    from gpupool.cluster.port import Cluster
    from gpupool.rollout.claims import Claim
    from gpupool.rollout.waiting import Key, Progress
    from gpupool.yamlio.nodes import Plain

QUIET_SECONDS: Final = 5.0
"""Karpenter marks nodes that a change made outdated only after a moment: so long nothing may turn up."""

_EMPTY: Final = Readiness(is_ready=True, reason="no NodeClaims")
_TOO_SOON: Final = Readiness(is_ready=False, reason="Karpenter may not have looked at its nodes yet")
_REPLACED: Final = Readiness(is_ready=True, reason="replaced")


def wait_rolled(
    cluster: Cluster,
    deadline: Deadline,
    pools: Collection[str],
    say: Callable[[Progress], None],
    seconds: float | None = None,
) -> dict[Key, Readiness]:
    """Wait until no NodeClaim of some pools is outdated; give how the pools are, and those that were.

    It ends in good order when so many seconds have passed, or the command's time is up.

    Raises:
        ClusterError: where the NodeClaims can't be listed, and never could.
        StoppedError: where a signal came.
    """
    cluster, watch = cluster.patient(PATIENCE_SECONDS), Watch(deadline, say, seconds)
    quiet = min(QUIET_SECONDS, deadline.left / 2)
    known: dict[Key, Readiness] = {(NODE_POOL.name, pool): UNSEEN for pool in pools}
    loud_at = time.monotonic()
    while True:
        waiting = {key for key, each in known.items() if not each.is_ready}
        try:
            found = _look(cluster, pools)
            known |= {**dict.fromkeys(waiting, _REPLACED), **found}
            nodes = any(each is not _EMPTY for each in found.values())
        except ClusterError as problem:
            known |= watch.without_answer(waiting or known, problem)
            nodes, loud_at = True, time.monotonic()
        watch.tell(known)
        is_well = all(each.is_ready for each in known.values())
        loud_at = loud_at if is_well else time.monotonic()
        if not nodes or time.monotonic() - loud_at >= quiet:
            return known
        if not watch.pause():
            return known | dict.fromkeys(((NODE_POOL.name, pool) for pool in pools if is_well), _TOO_SOON)


def _look(cluster: Cluster, pools: Collection[str]) -> dict[Key, Readiness]:
    """Give each pool, and each of its NodeClaims that is outdated."""
    bodies, classes = _by_name(cluster, NODE_POOL), _by_name(cluster, EC2_NODE_CLASS)
    claims = of_pools(list_all(cluster, NODE_CLAIM))
    found: dict[Key, Readiness] = {}
    for pool in pools:
        body, own = bodies.get(pool, {}), claims.get(pool, [])
        node_class = classes.get(class_of(body)[1], {})
        outdated_ones = dict(_outdated(own, body, node_class))
        found[NODE_POOL.name, pool] = _of_pool(len(own), len(outdated_ones))
        found |= outdated_ones
    return found


def _of_pool(nodes: int, old: int) -> Readiness:
    if not nodes:
        return _EMPTY
    said = f"{old} of {nodes} NodeClaims are to be replaced"
    return Readiness(is_ready=False, reason=said, state=said) if old else Readiness(is_ready=True)


def _outdated(
    claims: list[Claim], pool: Mapping[str, Plain], node_class: Mapping[str, Plain]
) -> Iterator[tuple[Key, Readiness]]:
    size = sum(claim.has("Initialized") for claim in claims)
    for claim in claims:
        if why := outdated(claim, pool, node_class):
            held = held_up(claim, pool, size)
            said = Readiness(is_ready=False, reason=f"{why}: {held}", state=held)
            yield (NODE_CLAIM.name, claim.name), said


def _by_name(cluster: Cluster, kind: Kind) -> dict[str, Mapping[str, Plain]]:
    return {name_of(body): body for body in list_all(cluster, kind)}
