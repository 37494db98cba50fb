"""Offline explanation of what one NodePool may launch."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from gpupool.karpenter import labels
from gpupool.karpenter.quantities import Amount
from gpupool.karpenter.requirements import Requirements
from gpupool.scheduling.cost import CostCeiling, UsableLimit, calculate_ceiling, calculate_usable_limit
from gpupool.scheduling.launch import plan_launch, sort_by_price
from gpupool.scheduling.limits import (
    NODES,
    AdmittedNodes,
    count_admitted_nodes,
    find_exceeded_limits,
    find_types_in_limits,
)
from gpupool.scheduling.matching import MatchedTypes, find_lacking_values, find_types_in_zones, match_types
from gpupool.scheduling.nodepool import ScheduledPool, read_pool
from gpupool.scheduling.types.capacity import ACCELERATORS, PODS, TypeResources, has_room
from gpupool.scheduling.types.instancetype import InstanceType
from gpupool.scheduling.types.market import CAPACITY_TYPES, Market
from gpupool.scheduling.types.typemasks import Mask, positions
from gpupool.yamlio.located import Plain

_RESERVED: Final = "reserved"


class Candidate(NamedTuple):
    """One instance type that matches a pool's requirements and its node class."""

    kind: InstanceType
    price: float | None
    """On-demand price per hour; None if the price list has none."""

    capacity_types: tuple[str, ...]
    """The capacity types that the pool allows and that the type supports."""

    zones: tuple[str, ...]
    """The pool's zones that offer it."""

    is_offered: bool | None
    """Whether any of these zones offers it; None if that can't be judged."""

    is_launchable: bool | None
    """Whether Karpenter's scheduler keeps it, regardless of limits; None if that can't be judged."""

    reason: str
    """Why it is not launchable, or which limit is below a single node of it; empty if neither."""

    allocatable: TypeResources
    admitted: AdmittedNodes


class AcceleratorPod(NamedTuple):
    """The instance types for a pod that requests one accelerator and nothing else."""

    resource: str
    cheapest: Candidate
    """The type that Karpenter requests first."""

    dearest: Candidate
    """The type that it gets when EC2 has none of the cheaper ones."""


class PoolExplanation(NamedTuple):
    """The explanation of what one NodePool may launch."""

    pool: ScheduledPool
    match: MatchedTypes
    candidates: tuple[Candidate, ...]
    """The cheapest first, types without a price last."""

    ceiling: CostCeiling | None
    """None if offerings are not judged, so that nothing has a price."""

    usable_limits: dict[str, UsableLimit]
    """For each limit, how much of it the launchable types can use within all limits."""

    one_pod: AcceleratorPod | None

    @property
    def too_few_in_limits(self) -> dict[str, tuple[int, int]]:
        """Return the labels for which the types within the limits have too few values for `minValues`."""
        kept = self.pool.in_limits
        return (
            find_lacking_values(self.market, kept, self.requirements) if kept != self.match.launchable else {}
        )

    @property
    def market(self) -> Market:
        """Return the market of the pool's node class and region."""
        return self.pool.market

    @property
    def requirements(self) -> Requirements:
        """Return all requirements on the pool's nodes."""
        return self.pool.requirements

    @property
    def can_use_reservations(self) -> bool | None:
        """Return whether the pool may use reservations; None if its node class selects none."""
        return _can_use_reservations(self.pool) if self.market.node_class.has_reservations else None


def explain(node_pool: Mapping[str, Plain], market: Market) -> PoolExplanation:
    """Explain what a NodePool may launch in a market."""
    pool = read_pool(node_pool, market)
    matched = match_types(market, pool.requirements)
    reservable = _find_reservable_types(pool) if _can_use_reservations(pool) else 0
    types = matched.candidates | reservable
    ordered = sort_by_price(market, types)
    priced = set(ordered)
    ordered += [position for position in positions(types) if position not in priced]
    candidates = {position: _build_candidate(pool, position, matched) for position in ordered}
    return PoolExplanation(
        pool=pool,
        match=matched,
        candidates=tuple(candidates.values()),
        ceiling=_calculate_ceiling(pool, matched.launchable | reservable) if market.is_judged else None,
        usable_limits={
            name: calculate_usable_limit(market, pool.in_limits, pool.limits, name) for name in pool.limits
        },
        one_pod=_find_accelerator_pod(pool, candidates) if market.is_judged else None,
    )


def _calculate_ceiling(pool: ScheduledPool, types: Mask) -> CostCeiling:
    """Calculate the maximum cost of a pool; a static pool has a fixed number of nodes."""
    limits = pool.limits if pool.replicas is None else {NODES: pool.replicas}
    return calculate_ceiling(pool.market, find_types_in_limits(pool.market, types, limits), limits)


def _find_reservable_types(pool: ScheduledPool) -> Mask:
    """Return the types that match apart from the capacity type, which is `reserved` with a reservation."""
    other_requirements = {
        key: entry for key, entry in pool.requirements.items() if key != labels.CAPACITY_TYPE
    }
    return match_types(pool.market, other_requirements).candidates


def _can_use_reservations(pool: ScheduledPool) -> bool:
    """Return whether nodes may come from capacity reservations of the node class."""
    capacity_type = pool.requirements.get(labels.CAPACITY_TYPE)
    return pool.market.node_class.has_reservations and (capacity_type is None or capacity_type.has(_RESERVED))


def _build_candidate(pool: ScheduledPool, position: int, matched: MatchedTypes) -> Candidate:
    market, requirements, limits = pool.market, pool.requirements, pool.limits
    kind, bit = market.kind(position), 1 << position
    capacity_type = requirements.get(labels.CAPACITY_TYPE)
    offering_zones = [zone for zone, mask in market.zone_masks.items() if mask & bit]
    names, ids = requirements.get(labels.ZONE), requirements.get(labels.ZONE_ID)
    exceeded_limits = find_exceeded_limits(market.capacity(position), limits)
    judged = market.is_judged and (bool(matched.launchable & bit) or not _can_use_reservations(pool))
    return Candidate(
        kind=kind,
        price=market.price(position) if market.is_judged else None,
        capacity_types=tuple(
            name for name in CAPACITY_TYPES
            if name in kind.capacity_types and (capacity_type is None or capacity_type.has(name))
        ),
        zones=tuple(
            zone.name for zone in offering_zones
            if (names is None or names.has(zone.name)) and (ids is None or ids.has(zone.id))
        ),
        is_offered=bool(matched.offered & bit) if judged else None,
        is_launchable=bool(matched.launchable & bit) if judged else None,
        reason=_find_reason(pool, position, matched)
        or _describe_exceeded(market.capacity(position), limits, exceeded_limits),
        allocatable=market.allocatable(position),
        admitted=count_admitted_nodes(market, position, limits),
    )  # fmt: skip


def _find_reason(pool: ScheduledPool, position: int, matched: MatchedTypes) -> str:
    market, requirements, bit = pool.market, pool.requirements, 1 << position
    if not market.is_judged or matched.launchable & bit:
        return ""
    if _can_use_reservations(pool):
        return "only from a reservation, if one exists for it"
    if not matched.offered & bit:
        return _describe_missing_offering(market, bit, requirements)
    if market.price(position) is None:
        return "no price in the list, so Karpenter has no on-demand or spot offering"
    overused = [name for name, left in market.allocatable(position).items() if left < 0]
    if overused:
        return f"the node class reserves more {', '.join(overused)} than the type has"
    return "; ".join(
        f"minValues {least} on {key}, and the remaining types have {count}"
        for key, (count, least) in matched.too_few.items()
    )


def _describe_missing_offering(market: Market, bit: Mask, requirements: Requirements) -> str:
    elsewhere = [zone.name for zone, mask in market.zone_masks.items() if mask & bit]
    if not elsewhere:
        subnets = "" if market.node_class.zones is None else " where the node class has subnets"
        return f"not offered in {market.region}{subnets}"
    if not find_types_in_zones(market, requirements) & bit:
        return f"offered in {', '.join(elsewhere)} only"
    return "the pool requires a capacity reservation, and its node class selects none"


def _describe_exceeded(capacity: TypeResources, limits: Mapping[str, Amount], exceeded: list[str]) -> str:
    parts = [f"{name} {capacity[name]} over the limit of {limits[name]}" for name in exceeded]
    return f"a single node has {', '.join(parts)}" if parts else ""


def _find_accelerator_pod(pool: ScheduledPool, candidates: Mapping[int, Candidate]) -> AcceleratorPod | None:
    market = pool.market
    allocatable = {position: market.allocatable(position) for position in positions(pool.in_limits)}
    for resource in ACCELERATORS:
        requests: dict[str, Amount] = {resource: 1, PODS: 1}
        types_with_room = sum(
            1 << position for position, free in allocatable.items() if has_room(requests, free)
        )
        launch_order = (
            plan_launch(market, pool.requirements, types_with_room, requests).types if types_with_room else ()
        )
        if launch_order:
            return AcceleratorPod(resource, candidates[launch_order[0]], candidates[launch_order[-1]])
    return None
