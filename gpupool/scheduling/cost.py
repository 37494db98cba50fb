"""The most that a pool can cost by the hour within its limits.

Which nodes there are is a knapsack: any mix of types whose amounts stay within every limit. It is filled
exactly where at most two limits bind and the states are few enough, and else bounded from above.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd, inf
from typing import Final, NamedTuple

from gpupool.karpenter.quantities import Amount
from gpupool.scheduling.limits import NODES
from gpupool.scheduling.market import Market
from gpupool.scheduling.typemasks import Mask, positions

HOURS_IN_MONTH: Final = 730
"""As AWS reckons a month."""

MOST_STATES: Final = 1_000_000
_MOST_LIMITS: Final = 2
_GRAIN: Final = 10**7
"""Prices are added up in whole parts of a dollar, so that the sum is exact."""


class Ceiling(NamedTuple):
    """The most that a pool can cost."""

    hourly: float | None
    """In the currency of the price list; None where nothing bounds it."""

    exact: bool
    """Whether a mix of nodes costs just that; otherwise it costs no more."""

    unbounded_by: str = ""
    """The type of which the limits admit any number, the dearest of them."""


class _Item(NamedTuple):
    price: int
    uses: tuple[Amount, ...]


class _Packed(NamedTuple):
    price: int
    down: int
    across: int


def ceiling(market: Market, types: Mask, limits: Mapping[str, Amount]) -> Ceiling:
    """Give the most that nodes of these types cost by the hour; types without a price cost nothing."""
    found = [(market.price(place) or 0.0, place) for place in positions(types)]
    rooms = {place: {**market.capacity(place), NODES: 1} for _, place in found}
    free = [(price, place) for price, place in found
            if price and not any(rooms[place].get(name, 0) for name in limits)]  # fmt: skip
    if free:
        return Ceiling(None, exact=True, unbounded_by=market.kind(max(free)[1]).name)
    items = [
        _Item(round(price * _GRAIN), tuple(rooms[place].get(name, 0) for name in limits))
        for price, place in found
    ]
    return _filled(items, tuple(limits.values()))


def _filled(items: Sequence[_Item], limits: Sequence[Amount]) -> Ceiling:
    items = [
        item for item in items if all(used <= limit for used, limit in zip(item.uses, limits, strict=True))
    ]
    items = [item for item in items if item.price]
    if not items:
        return Ceiling(0.0, exact=True)
    binding = _binding(items, limits)
    items = _undominated([_Item(item.price, tuple(item.uses[each] for each in binding)) for item in items])
    limits = [limits[each] for each in binding]
    sizes = [_steps([item.uses[each] for item in items], limit) for each, limit in enumerate(limits)]
    states = 1
    for _, steps in sizes:
        states *= steps + 1
    if len(binding) > _MOST_LIMITS or states > MOST_STATES:
        return Ceiling(_bound(items, limits) / _GRAIN, exact=False)
    grains = [grain for grain, _ in sizes]
    table = [_scaled(item, grains) for item in items]
    rows, width = [0, *(steps for _, steps in sizes)][-2:]
    return Ceiling(_packed(table, rows, width) / _GRAIN, exact=True)


def _scaled(item: _Item, grains: Sequence[Fraction]) -> _Packed:
    down, across = [0, *(int(Fraction(used) / grain) for used, grain in zip(item.uses, grains, strict=True))][
        -2:
    ]
    return _Packed(item.price, down, across)


def _binding(items: Sequence[_Item], limits: Sequence[Amount]) -> list[int]:
    """Give the limits that can be reached at all before another one is."""
    left = list(range(len(limits)))
    for each in sorted(left, key=lambda each: -len({item.uses[each] for item in items})):
        others = [other for other in left if other != each]
        if _most_of(each, items, others, limits) <= limits[each]:
            left = others
    return left


def _most_of(
    each: int, items: Sequence[_Item], others: Sequence[int], limits: Sequence[Amount]
) -> Fraction | float:
    """Give how much of a resource any mix can use within one of the other limits, at most."""
    if not any(item.uses[each] for item in items):
        return 0
    return min(
        (
            max(
                Fraction(limits[other]) * Fraction(item.uses[each]) / Fraction(item.uses[other])
                if item.uses[other] else (inf if item.uses[each] else 0)
                for item in items
            )
            for other in others
        ),
        default=inf,
    )  # fmt: skip


def _undominated(items: Sequence[_Item]) -> list[_Item]:
    """Leave out what another one, no larger in any way, costs as much as."""
    kept: list[_Item] = []
    for item in sorted(set(items), key=lambda item: (-item.price, [*map(float, item.uses)])):
        if not any(all(a <= b for a, b in zip(one.uses, item.uses, strict=True)) for one in kept):
            kept.append(item)
    return kept


def _steps(uses: Sequence[Amount], limit: Amount) -> tuple[Fraction, int]:
    """Give the largest grain that all amounts are multiples of, and how many of it the limit holds."""
    scale = 1
    for used in uses:
        scale = scale * Fraction(used).denominator // gcd(scale, Fraction(used).denominator)
    whole = gcd(*(int(Fraction(used) * scale) for used in uses)) or 1
    grain = Fraction(whole, scale)
    return grain, int(Fraction(limit) / grain)


def _bound(items: Sequence[_Item], limits: Sequence[Amount]) -> float:
    """Give the least, over the limits, of what it holds of the type that costs most for what it uses."""
    return min(
        max(
            float(Fraction(limit) * item.price / Fraction(item.uses[each])) if item.uses[each] else inf
            for item in items
        )
        for each, limit in enumerate(limits)
    )  # fmt: skip


def _packed(items: Sequence[_Packed], rows: int, width: int) -> int:
    """Give the dearest mix that uses at most `rows` of one resource and `width` of another."""
    flat = [item for item in items if not item.down]
    best: list[list[int]] = []
    for row in range(rows + 1):
        line = [0] * (width + 1)
        for price, down, across in items:
            if 0 < down <= row:
                before = best[row - down][: width + 1 - across]
                line[across:] = map(max, line[across:], [worth + price for worth in before])
        for price, _, across in flat:
            for place in range(across, width + 1):
                line[place] = max(line[place], line[place - across] + price)
        best.append(line)
    return best[-1][-1]
