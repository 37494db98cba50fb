"""Fit of a pod: which pools accept it, and from which one Karpenter launches a node.

Source: Scheduler.Solve, NodeClaim.CanAdd and filterInstanceTypesByRequirements of Karpenter v1.14.1, for one
pod without other pods or existing nodes.
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
"""The hostname of a future node, which no pod can select."""

_SOFT = "PreferNoSchedule"


@dataclass(frozen=True, slots=True)
class PoolSite:
    """A pool and the room on its nodes beside the DaemonSets."""

    pool: ScheduledPool
    groups: tuple[DaemonGroup, ...]
    room: TypeRoom
    in_limits: Mask
    """The types of which a single node is within the pool's limits."""


class PoolFit(NamedTuple):
    """A pool that accepts the pod."""

    pool: ScheduledPool
    types: Mask
    """The types that the NodeClaim may have."""

    requirements: Requirements
    """The combined requirements of the pool and the pod on the node."""

    @property
    def launch(self) -> Launch:
        """Return the planned request to EC2.

        If DaemonSets run on only some of the types, Karpenter may leave out the smaller ones of these: how
        much the NodeClaim requests for DaemonSets is then not deterministic.
        """
        return plan_launch(self.pool.market, self.requirements, self.types)


def build_sites(
    pools: Iterable[ScheduledPool], daemons: Sequence[Daemon] = (), fixed: Resources | None = None
) -> list[PoolSite]:
    """Build the sites of pools with their DaemonSets, in the order of the pools.

    For a pool that uses only reservations, which only AWS knows, all matching reservations are assumed.
    """
    all_pools = [pool.assume_reservations() if pool.is_reserved else pool for pool in pools]
    return [
        PoolSite(pool, group_types_by_daemons(pool, daemons, fixed), TypeRoom(pool), pool.in_limits)
        for pool in all_pools
    ]


def find_fit(pod: Pod, site: PoolSite) -> PoolFit | None:
    """Find how a pool accepts the pod, as if it were the only pool; None if it does not."""
    return _find_first_fit(pod, [site])


def choose_fit(pod: Pod, sites: Sequence[PoolSite]) -> PoolFit | None:
    """Choose the pool that Karpenter launches a node of, regardless of reservations; None if no pool fits."""
    by_name = {site.pool.name: site for site in sites if not site.pool.assumes_reservations}
    return _find_first_fit(
        pod, [by_name[pool.name] for pool in sort_by_priority(site.pool for site in by_name.values())]
    )


def _find_first_fit(pod: Pod, sites: Sequence[PoolSite]) -> PoolFit | None:
    if find_ignore_reason(pod):
        return None
    has_soft_taints = any(taint.effect == _SOFT for site in sites for taint in site.pool.taints)
    for attempt in list_attempts(pod, tolerates_soft_taints=has_soft_taints):
        for site in sites:
            if fit := _try_attempt(attempt, site):
                # Karpenter checks this after it has chosen the pool, and then tries no other pool.
                return None if find_lost_values(fit) else fit
    return None


def find_lost_values(fit: PoolFit) -> dict[str, tuple[int, int]]:
    """Find labels for which all types have enough values for `minValues`, but the cheapest too few.

    Only the 600 cheapest types are written to a NodeClaim.
    """
    market, requirements = fit.pool.market, fit.requirements
    if fit.types.bit_count() <= MOST_IN_CLAIM:
        return {}
    cheapest = sum(1 << position for position in sort_by_price(market, fit.types)[:MOST_IN_CLAIM])
    return find_lacking_values(market, cheapest, requirements)


def _try_attempt(attempt: Attempt, site: PoolSite) -> PoolFit | None:
    pool = site.pool
    if has_untolerated_taint(attempt, pool) or find_conflicts(
        predict_node_labels(pool), attempt.requirements, UNDEFINED_OK
    ):
        return None
    requirements = combine_requirements([*pool.requirements.values(), *attempt.requirements.values()])
    types = find_types_with_labels(pool, requirements, site.in_limits)
    types &= find_offered_types(pool.market, pool.get_offering_requirements(requirements))
    types = find_types_with_room(site, attempt.pod, types)
    if not types or find_lacking_values(pool.market, types, requirements):
        return None
    return PoolFit(pool, types, requirements)


def predict_node_labels(pool: ScheduledPool) -> Requirements:
    """Return the requirements that describe a future node of the pool."""
    return {**pool.requirements, HOSTNAME: _A_NEW_NODE}


def has_untolerated_taint(attempt: Attempt, pool: ScheduledPool) -> bool:
    """Return whether the pod does not tolerate a taint of the pool."""
    return not all(attempt.pod.tolerates(taint) for taint in pool.taints)


def find_types_with_labels(pool: ScheduledPool, requirements: Requirements, types: Mask) -> Mask:
    """Find the types that match all requirements; the pool's own already match."""
    for key, requirement in requirements.items():
        if requirement != pool.requirements.get(key):
            types &= pool.market.find_types(requirement)
    return types


def find_types_with_room(site: PoolSite, pod: Pod, types: Mask) -> Mask:
    """Find the types on which the pod has room beside the DaemonSets."""
    types_with_room = 0
    for group in site.groups:
        if any(port.has_conflict(other) for port in pod.host_ports for other in group.host_ports):
            continue
        fitting = types & group.types
        for name, amount in sum_resources([pod.requests, group.requests]).items():
            fitting &= site.room.find_types(name, amount)
        types_with_room |= fitting
    return types_with_room


class _Steps(NamedTuple):
    """Amounts in ascending order, and for each the types with at least this amount."""

    amounts: list[Amount]
    types: list[Mask]


class TypeRoom:
    """The allocatable resources of a pool's types, indexed once for each resource."""

    def __init__(self, pool: ScheduledPool) -> None:
        """Store the pool; each resource is indexed on its first use."""
        self._pool = pool
        self._steps: dict[str, _Steps] = {}

    def find_types(self, name: str, amount: Amount) -> Mask:
        """Find the pool's types with at least this amount of a resource for pods."""
        steps = self._steps.get(name)
        if steps is None:
            steps = self._steps[name] = self._build_steps(name)
        return steps.types[bisect_left(steps.amounts, amount)]

    def _build_steps(self, name: str) -> _Steps:
        market = self._pool.market
        types_by_amount: dict[Amount, Mask] = {}
        for position in positions(self._pool.types):
            amount = market.allocatable(position).get(name, 0)
            types_by_amount[amount] = types_by_amount.get(amount, 0) | 1 << position
        amounts, types = sorted(types_by_amount), [0]
        for amount in reversed(amounts):
            types.append(types[-1] | types_by_amount[amount])
        return _Steps(amounts, types[::-1])
