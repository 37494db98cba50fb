"""How many nodes may be disrupted, minute by minute: what Karpenter does, and what the words say."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import TypeAlias

from gpupool.blueprint.windows import Window
from gpupool.expansion.budgets import Budget
from tests.budgets.clocks import Clock
from tests.budgets.cron import parse
from tests.budgets.spans import Span

EVERY_REASON = ("Underutilized", "Empty", "Drifted")
Clocks: TypeAlias = Mapping[str, Clock]


@dataclass(frozen=True)
class Ceilings:
    """Upper bounds: a number, and the minutes for which it holds; the smallest counts."""

    bounds: tuple[tuple[int, int], ...]

    def at_most(self, number: int) -> int:
        """Give the minutes at which no more than `number` nodes may go."""
        found = 0
        for bound, minutes in self.bounds:
            found |= minutes if bound <= number else 0
        return found

    def numbers(self) -> set[int]:
        return {number for number, _ in self.bounds}


def looser(one: Ceilings, other: Ceilings) -> int:
    """Give the minutes at which `one` lets more nodes go than `other` does."""
    found = 0
    for number in one.numbers() | other.numbers():
        found |= other.at_most(number) & ~one.at_most(number)
    return found


def nodes_allowed(nodes: str, fleet: int) -> int:
    return math.ceil(fleet * int(nodes[:-1]) / 100) if nodes.endswith("%") else int(nodes)


def karpenters(budgets: Iterable[Budget], reason: str, span: Span, fleet: int) -> Ceilings:
    """Evaluate budgets as Karpenter does: the smallest of those active now that name the reason."""
    return Ceilings(
        tuple(
            (nodes_allowed(budget.nodes, fleet), active(budget, span))
            for budget in budgets
            if budget.reasons is None or reason in budget.reasons
        )
    )


@lru_cache(maxsize=512)
def active(budget: Budget, span: Span) -> int:
    """Give the minutes at which a budget exists: from each hit of its schedule, for its duration."""
    assert (budget.schedule is None) == (budget.duration is None)
    if budget.schedule is None or budget.duration is None:
        return span.all
    length = timedelta(minutes=duration_minutes(budget.duration))
    found = 0
    for hit in parse(budget.schedule).hits(span.begin - length, span.end):
        found |= span.between(hit, hit + length)
    return found


def duration_minutes(text: str) -> int:
    assert re.fullmatch(r"((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)", text)
    return sum(
        int(number) * {"h": 60, "m": 1, "s": 0}[unit] for number, unit in re.findall(r"(\d+)([hms])", text)
    )


@dataclass(frozen=True)
class Words:
    """What somebody says about disruption."""

    own: Sequence[Budget] | None = None
    protect: Sequence[Window] = ()
    maintenance: Sequence[Window] = ()

    def timezones(self) -> list[str]:
        return sorted({window.timezone for window in (*self.protect, *self.maintenance)})

    def ceilings(self, reason: str, span: Span, clocks: Clocks, fleet: int) -> Ceilings:
        """Evaluate the words by the clocks on the wall."""

        def inside(window: Window) -> int:
            return clocks[window.timezone].inside(window)

        bounds = [
            (nodes_allowed(window.nodes, fleet), inside(window))
            for window in self.protect
            if reason in window.reasons
        ]
        opened = [window for window in self.maintenance if reason in window.reasons]
        own = (Budget("10%"),) if self.own is None else self.own
        if opened:
            own = tuple(budget for budget in own if budget.schedule is not None)
            outside = span.all
            for window in opened:
                outside &= ~inside(window)
                bounds.append((nodes_allowed(window.nodes, fleet), inside(window)))
            bounds.append((0, outside))
        return Ceilings((*bounds, *karpenters(own, reason, span, fleet).bounds))
