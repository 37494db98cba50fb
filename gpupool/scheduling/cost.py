"""Maximum hourly cost of a pool within its limits."""

from collections.abc import Mapping
from math import isinf
from typing import Final, NamedTuple

from gpupool.karpenter.quantities import Amount
from gpupool.scheduling.limits import NODES
from gpupool.scheduling.packing import Item, best
from gpupool.scheduling.types.market import Market
from gpupool.scheduling.types.typemasks import Mask, positions

HOURS_IN_MONTH: Final = 730
"""Hours in a month, as AWS counts them."""

_STATES_OF_REACH: Final = 50_000
"""A smaller search than for the cost, because it runs once for every limit."""

_GRAIN: Final = 10**7
"""Prices are added up as whole fractions of a dollar, so that the sum is exact."""


class CostCeiling(NamedTuple):
    """The maximum cost of a pool."""

    hourly: float | None
    """In the currency of the price list; None where it is unbounded."""

    is_exact: bool
    """Whether some mix of nodes costs exactly that; otherwise it is an upper bound."""

    unbounded_by: str = ""
    """The most expensive type whose number of nodes is not limited."""


class UsableLimit(NamedTuple):
    """How much of one limit can be used within the others."""

    amount: float
    is_exact: bool
    """Whether some mix of nodes uses exactly that; otherwise it is an upper bound."""


def calculate_ceiling(market: Market, types: Mask, limits: Mapping[str, Amount]) -> CostCeiling:
    """Calculate the maximum hourly cost of nodes of these types; types without a price cost nothing."""
    prices = {position: market.price(position) or 0.0 for position in positions(types)}
    uses = _list_uses(market, types, limits)
    unlimited = [(price, position) for position, price in prices.items() if price and not any(uses[position])]
    if unlimited:
        return CostCeiling(None, is_exact=True, unbounded_by=market.kind(max(unlimited)[1]).name)
    items = [Item(round(price * _GRAIN), uses[position]) for position, price in prices.items()]
    solution = best(items, tuple(limits.values()))
    return CostCeiling(solution.worth / _GRAIN, solution.exact)


def calculate_usable_limit(
    market: Market, types: Mask, limits: Mapping[str, Amount], name: str
) -> UsableLimit:
    """Calculate how much of the limit `name` nodes of these types can use within all limits."""
    uses, index = _list_uses(market, types, limits), [*limits].index(name)
    # A node's amounts are whole numbers of the base unit: cores and bytes.
    items = [Item(int(used[index]), used) for used in uses.values()]
    solution = best(items, tuple(limits.values()), _STATES_OF_REACH)
    most = min(solution.worth, float(limits[name]))
    return UsableLimit(most, solution.exact or isinf(solution.worth))


def _list_uses(market: Market, types: Mask, limits: Mapping[str, Amount]) -> dict[int, tuple[Amount, ...]]:
    capacities = ((position, {**market.capacity(position), NODES: 1}) for position in positions(types))
    return {position: tuple(capacity.get(name, 0) for name in limits) for position, capacity in capacities}
