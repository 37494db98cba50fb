"""Which of the types that would do are launched: what Karpenter asks EC2 for, in order of price.

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
"""How many of the cheapest types Karpenter writes into a NodeClaim, and asks EC2's fleet for."""


class Launch(NamedTuple):
    """What EC2 is asked for."""

    types: tuple[int, ...]
    """Positions of the types, the cheapest first; EC2 takes the first that it has."""

    capacity_type: str
    """The one that is tried: spot where it is allowed and offered."""


def plan_launch(
    market: Market,
    wanted: Requirements,
    types: Mask,
    requests: TypeResources | None = None,
) -> Launch:
    """Return what is launched of the types that the scheduler found, for pods that ask for so much in all.

    Without a region that the catalogue knows, and thus without prices, nothing is.
    """
    first = sort_by_price(market, types)[:MOST_IN_CLAIM]
    claim = _claim(market, wanted, first)
    left = unite_masks(1 << place for place in first)
    for each in claim.values():
        left &= market.taken(each)
    left &= find_offered_types(market, claim) & market.priced
    if requests:
        left = unite_masks(
            1 << place for place in positions(left) if has_room(requests, market.allocatable(place))
        )
    if not any(each.min_values is not None for each in claim.values()):
        left = _plain_before_exotic(market, left)
    found = sort_by_price(market, left)[:MOST_IN_FLEET]
    if find_lacking_values(market, unite_masks(1 << place for place in found), claim):
        found = []
    return Launch(
        tuple(found), _capacity_type(market, claim, found, _cheapest_on_demand(market, claim, left))
    )


def sort_by_price(market: Market, types: Mask) -> list[int]:
    """Return the positions of types, the cheapest first, those that cost the same by name."""
    priced = [(market.price(place), place) for place in positions(types)]
    return [place for price, place in sorted((price, place) for price, place in priced if price is not None)]


def is_exotic(market: Market, position: int) -> bool:
    """Return whether Karpenter launches a type only where no plain one would do: accelerators and bare metal."""
    kind = market.kind(position)
    return kind.is_metal or any(market.capacity(position)[name] for name in ACCELERATORS)


def _plain_before_exotic(market: Market, types: Mask) -> Mask:
    plain = unite_masks(1 << place for place in positions(types) if not is_exotic(market, place))
    return plain or types


def _claim(market: Market, wanted: Requirements, types: list[int]) -> Requirements:
    """Return the requirements as read back from a NodeClaim, where what was excluded beside a bound is lost."""
    names = [market.catalogue.names[place] for place in types]
    said = wanted.get(labels.INSTANCE_TYPE)
    least = None if said is None else said.min_values
    possible = unite_masks(1 << place for place in types)
    capacity = [name for name in find_capacity_types(wanted) if possible & market.launchable_by_type[name]]
    own = [
        *wanted.values(),
        build_requirement(labels.INSTANCE_TYPE, "In", names, least),
        *([build_requirement(labels.CAPACITY_TYPE, "In", capacity)] if capacity else []),
    ]
    return combine_requirements(
        written for each in combine_requirements(own).values() for written in _written(each)
    )


def _written(each: Requirement) -> Iterator[Requirement]:
    if each.gte is None and each.lte is None:
        yield each
    for operator, bound in (("Gte", each.gte), ("Lte", each.lte)):
        if bound is not None:
            yield build_requirement(each.key, operator, (str(bound),), each.min_values)


def _cheapest_on_demand(market: Market, claim: Requirements, types: Mask) -> float | None:
    """Return the price above which Karpenter takes no spot offering; None where none is compared.

    Without quotes, a spot offering has the on-demand price.
    """
    if any(each.min_values is not None for each in claim.values()) or len(find_capacity_types(claim)) == 1:
        return None
    on_demand = types & market.launchable_by_type["on-demand"]
    return min((market.price(place) or 0 for place in positions(on_demand)), default=None)


def _capacity_type(market: Market, claim: Requirements, types: list[int], dearest: float | None) -> str:
    if "spot" in find_capacity_types(claim):
        spot = market.launchable_by_type["spot"]
        if any(spot >> place & 1 and _within(market.price(place), dearest) for place in types):
            return "spot"
    return "on-demand"


def _within(price: float | None, most: float | None) -> bool:
    return most is None or (price is not None and price <= most)
