"""Which pools take a pod, and which one Karpenter would really launch a node of.

Source: Scheduler.Solve, NodeClaim.CanAdd and filterInstanceTypesByRequirements of Karpenter v1.14.1, for one
pod with no other pods and no nodes about.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from gpupool.karpenter.labels import HOSTNAME
from gpupool.karpenter.pod_requests import sum_resources
from gpupool.karpenter.requirements import build_requirement, combine_requirements, find_conflicts
from gpupool.scheduling.launch import MOST_IN_CLAIM, Launch, plan_launch, sort_by_price
from gpupool.scheduling.matching import find_lacking_values, find_offered_types
from gpupool.scheduling.nodepool import ScheduledPool, sort_by_priority
from gpupool.scheduling.pods.attempts import list_attempts
from gpupool.scheduling.pods.daemons import UNDEFINED_OK, Daemon, group_types_by_daemons
from gpupool.scheduling.pods.ignored import find_ignore_reason
from gpupool.scheduling.types.typemasks import Mask, positions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gpupool.karpenter.pods import Pod, Resources
    from gpupool.karpenter.quantities import Amount
    from gpupool.karpenter.requirements import Requirements
    from gpupool.scheduling.pods.attempts import Attempt
    from gpupool.scheduling.pods.daemons import DaemonGroup


_A_NEW_NODE = build_requirement(HOSTNAME, "In", ("hostname-placeholder",))
"""A node that is not there yet has a name that no pod can know."""

_SOFT = "PreferNoSchedule"


@dataclass(frozen=True, slots=True)
class PoolSite:
    """A pool with what DaemonSets take of its nodes."""

    pool: ScheduledPool
    groups: tuple[DaemonGroup, ...]
    room: TypeRoom
    in_limits: Mask
    """The types of which one node is within the pool's limits."""


class PoolFit(NamedTuple):
    """A pool that takes the pod."""

    pool: ScheduledPool
    types: Mask
    """The types that the NodeClaim may have."""

    wanted: Requirements
    """What its node has to be, for the pool and the pod together."""

    @property
    def launch(self) -> Launch:
        """Return what EC2 is asked for then.

        Where DaemonSets run on some of the types only, Karpenter may leave the smaller ones of these out: how
        much the NodeClaim requests for DaemonSets is then a matter of chance.
        """
        return plan_launch(self.pool.market, self.wanted, self.types)


def build_sites(
    pools: Iterable[ScheduledPool], daemons: Sequence[Daemon] = (), fixed: Resources | None = None
) -> list[PoolSite]:
    """Return pools with what DaemonSets take of their nodes, in the order of the pools.

    Reservations, which only AWS knows, are supposed to be there for all that a pool of them alone takes.
    """
    known = [pool.supposed() if pool.is_reserved else pool for pool in pools]
    return [
        PoolSite(pool, group_types_by_daemons(pool, daemons, fixed), TypeRoom(pool), pool.in_limits)
        for pool in known
    ]


def find_fit(pod: Pod, site: PoolSite) -> PoolFit | None:
    """Return what a pool takes the pod with, were it the only one; None where it does not."""
    return _first(pod, [site])


def choose_fit(pod: Pod, sites: Sequence[PoolSite]) -> PoolFit | None:
    """Return the pool that Karpenter launches a node of, reservations aside; None where none takes the pod."""
    by_name = {site.pool.name: site for site in sites if not site.pool.is_supposed}
    return _first(
        pod, [by_name[pool.name] for pool in sort_by_priority(site.pool for site in by_name.values())]
    )


def _first(pod: Pod, sites: Sequence[PoolSite]) -> PoolFit | None:
    if find_ignore_reason(pod):
        return None
    has_soft_taints = any(taint.effect == _SOFT for site in sites for taint in site.pool.taints)
    for attempt in list_attempts(pod, tolerates_soft_taints=has_soft_taints):
        for site in sites:
            if found := _taken(attempt, site):
                # Karpenter looks at this when it has decided for the pool, and tries no other then.
                return None if find_lost_values(found) else found
    return None


def find_lost_values(found: PoolFit) -> dict[str, tuple[int, int]]:
    """Return the labels of which the cheapest types have too few values for `minValues`, while all have enough.

    No more than the cheapest 600 are written into a NodeClaim.
    """
    market, wanted = found.pool.market, found.wanted
    if found.types.bit_count() <= MOST_IN_CLAIM:
        return {}
    kept = sum(1 << place for place in sort_by_price(market, found.types)[:MOST_IN_CLAIM])
    return find_lacking_values(market, kept, wanted)


def _taken(attempt: Attempt, site: PoolSite) -> PoolFit | None:
    pool = site.pool
    if has_untolerated_taint(attempt, pool) or find_conflicts(
        predict_node_labels(pool), attempt.wanted, UNDEFINED_OK
    ):
        return None
    wanted = combine_requirements([*pool.wanted.values(), *attempt.wanted.values()])
    types = find_types_with_labels(pool, wanted, site.in_limits)
    types &= find_offered_types(pool.market, pool.offers_for(wanted))
    types = find_types_with_room(site, attempt.pod, types)
    if not types or find_lacking_values(pool.market, types, wanted):
        return None
    return PoolFit(pool, types, wanted)


def predict_node_labels(pool: ScheduledPool) -> Requirements:
    """Return what a node of the pool will be."""
    return {**pool.wanted, HOSTNAME: _A_NEW_NODE}


def has_untolerated_taint(attempt: Attempt, pool: ScheduledPool) -> bool:
    """Return whether a taint of the pool keeps the pod away."""
    return not all(attempt.pod.tolerates(taint) for taint in pool.taints)


def find_types_with_labels(pool: ScheduledPool, wanted: Requirements, types: Mask) -> Mask:
    """Return the types that do for all requirements, of which the pool's own are known to hold."""
    for key, each in wanted.items():
        if each != pool.wanted.get(key):
            types &= pool.market.taken(each)
    return types


def find_types_with_room(site: PoolSite, pod: Pod, types: Mask) -> Mask:
    """Return the types on which the pod has room beside the DaemonSets."""
    found = 0
    for group in site.groups:
        if any(port.has_conflict(other) for port in pod.host_ports for other in group.host_ports):
            continue
        fitting = types & group.types
        for name, asked in sum_resources([pod.requests, group.requests]).items():
            fitting &= site.room.with_at_least(name, asked)
        found |= fitting
    return found


class _Steps(NamedTuple):
    """Amounts in order, and for each the types that have as much; none have more than the last."""

    amounts: list[Amount]
    types: list[Mask]


class TypeRoom:
    """What is asked of a pool's types is worked out once for each resource."""

    def __init__(self, pool: ScheduledPool) -> None:
        """Take a pool; nothing is worked out before it is asked."""
        self._pool = pool
        self._steps: dict[str, _Steps] = {}

    def with_at_least(self, name: str, amount: Amount) -> Mask:
        """Return the pool's types with this much of a resource for pods, or more."""
        steps = self._steps.get(name)
        if steps is None:
            steps = self._steps[name] = self._of(name)
        return steps.types[bisect_left(steps.amounts, amount)]

    def _of(self, name: str) -> _Steps:
        market = self._pool.market
        having: dict[Amount, Mask] = {}
        for place in positions(self._pool.types):
            amount = market.allocatable(place).get(name, 0)
            having[amount] = having.get(amount, 0) | 1 << place
        amounts, types = sorted(having), [0]
        for amount in reversed(amounts):
            types.append(types[-1] | having[amount])
        return _Steps(amounts, types[::-1])
