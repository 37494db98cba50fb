"""All that can be said offline of what one NodePool may launch."""

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
    """One type that passes a pool's requirements and its class."""

    kind: InstanceType
    price: float | None
    """By the hour, on demand; None where the price list has none."""

    capacity_types: tuple[str, ...]
    """Those that the pool allows and EC2 launches the type in."""

    zones: tuple[str, ...]
    """Zones of the pool's that offer it."""

    offered: bool | None
    """Whether any of them does; None where that can't be judged."""

    launchable: bool | None
    """Whether Karpenter's scheduler keeps it, limits aside; None where that can't be judged."""

    reason: str
    """Why it is not launchable, or by which limit no node of it ever fits; empty where nothing is wrong."""

    allocatable: TypeResources
    admitted: AdmittedNodes


class AcceleratorPod(NamedTuple):
    """Where a pod may land that asks for one accelerator and nothing else."""

    resource: str
    cheapest: Candidate
    """What Karpenter asks for first."""

    dearest: Candidate
    """What it takes when EC2 has none of the cheaper ones."""


class Explained(NamedTuple):
    """What one NodePool may launch."""

    pool: ScheduledPool
    match: MatchedTypes
    candidates: tuple[Candidate, ...]
    """The cheapest first, those without a price at the end."""

    ceiling: CostCeiling | None
    """None where offerings are not judged, and so nothing has a price."""

    reaches: dict[str, UsableLimit]
    """For each limit how much of it the launchable types can use within all of them."""

    one_pod: AcceleratorPod | None

    @property
    def too_few_in_limits(self) -> dict[str, tuple[int, int]]:
        """Return the labels of which the types within the limits have too few values for `minValues`."""
        kept = self.pool.in_limits
        return find_lacking_values(self.market, kept, self.wanted) if kept != self.match.launchable else {}

    @property
    def market(self) -> Market:
        """Return the class and the region that it is for."""
        return self.pool.market

    @property
    def wanted(self) -> Requirements:
        """Return all that the pool's nodes have to be."""
        return self.pool.wanted

    @property
    def reserved(self) -> bool | None:
        """Return whether the pool may use reservations: None where its class selects none."""
        return _from_reservations(self.pool) if self.market.node_class.reservations else None


def explain(node_pool: Mapping[str, Plain], market: Market) -> Explained:
    """Return what a NodePool may launch in a market."""
    pool = read_pool(node_pool, market)
    found = match_types(market, pool.wanted)
    reservable = _reservable(pool) if _from_reservations(pool) else 0
    types = found.candidates | reservable
    order = sort_by_price(market, types)
    priced = set(order)
    order += [place for place in positions(types) if place not in priced]
    candidates = {place: _candidate(pool, place, found) for place in order}
    return Explained(
        pool=pool,
        match=found,
        candidates=tuple(candidates.values()),
        ceiling=_ceiling(pool, found.launchable | reservable) if market.judged else None,
        reaches={
            name: calculate_usable_limit(market, pool.in_limits, pool.limits, name) for name in pool.limits
        },
        one_pod=_one_pod(pool, candidates) if market.judged else None,
    )


def _ceiling(pool: ScheduledPool, types: Mask) -> CostCeiling:
    """Return the most that it costs; a static pool has as many nodes as it says."""
    limits = pool.limits if pool.replicas is None else {NODES: pool.replicas}
    return calculate_ceiling(pool.market, find_types_in_limits(pool.market, types, limits), limits)


def _reservable(pool: ScheduledPool) -> Mask:
    """Return the types that pass but for the capacity type, which is `reserved` where AWS has a reservation."""
    others = {key: each for key, each in pool.wanted.items() if key != labels.CAPACITY_TYPE}
    return match_types(pool.market, others).candidates


def _from_reservations(pool: ScheduledPool) -> bool:
    """Return whether nodes may come from reservations of the class."""
    said = pool.wanted.get(labels.CAPACITY_TYPE)
    return pool.market.node_class.reservations and (said is None or said.has(_RESERVED))


def _candidate(pool: ScheduledPool, place: int, found: MatchedTypes) -> Candidate:
    market, wanted, limits = pool.market, pool.wanted, pool.limits
    kind, bit = market.kind(place), 1 << place
    said = wanted.get(labels.CAPACITY_TYPE)
    suits = [zone for zone, mask in market.zone_masks.items() if mask & bit]
    names, ids = wanted.get(labels.ZONE), wanted.get(labels.ZONE_ID)
    over = find_exceeded_limits(market.capacity(place), limits)
    judged = market.judged and (bool(found.launchable & bit) or not _from_reservations(pool))
    return Candidate(
        kind=kind,
        price=market.price(place) if market.judged else None,
        capacity_types=tuple(
            name for name in CAPACITY_TYPES
            if name in kind.capacity_types and (said is None or said.has(name))
        ),
        zones=tuple(
            zone.name for zone in suits
            if (names is None or names.has(zone.name)) and (ids is None or ids.has(zone.id))
        ),
        offered=bool(found.offered & bit) if judged else None,
        launchable=bool(found.launchable & bit) if judged else None,
        reason=_reason(pool, place, found) or _over(market.capacity(place), limits, over),
        allocatable=market.allocatable(place),
        admitted=count_admitted_nodes(market, place, limits),
    )  # fmt: skip


def _reason(pool: ScheduledPool, place: int, found: MatchedTypes) -> str:
    market, wanted, bit = pool.market, pool.wanted, 1 << place
    if not market.judged or found.launchable & bit:
        return ""
    if _from_reservations(pool):
        return "only from a reservation, if one exists for it"
    if not found.offered & bit:
        return _not_offered(market, bit, wanted)
    if market.price(place) is None:
        return "no price in the list, so Karpenter has no on-demand or spot offering"
    full = [name for name, left in market.allocatable(place).items() if left < 0]
    if full:
        return f"the node class reserves more {', '.join(full)} than the type has"
    return "; ".join(
        f"minValues {least} on {key}, and the remaining types have {count}"
        for key, (count, least) in found.too_few.items()
    )


def _not_offered(market: Market, bit: Mask, wanted: Requirements) -> str:
    elsewhere = [zone.name for zone, mask in market.zone_masks.items() if mask & bit]
    if not elsewhere:
        subnets = "" if market.node_class.zones is None else " where the node class has subnets"
        return f"not offered in {market.region}{subnets}"
    if not find_types_in_zones(market, wanted) & bit:
        return f"offered in {', '.join(elsewhere)} only"
    return "the pool requires a capacity reservation, and its node class selects none"


def _over(room: TypeResources, limits: Mapping[str, Amount], over: list[str]) -> str:
    parts = [f"{name} {room[name]} over the limit of {limits[name]}" for name in over]
    return f"a single node has {', '.join(parts)}" if parts else ""


def _one_pod(pool: ScheduledPool, candidates: Mapping[int, Candidate]) -> AcceleratorPod | None:
    market = pool.market
    rooms = {place: market.allocatable(place) for place in positions(pool.in_limits)}
    for resource in ACCELERATORS:
        asked: dict[str, Amount] = {resource: 1, PODS: 1}
        able = sum(1 << place for place, room in rooms.items() if has_room(asked, room))
        launched = plan_launch(market, pool.wanted, able, asked).types if able else ()
        if launched:
            return AcceleratorPod(resource, candidates[launched[0]], candidates[launched[-1]])
    return None
