"""Disruption budgets: how many nodes of a pool Karpenter may disrupt.

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
"""The reasons for a disruption, in the order in which Karpenter tries them."""

UNBOUNDED: Final = 2**31 - 1
"""The number of allowed disruptions where no budget applies."""

_MINUTE: Final = timedelta(minutes=1)
_UNITS: Final = {"h": 60, "m": 1, "s": 0}


class DisruptionBudget(NamedTuple):
    """One disruption budget of a NodePool; of all that apply, Karpenter uses the smallest."""

    nodes: str
    reasons: tuple[str, ...] | None = None
    """None means every reason; an empty tuple means no reason, and the budget does nothing."""

    schedule: str | None = None
    """Five cron fields in UTC; without one the budget always applies."""

    duration: str | None = None
    """How long the budget applies from each hit of the schedule."""


IMPLICIT: Final = (DisruptionBudget("10%"),)
"""The API server's default for a NodePool without `budgets`; an empty list stays empty."""


def read_budgets(body: Plain) -> tuple[DisruptionBudget, ...]:
    """Return the budgets of a NodePool's body as the API server stores them, its defaults filled in."""
    entries = plain_map(plain_map(plain_map(body).get("spec")).get("disruption")).get("budgets")
    return tuple(map(_read_budget, entries)) if isinstance(entries, list) else IMPLICIT


def _read_budget(entry: Plain) -> DisruptionBudget:
    reasons, nodes = plain_map(entry).get("reasons"), plain_map(entry).get("nodes")
    schedule, duration = plain_map(entry).get("schedule"), plain_map(entry).get("duration")
    return DisruptionBudget(
        nodes=IMPLICIT[0].nodes if nodes is None else str(nodes),
        reasons=tuple(map(str, reasons)) if isinstance(reasons, list) else None,
        schedule=None if schedule is None else str(schedule),
        duration=None if duration is None else str(duration),
    )


def count_allowed(budgets: Iterable[DisruptionBudget], reason: str, at: datetime, nodes: int) -> int:
    """Count the nodes, of `nodes` in the pool, that may be disrupted for a reason at a UTC instant.

    One unreadable schedule, or one unreadable number of an active budget, allows none for any reason.
    Return UNBOUNDED where no budget applies; a number beyond 32 bits wraps, as in Karpenter, and may be
    negative.
    """
    all_budgets = tuple(budgets)
    if any(is_unreadable(budget) for budget in all_budgets):
        return 0
    in_force = [budget for budget in all_budgets if is_active(budget, at)]
    if any(is_numberless(budget) for budget in in_force):
        return 0
    counts = (count_nodes(budget, nodes) for budget in in_force if is_for_reason(budget, reason))
    return min(counts, default=UNBOUNDED)


def is_for_reason(budget: DisruptionBudget, reason: str) -> bool:
    """Return whether a budget limits disruption for a reason."""
    return budget.reasons is None or reason in budget.reasons


def count_nodes(budget: DisruptionBudget, nodes: int) -> int:
    """Count the nodes that a budget allows; a percentage of `nodes` is rounded up."""
    number = parse_int64(budget.nodes)
    if number is not None:
        return (number + 2**31) % 2**32 - 2**31
    return -(-nodes * (_parse_percent(budget) or 0) // 100)


def is_numberless(budget: DisruptionBudget) -> bool:
    """Return whether Karpenter can't read a budget's number; the API server accepts 30 digits."""
    return parse_int64(budget.nodes) is None and _parse_percent(budget) is None


def _parse_percent(budget: DisruptionBudget) -> int | None:
    return parse_int64(budget.nodes[:-1]) if budget.nodes.endswith("%") else None


def is_unreadable(budget: DisruptionBudget) -> bool:
    """Return whether Karpenter can't parse a budget's schedule, which the API server may still accept."""
    if budget.schedule is None and budget.duration is None:
        return False
    try:
        parse_cron(budget.schedule or "")
    except CronError:
        return True
    return False


def is_active(budget: DisruptionBudget, at: datetime) -> bool:
    """Return whether a budget applies at a UTC instant; its schedule must be readable.

    A schedule that never hits, such as 30 February, applies all the time: Karpenter reads the missing
    hit as one in the past.
    """
    return _find_state(budget, at)[0]


@lru_cache(maxsize=512)
def find_active_minutes(budget: DisruptionBudget, begin: datetime, minutes: int) -> int:
    """Find the minutes from `begin` (a whole UTC minute) at which a budget applies, as one bit each."""
    active_bits, minute = 0, 0
    while minute < minutes:
        is_holding, stable_until = _find_state(budget, begin + minute * _MINUTE)
        end = minutes if stable_until is None else min(minutes, (stable_until - begin) // _MINUTE)
        if is_holding:
            active_bits |= ((1 << (end - minute)) - 1) << minute
        minute = end
    return active_bits


def _find_state(budget: DisruptionBudget, at: datetime) -> tuple[bool, datetime | None]:
    """Return whether a budget applies at an instant, and until when at least that is so; None is for ever."""
    if budget.schedule is None and budget.duration is None:
        return True, None
    length = timedelta(minutes=_parse_minutes(budget.duration or "0m"))
    since = at - length
    hit = parse_cron(budget.schedule or "").find_next(since)
    if hit is None:
        # A later year may have a hit that this search did not reach, so the answer holds for one year.
        soon = since + timedelta(seconds=1)
        return True, soon.replace(year=soon.year + 1, month=1, day=1, hour=0, minute=0, second=0) + length
    return (True, hit + length) if hit <= at else (False, hit)


def _parse_minutes(duration: str) -> int:
    return sum(int(number) * _UNITS[unit] for number, unit in re.findall(r"(\d+)([hms])", duration))
