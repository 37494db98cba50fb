"""The types of a pool by how much of each resource pods may use on them."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from gpupool.scheduling.types.typemasks import Mask, positions

if TYPE_CHECKING:
    from gpupool.karpenter.quantities import Amount
    from gpupool.scheduling.nodepool import Pool


class _Steps(NamedTuple):
    """Amounts in order, and for each the types that have as much; none have more than the last."""

    amounts: list[Amount]
    types: list[Mask]


class Room:
    """What is asked of a pool's types is worked out once for each resource."""

    def __init__(self, pool: Pool) -> None:
        """Take a pool; nothing is worked out before it is asked."""
        self._pool = pool
        self._steps: dict[str, _Steps] = {}

    def with_at_least(self, name: str, amount: Amount) -> Mask:
        """Give the pool's types with this much of a resource for pods, or more."""
        steps = self._steps.get(name)
        if steps is None:
            steps = self._steps[name] = self._of(name)
        return steps.types[bisect_left(steps.amounts, amount)]

    def _of(self, name: str) -> _Steps:
        market = self._pool.market
        having: dict[Amount, Mask] = {}
        for place in positions(self._pool.types):
            amount = market.allocatable(place).get(name, 0)
            having[amount] = having.get(amount, 0) | 1 << place
        amounts, types = sorted(having), [0]
        for amount in reversed(amounts):
            types.append(types[-1] | having[amount])
        return _Steps(amounts, types[::-1])
