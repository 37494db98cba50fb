"""The most that a pool can cost by the hour within its limits."""

from collections.abc import Mapping
from math import isinf
from typing import Final, NamedTuple

from gpupool.karpenter.quantities import Amount
from gpupool.scheduling.limits import NODES
from gpupool.scheduling.packing import Item, best
from gpupool.scheduling.types.market import Market
from gpupool.scheduling.types.typemasks import Mask, positions

HOURS_IN_MONTH: Final = 730
"""As AWS reckons a month."""

_STATES_OF_REACH: Final = 50_000
"""It is asked for every limit, and worth less of anybody's time than what a pool costs."""

_GRAIN: Final = 10**7
"""Prices are added up in whole parts of a dollar, so that the sum is exact."""


class CostCeiling(NamedTuple):
    """The most that a pool can cost."""

    hourly: float | None
    """In the currency of the price list; None where nothing bounds it."""

    exact: bool
    """Whether a mix of nodes costs just that; otherwise it costs no more."""

    unbounded_by: str = ""
    """The type of which the limits admit any number, the dearest of them."""


class UsableLimit(NamedTuple):
    """How much of one limit can be used within the others."""

    amount: float
    exact: bool
    """Whether some mix uses just that; otherwise none uses more."""


def calculate_ceiling(market: Market, types: Mask, limits: Mapping[str, Amount]) -> CostCeiling:
    """Return the most that nodes of these types cost by the hour; types without a price cost nothing."""
    prices = {place: market.price(place) or 0.0 for place in positions(types)}
    uses = _uses(market, types, limits)
    free = [(price, place) for place, price in prices.items() if price and not any(uses[place])]
    if free:
        return CostCeiling(None, exact=True, unbounded_by=market.kind(max(free)[1]).name)
    items = [Item(round(price * _GRAIN), uses[place]) for place, price in prices.items()]
    found = best(items, tuple(limits.values()))
    return CostCeiling(found.worth / _GRAIN, found.exact)


def calculate_usable_limit(
    market: Market, types: Mask, limits: Mapping[str, Amount], name: str
) -> UsableLimit:
    """Return how much of the limit `name` nodes of these types can use up within all limits."""
    uses, place = _uses(market, types, limits), [*limits].index(name)
    # Amounts with a fraction of the base unit are no node's; cores and bytes are whole.
    items = [Item(int(used[place]), used) for used in uses.values()]
    found = best(items, tuple(limits.values()), _STATES_OF_REACH)
    most = min(found.worth, float(limits[name]))
    return UsableLimit(most, found.exact or isinf(found.worth))


def _uses(market: Market, types: Mask, limits: Mapping[str, Amount]) -> dict[int, tuple[Amount, ...]]:
    rooms = ((place, {**market.capacity(place), NODES: 1}) for place in positions(types))
    return {place: tuple(room.get(name, 0) for name in limits) for place, room in rooms}
