"""All that can be said offline of what one NodePool may launch."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from gpupool.karpenter import labels
from gpupool.karpenter.quantities import Amount
from gpupool.karpenter.requirements import Requirements
from gpupool.scheduling.capacity import ACCELERATORS, PODS, Resources, fits
from gpupool.scheduling.cost import Ceiling, ceiling
from gpupool.scheduling.instancetype import InstanceType
from gpupool.scheduling.launch import by_price, launch
from gpupool.scheduling.limits import Admitted, admitted, exceeded, fitting, read_limits
from gpupool.scheduling.market import CAPACITY_TYPES, Market
from gpupool.scheduling.matching import Match, match, template_requirements, zones_for
from gpupool.scheduling.typemasks import Mask, positions
from gpupool.yamlio.nodes import Plain

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
    """Whether any of them does; None where offerings are not judged."""

    launchable: bool | None
    """Whether Karpenter's scheduler keeps it, limits aside; None where offerings are not judged."""

    reason: str
    """Why it is not launchable, or by which limit no node of it ever fits; empty where nothing is wrong."""

    allocatable: Resources
    admitted: Admitted


class OnePod(NamedTuple):
    """Where a pod may land that asks for one accelerator and nothing else."""

    resource: str
    cheapest: Candidate
    """What Karpenter asks for first."""

    dearest: Candidate
    """What it takes when EC2 has none of the cheaper ones."""


class Explained(NamedTuple):
    """What one NodePool may launch."""

    name: str
    weight: int
    replicas: int | None
    market: Market
    wanted: Requirements
    match: Match
    candidates: tuple[Candidate, ...]
    """The cheapest first, those without a price at the end."""

    limits: dict[str, Amount]
    ceiling: Ceiling | None
    """None where offerings are not judged, and so nothing has a price."""

    one_pod: OnePod | None

    @property
    def reserved(self) -> bool | None:
        """Say whether the pool may use reservations: None where its class selects none."""
        said = self.wanted.get(labels.CAPACITY_TYPE)
        allowed = said is None or said.has(_RESERVED)
        return allowed if self.market.node_class.reservations else None

    @property
    def usable(self) -> Mask:
        """Give the launchable types of which at least one node fits in the limits."""
        return fitting(self.market, self.match.launchable, self.limits)


def explain(node_pool: Mapping[str, Plain], market: Market) -> Explained:
    """Say what a NodePool may launch in a market."""
    wanted, limits = template_requirements(node_pool), read_limits(node_pool)
    found = match(market, wanted)
    order = by_price(market, found.candidates)
    priced = set(order)
    order += [place for place in positions(found.candidates) if place not in priced]
    candidates = {place: _candidate(market, place, wanted, found, limits) for place in order}
    spec = node_pool.get("spec")
    said = spec if isinstance(spec, dict) else {}
    metadata = node_pool.get("metadata")
    usable = fitting(market, found.launchable, limits)
    return Explained(
        name=str(metadata.get("name", "")) if isinstance(metadata, dict) else "",
        weight=_whole(said.get("weight")) or 0,
        replicas=_whole(said.get("replicas")),
        market=market,
        wanted=wanted,
        match=found,
        candidates=tuple(candidates.values()),
        limits=limits,
        ceiling=ceiling(market, usable, limits) if market.judged else None,
        one_pod=_one_pod(market, wanted, usable, candidates) if market.judged else None,
    )


def in_order(pools: list[Explained]) -> list[Explained]:
    """Give pools as Karpenter tries them: by weight, and of equal weight by name, Z first."""
    return sorted(sorted(pools, key=lambda pool: pool.name, reverse=True), key=lambda pool: -pool.weight)


def _candidate(
    market: Market, place: int, wanted: Requirements, found: Match, limits: Mapping[str, Amount]
) -> Candidate:
    kind, bit = market.kind(place), 1 << place
    said = wanted.get(labels.CAPACITY_TYPE)
    suits = [zone for zone, mask in market.zone_masks.items() if mask & bit]
    names, ids = wanted.get(labels.ZONE), wanted.get(labels.ZONE_ID)
    over = exceeded(market.capacity(place), limits)
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
        offered=bool(found.offered & bit) if market.judged else None,
        launchable=bool(found.launchable & bit) if market.judged else None,
        reason=_reason(market, place, wanted, found) or _over(market.capacity(place), limits, over),
        allocatable=market.allocatable(place),
        admitted=admitted(market, place, limits),
    )  # fmt: skip


def _reason(market: Market, place: int, wanted: Requirements, found: Match) -> str:
    bit = 1 << place
    if not market.judged or found.launchable & bit:
        return ""
    if not found.offered & bit:
        return _not_offered(market, bit, wanted)
    if market.price(place) is None:
        return "no price in the list, and without one Karpenter has no on-demand or spot offering"
    full = [name for name, left in market.allocatable(place).items() if left < 0]
    if full:
        return f"the class keeps more {', '.join(full)} back than the type has"
    return "; ".join(
        f"minValues {least} on {key}, and the types left have {count}"
        for key, (count, least) in found.too_few.items()
    )


def _not_offered(market: Market, bit: Mask, wanted: Requirements) -> str:
    elsewhere = [zone.name for zone, mask in market.zone_masks.items() if mask & bit]
    if not elsewhere:
        return f"not offered in {market.region}"
    if not zones_for(market, wanted) & bit:
        return f"offered in {', '.join(elsewhere)} only"
    said = wanted.get(labels.CAPACITY_TYPE)
    if said is not None and said.has(_RESERVED):
        return "only from a capacity reservation, which AWS alone knows"
    return "the pool asks for a capacity reservation"


def _over(room: Resources, limits: Mapping[str, Amount], over: list[str]) -> str:
    parts = [f"{name} {room[name]} over the limit of {limits[name]}" for name in over]
    return f"a single node has {', '.join(parts)}" if parts else ""


def _one_pod(
    market: Market, wanted: Requirements, usable: Mask, candidates: Mapping[int, Candidate]
) -> OnePod | None:
    rooms = {place: market.allocatable(place) for place in positions(usable)}
    for resource in ACCELERATORS:
        asked: dict[str, Amount] = {resource: 1, PODS: 1}
        able = sum(1 << place for place, room in rooms.items() if fits(asked, room))
        launched = launch(market, wanted, able, asked).types if able else ()
        if launched:
            return OnePod(resource, candidates[launched[0]], candidates[launched[-1]])
    return None


def _whole(value: Plain) -> int | None:
    return int(value) if isinstance(value, (int, float)) else None
