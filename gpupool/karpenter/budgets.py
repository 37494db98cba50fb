"""How many nodes of a pool Karpenter may disrupt, by its budgets.

Source: `GetAllowedDisruptionsByReason` in pkg/apis/v1/nodepool.go of sigs.k8s.io/karpenter v1.14.1.
"""

from __future__ import annotations

import re
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.karpenter.cron import CronError, parse_cron
from gpupool.karpenter.integers import parse_int64
from gpupool.yamlio.located import plain_map

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from gpupool.yamlio.located import Plain

REASONS: Final = ("Empty", "Drifted", "Underutilized")
"""In the order in which Karpenter tries them."""

UNBOUNDED: Final = 2**31 - 1
"""What Karpenter gives where no budget counts."""

_MINUTE: Final = timedelta(minutes=1)
_UNITS: Final = {"h": 60, "m": 1, "s": 0}


class DisruptionBudget(NamedTuple):
    """One budget of a NodePool; of all that apply, Karpenter takes the smallest."""

    nodes: str
    reasons: tuple[str, ...] | None = None
    """None is every reason; an empty tuple is none, and the budget does nothing."""

    schedule: str | None = None
    """Five cron fields in UTC; without one the budget always applies."""

    duration: str | None = None
    """How long it holds from each hit of the schedule."""


IMPLICIT: Final = (DisruptionBudget("10%"),)
"""What the API server writes where a NodePool has no `budgets`; an empty list stays empty."""


def read_budgets(body: Plain) -> tuple[DisruptionBudget, ...]:
    """Return the budgets of a NodePool's body as the API server stores them, its defaults filled in."""
    said = plain_map(plain_map(plain_map(body).get("spec")).get("disruption")).get("budgets")
    return tuple(map(_budget, said)) if isinstance(said, list) else IMPLICIT


def _budget(said: Plain) -> DisruptionBudget:
    reasons, nodes = plain_map(said).get("reasons"), plain_map(said).get("nodes")
    schedule, duration = plain_map(said).get("schedule"), plain_map(said).get("duration")
    return DisruptionBudget(
        nodes=IMPLICIT[0].nodes if nodes is None else str(nodes),
        reasons=tuple(map(str, reasons)) if isinstance(reasons, list) else None,
        schedule=None if schedule is None else str(schedule),
        duration=None if duration is None else str(duration),
    )


def count_allowed(budgets: Iterable[DisruptionBudget], reason: str, at: datetime, nodes: int) -> int:
    """Return how many nodes, of so many in the pool, may be disrupted for a reason at a UTC instant.

    One schedule that can't be read, or number in force, allows none, for any reason. Where no budget
    counts, it is UNBOUNDED; a number beyond 32 bits wraps, as Karpenter's does, and may be negative.
    """
    every = tuple(budgets)
    if any(is_unreadable(budget) for budget in every):
        return 0
    in_force = [budget for budget in every if is_active(budget, at)]
    if any(is_numberless(budget) for budget in in_force):
        return 0
    return min(
        (count_nodes(each, nodes) for each in in_force if is_for_reason(each, reason)), default=UNBOUNDED
    )


def is_for_reason(budget: DisruptionBudget, reason: str) -> bool:
    """Return whether a budget speaks of a reason."""
    return budget.reasons is None or reason in budget.reasons


def count_nodes(budget: DisruptionBudget, nodes: int) -> int:
    """Return the number that a budget allows; of a percentage, rounded up, the part of `nodes`."""
    number = parse_int64(budget.nodes)
    if number is not None:
        return (number + 2**31) % 2**32 - 2**31
    return -(-nodes * (_percent(budget) or 0) // 100)


def is_numberless(budget: DisruptionBudget) -> bool:
    """Return whether Karpenter can't read a budget's number: the API server lets 30 digits through."""
    return parse_int64(budget.nodes) is None and _percent(budget) is None


def _percent(budget: DisruptionBudget) -> int | None:
    return parse_int64(budget.nodes[:-1]) if budget.nodes.endswith("%") else None


def is_unreadable(budget: DisruptionBudget) -> bool:
    """Return whether Karpenter can't tell when a budget holds; the API server lets such schedules through."""
    if budget.schedule is None and budget.duration is None:
        return False
    try:
        parse_cron(budget.schedule or "")
    except CronError:
        return True
    return False


def is_active(budget: DisruptionBudget, at: datetime) -> bool:
    """Return whether a budget holds at a UTC instant; its schedule has to be readable.

    A schedule that hits on no day at all, such as 30 February, holds all the time: Karpenter takes the
    missing hit for one in the past.
    """
    return _until(budget, at)[0]


@lru_cache(maxsize=512)
def find_active_minutes(budget: DisruptionBudget, begin: datetime, minutes: int) -> int:
    """Return the minutes from `begin` (a whole UTC minute) at which a budget holds, one bit for each."""
    found, minute = 0, 0
    while minute < minutes:
        holds, until = _until(budget, begin + minute * _MINUTE)
        end = minutes if until is None else min(minutes, (until - begin) // _MINUTE)
        if holds:
            found |= ((1 << (end - minute)) - 1) << minute
        minute = end
    return found


def _until(budget: DisruptionBudget, at: datetime) -> tuple[bool, datetime | None]:
    """Return whether a budget holds at an instant, and up to when at least that stays so; None is for ever."""
    if budget.schedule is None and budget.duration is None:
        return True, None
    length = timedelta(minutes=_minutes(budget.duration or "0m"))
    since = at - length
    hit = parse_cron(budget.schedule or "").following(since)
    if hit is None:
        # Where no year that is searched has a hit, a later one may: the search moves on with the year.
        soon = since + timedelta(seconds=1)
        return True, soon.replace(year=soon.year + 1, month=1, day=1, hour=0, minute=0, second=0) + length
    return (True, hit + length) if hit <= at else (False, hit)


def _minutes(duration: str) -> int:
    return sum(int(number) * _UNITS[unit] for number, unit in re.findall(r"(\d+)([hms])", duration))
