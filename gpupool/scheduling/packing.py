"""The most that a mix of nodes can be worth within limits: a knapsack of any number of nodes of each type.

It is filled exactly where at most two limits bind and the states are few enough, and else bounded from above.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, inf
from typing import Final, NamedTuple

from gpupool.karpenter.quantities import Amount

MOST_STATES: Final = 1_000_000
_MOST_LIMITS: Final = 2


class Item(NamedTuple):
    """A node of some type."""

    worth: int
    uses: tuple[Amount, ...]
    """How much it takes of each limit."""


class Best(NamedTuple):
    """The most that a mix is worth."""

    worth: float
    """Infinite where nothing bounds it."""

    exact: bool
    """Whether a mix is worth just that; otherwise none is worth more."""


class _Packed(NamedTuple):
    worth: int
    down: int
    across: int


def best(items: Sequence[Item], limits: Sequence[Amount]) -> Best:
    """Give the most that any mix of items within the limits is worth."""
    items = [item for item in items if item.worth > 0 and _fits(item, limits)]
    if not items:
        return Best(0, exact=True)
    if any(not any(item.uses) for item in items):
        return Best(inf, exact=True)
    binding = _binding(items, limits)
    items = _undominated([Item(item.worth, tuple(item.uses[each] for each in binding)) for item in items])
    limits = [limits[each] for each in binding]
    sizes = [_steps([item.uses[each] for item in items], limit) for each, limit in enumerate(limits)]
    states = 1
    for _, steps in sizes:
        states *= steps + 1
    if len(binding) > _MOST_LIMITS or states > MOST_STATES:
        return Best(_bound(items, limits), exact=False)
    grains = [grain for grain, _ in sizes]
    rows, width = [0, *(steps for _, steps in sizes)][-2:]
    return Best(_filled([_scaled(item, grains) for item in items], rows, width), exact=True)


def _fits(item: Item, limits: Sequence[Amount]) -> bool:
    return all(used <= limit for used, limit in zip(item.uses, limits, strict=True))


def _scaled(item: Item, grains: Sequence[Fraction]) -> _Packed:
    steps = (int(Fraction(used) / grain) for used, grain in zip(item.uses, grains, strict=True))
    down, across = [0, *steps][-2:]
    return _Packed(item.worth, down, across)


def _binding(items: Sequence[Item], limits: Sequence[Amount]) -> list[int]:
    """Give the limits that can be reached at all before another one is."""
    left = list(range(len(limits)))
    for each in sorted(left, key=lambda each: -len({item.uses[each] for item in items})):
        others = [other for other in left if other != each]
        if _most_of(each, items, others, limits) <= limits[each]:
            left = others
    return left


def _most_of(
    each: int, items: Sequence[Item], others: Sequence[int], limits: Sequence[Amount]
) -> Fraction | float:
    """Give how much of a resource any mix can use within one of the other limits, at most."""
    if not any(item.uses[each] for item in items):
        return 0
    return min(
        (max(_share(item, each, other, limits[other]) for item in items) for other in others), default=inf
    )


def _share(item: Item, each: int, other: int, limit: Amount) -> Fraction | float:
    if item.uses[other]:
        return Fraction(limit) * Fraction(item.uses[each]) / Fraction(item.uses[other])
    return inf if item.uses[each] else 0


def _undominated(items: Sequence[Item]) -> list[Item]:
    """Leave out what another one, no larger in any way, is worth as much as."""
    kept: list[Item] = []
    for item in sorted(set(items), key=lambda item: (-item.worth, [*map(float, item.uses)])):
        if not any(all(a <= b for a, b in zip(one.uses, item.uses, strict=True)) for one in kept):
            kept.append(item)
    return kept


def _steps(uses: Sequence[Amount], limit: Amount) -> tuple[Fraction, int]:
    """Give the largest grain that all amounts are multiples of, and how many of it the limit holds."""
    exact = [Fraction(used) for used in uses]
    scale = 1
    for used in exact:
        scale = scale * used.denominator // gcd(scale, used.denominator)
    grain = Fraction(gcd(*(int(used * scale) for used in exact)) or 1, scale)
    return grain, int(Fraction(limit) / grain)


def _bound(items: Sequence[Item], limits: Sequence[Amount]) -> float:
    """Give the least, over the limits, of what it holds of the item that is worth most for what it uses."""
    return float(min(max(_worth(item, each, limit) for item in items) for each, limit in enumerate(limits)))


def _worth(item: Item, each: int, limit: Amount) -> Fraction | float:
    return Fraction(limit) * item.worth / Fraction(item.uses[each]) if item.uses[each] else inf


def _filled(items: Sequence[_Packed], rows: int, width: int) -> int:
    """Give the worth of the best mix that uses at most `rows` of one resource and `width` of another."""
    flat = [item for item in items if not item.down]
    table: list[list[int]] = []
    for row in range(rows + 1):
        line = [0] * (width + 1)
        for worth, down, across in items:
            if 0 < down <= row:
                before = table[row - down][: width + 1 - across]
                line[across:] = map(max, line[across:], [each + worth for each in before])
        for worth, _, across in flat:
            for place in range(across, width + 1):
                line[place] = max(line[place], line[place - across] + worth)
        table.append(line)
    return table[-1][-1]
