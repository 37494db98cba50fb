"""How many nodes may be disrupted, minute by minute: what Karpenter does, and what the words say."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from gpupool.blueprint.windows import Window
from gpupool.karpenter.budgets import (
    IMPLICIT,
    DisruptionBudget,
    count_nodes,
    find_active_minutes,
    is_for_reason,
)
from tests.budgets.clocks import Clock
from tests.budgets.spans import Span

EVERY_REASON = ("Underutilized", "Empty", "Drifted")
Clocks: TypeAlias = Mapping[str, Clock]


@dataclass(frozen=True)
class Ceilings:
    """Upper bounds: a number, and the minutes for which it holds; the smallest counts."""

    bounds: tuple[tuple[int, int], ...]

    def at_most(self, number: int) -> int:
        """Return the minutes at which no more than `number` nodes may go."""
        found = 0
        for bound, minutes in self.bounds:
            found |= minutes if bound <= number else 0
        return found

    def numbers(self) -> set[int]:
        return {number for number, _ in self.bounds}


def looser(one: Ceilings, other: Ceilings) -> int:
    """Return the minutes at which `one` lets more nodes go than `other` does."""
    found = 0
    for number in one.numbers() | other.numbers():
        found |= other.at_most(number) & ~one.at_most(number)
    return found


def karpenters(budgets: Iterable[DisruptionBudget], reason: str, span: Span, fleet: int) -> Ceilings:
    """Evaluate budgets as Karpenter does: the smallest of those active now that name the reason."""
    return Ceilings(
        tuple(
            (count_nodes(budget, fleet), find_active_minutes(budget, span.begin, span.minutes))
            for budget in budgets
            if is_for_reason(budget, reason)
        )
    )


@dataclass(frozen=True)
class Words:
    """What somebody says about disruption."""

    own: Sequence[DisruptionBudget] | None = None
    protect: Sequence[Window] = ()
    maintenance: Sequence[Window] = ()

    def timezones(self) -> list[str]:
        return sorted({window.timezone for window in (*self.protect, *self.maintenance)})

    def ceilings(self, reason: str, span: Span, clocks: Clocks, fleet: int) -> Ceilings:
        """Evaluate the words by the clocks on the wall."""

        def inside(window: Window) -> int:
            return clocks[window.timezone].inside(window)

        bounds = [
            (count_nodes(DisruptionBudget(window.nodes), fleet), inside(window))
            for window in self.protect
            if reason in window.reasons
        ]
        opened = [window for window in self.maintenance if reason in window.reasons]
        own = IMPLICIT if self.own is None else self.own
        if opened:
            own = tuple(budget for budget in own if budget.schedule is not None)
            outside = span.all
            for window in opened:
                outside &= ~inside(window)
                bounds.append((count_nodes(DisruptionBudget(window.nodes), fleet), inside(window)))
            bounds.append((0, outside))
        return Ceilings((*bounds, *karpenters(own, reason, span, fleet).bounds))
