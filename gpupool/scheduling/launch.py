"""Launch planning: the instance types that Karpenter requests from EC2, in order of price.

Source: NodeClaimTemplate.ToNodeClaim of Karpenter v1.14.1, and pkg/providers/instance (with `filter`) of its
AWS provider v1.14.1. Reservations are left out: only AWS knows which types they are for.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from gpupool.karpenter import labels
from gpupool.karpenter.requirements import Requirement, Requirements, build_requirement, combine_requirements
from gpupool.scheduling.matching import (
    find_capacity_types,
    find_lacking_values,
    find_offered_types,
    unite_masks,
)
from gpupool.scheduling.types.capacity import ACCELERATORS, TypeResources, has_room
from gpupool.scheduling.types.market import Market
from gpupool.scheduling.types.typemasks import Mask, positions

MOST_IN_CLAIM: Final = 600
MOST_IN_FLEET: Final = 60
"""How many of the cheapest types Karpenter writes to a NodeClaim, and requests from EC2 Fleet."""


class Launch(NamedTuple):
    """The request to EC2."""

    types: tuple[int, ...]
    """Positions of the types, the cheapest first; EC2 launches the first available one."""

    capacity_type: str
    """The requested capacity type: spot if it is allowed and offered."""


def plan_launch(
    market: Market,
    requirements: Requirements,
    types: Mask,
    requests: TypeResources | None = None,
) -> Launch:
    """Return the types that are launched, of those that the scheduler chose, for pods with these requests.

    Without a region in the catalogue, and so without prices, no type is.
    """
    cheapest = sort_by_price(market, types)[:MOST_IN_CLAIM]
    claim = _build_claim(market, requirements, cheapest)
    remaining = unite_masks(1 << position for position in cheapest)
    for entry in claim.values():
        remaining &= market.find_types(entry)
    remaining &= find_offered_types(market, claim) & market.priced
    if requests:
        remaining = unite_masks(
            1 << position
            for position in positions(remaining)
            if has_room(requests, market.allocatable(position))
        )
    if not any(entry.min_values is not None for entry in claim.values()):
        remaining = _prefer_plain(market, remaining)
    ordered = sort_by_price(market, remaining)[:MOST_IN_FLEET]
    if find_lacking_values(market, unite_masks(1 << position for position in ordered), claim):
        ordered = []
    return Launch(
        tuple(ordered),
        _choose_capacity_type(market, claim, ordered, _find_price_limit(market, claim, remaining)),
    )


def sort_by_price(market: Market, types: Mask) -> list[int]:
    """Return the positions of types with a price, the cheapest first, equal prices in order of name."""
    priced = [(market.price(position), position) for position in positions(types)]
    return [
        position
        for price, position in sorted((price, position) for price, position in priced if price is not None)
    ]


def is_exotic(market: Market, position: int) -> bool:
    """Return whether Karpenter launches a type only as a last resort: accelerators and bare metal."""
    kind = market.kind(position)
    return kind.is_metal or any(market.capacity(position)[name] for name in ACCELERATORS)


def _prefer_plain(market: Market, types: Mask) -> Mask:
    plain = unite_masks(1 << position for position in positions(types) if not is_exotic(market, position))
    return plain or types


def _build_claim(market: Market, requirements: Requirements, types: list[int]) -> Requirements:
    """Return the requirements that a NodeClaim keeps; it loses values that are excluded beside a bound."""
    names = [market.catalogue.names[position] for position in types]
    instance_type = requirements.get(labels.INSTANCE_TYPE)
    least = None if instance_type is None else instance_type.min_values
    possible = unite_masks(1 << position for position in types)
    capacity = [
        name for name in find_capacity_types(requirements) if possible & market.launchable_by_type[name]
    ]
    own = [
        *requirements.values(),
        build_requirement(labels.INSTANCE_TYPE, "In", names, least),
        *([build_requirement(labels.CAPACITY_TYPE, "In", capacity)] if capacity else []),
    ]
    return combine_requirements(
        kept for entry in combine_requirements(own).values() for kept in _split_bounds(entry)
    )


def _split_bounds(entry: Requirement) -> Iterator[Requirement]:
    if entry.gte is None and entry.lte is None:
        yield entry
    for operator, bound in (("Gte", entry.gte), ("Lte", entry.lte)):
        if bound is not None:
            yield build_requirement(entry.key, operator, (str(bound),), entry.min_values)


def _find_price_limit(market: Market, claim: Requirements, types: Mask) -> float | None:
    """Return the price above which Karpenter uses no spot offering; None if it does not compare.

    A spot offering without a quote has the on-demand price.
    """
    if any(entry.min_values is not None for entry in claim.values()) or len(find_capacity_types(claim)) == 1:
        return None
    on_demand = types & market.launchable_by_type["on-demand"]
    return min((market.price(position) or 0 for position in positions(on_demand)), default=None)


def _choose_capacity_type(
    market: Market, claim: Requirements, types: list[int], price_limit: float | None
) -> str:
    if "spot" in find_capacity_types(claim):
        spot = market.launchable_by_type["spot"]
        if any(
            spot >> position & 1 and _is_within(market.price(position), price_limit) for position in types
        ):
            return "spot"
    return "on-demand"


def _is_within(price: float | None, limit: float | None) -> bool:
    return limit is None or (price is not None and price <= limit)
