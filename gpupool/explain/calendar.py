"""Disruption calendar of a NodePool: the nodes that can be disrupted in each local hour of a week."""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple, TypeAlias

from gpupool.errors import UsageError
from gpupool.expansion.windows.timezones import load_zone
from gpupool.karpenter import labels
from gpupool.karpenter.budgets import (
    REASONS,
    DisruptionBudget,
    count_nodes,
    find_active_minutes,
    is_for_reason,
    is_numberless,
    is_unreadable,
    read_budgets,
)
from gpupool.yamlio.located import Plain, plain_map

DAYS_IN_WEEK, HOURS_IN_DAY = 7, 24
_QUARTER = 15
"""Minutes; since 1972 all offset changes have been at whole quarters of an hour in UTC."""

_YEARS = range(1973, 9991)
"""Schedules are searched for five years, and the last year of a date is 9999."""

_MARGIN = timedelta(days=2)
"""The time before and after the local week in UTC, more than the offset of any time zone."""

_MINUTES = (7 * 24 + 4 * 24) * 60
_DEFAULT_EXPIRY = "720h"

Week: TypeAlias = tuple[tuple[int | None, ...], ...]
"""A row of 24 numbers for each day, from Monday; None is an hour that daylight saving skips."""


class Calendar(NamedTuple):
    """The number of nodes of one NodePool that Karpenter can disrupt in each hour of a week."""

    name: str
    """The name of the NodePool."""

    timezone: str
    nodes: int
    """The assumed number of nodes in the pool."""

    monday: date
    weeks: Mapping[str, Week]
    """For each reason the smallest number in each hour, at most `nodes`."""

    changing: Mapping[str, frozenset[tuple[int, int]]]
    """For each reason the days and hours in which the number changes."""

    budgets: tuple[DisruptionBudget, ...]
    unreadable: tuple[DisruptionBudget, ...]
    """The budgets whose schedule Karpenter cannot parse; with such a budget, no node can be disrupted."""

    ruled_out: Mapping[str, str]
    """The reasons for which Karpenter never disrupts nodes of this pool, and the cause of each."""

    expire_after: str
    """The maximum lifetime of a node; budgets do not apply to expiration."""


def build_calendar(body: Plain, nodes: int, timezone: str, day: date) -> Calendar:
    """Calculate the calendar of the week that contains `day`, for a NodePool with a number of nodes.

    Raises:
        UnknownTimezoneError: for a name that is not in the time zone database.
        UsageError: for a year outside the range in which time zones and schedules can be calculated.
    """
    if day.year not in _YEARS:
        message = f"no calendar for {day.isoformat()}; the year must be {_YEARS[0]} to {_YEARS[-1]}"
        raise UsageError(message)
    monday = day - timedelta(days=day.weekday())
    begin = datetime(monday.year, monday.month, monday.day, tzinfo=UTC) - _MARGIN
    cells = _local_hours(timezone, monday, begin)
    budgets = read_budgets(body)
    unreadable = tuple(budget for budget in budgets if is_unreadable(budget))
    weeks: dict[str, Week] = {}
    changing: dict[str, frozenset[tuple[int, int]]] = {}
    for reason in REASONS:
        bounds = [(0, -1)] if unreadable else sorted(_bounds(budgets, reason, nodes, begin))
        numbers = {cell: _numbers(bounds, minutes, nodes) for cell, minutes in cells.items()}
        weeks[reason] = tuple(
            tuple(min(numbers[row, hour], default=None) for hour in range(HOURS_IN_DAY))
            for row in range(DAYS_IN_WEEK)
        )
        changing[reason] = frozenset(cell for cell, values in numbers.items() if len(values) > 1)
    spec = plain_map(body).get("spec")
    expiry = plain_map(plain_map(plain_map(spec).get("template")).get("spec")).get("expireAfter")
    return Calendar(
        name=str(plain_map(plain_map(body).get("metadata")).get("name") or ""),
        timezone=timezone, nodes=nodes, monday=monday, weeks=weeks, changing=changing,
        budgets=budgets, unreadable=unreadable, ruled_out=dict(_ruled_out(spec)),
        expire_after=_DEFAULT_EXPIRY if expiry is None else str(expiry),
    )  # fmt: skip


def _local_hours(timezone: str, monday: date, begin: datetime) -> dict[tuple[int, int], int]:
    """Return for each day and local hour its UTC minutes after `begin`, as a bit mask.

    An hour that daylight saving skips has no minutes; a repeated hour has those of both.
    """
    zone = load_zone(timezone)
    cells = {(row, hour): 0 for row in range(DAYS_IN_WEEK) for hour in range(HOURS_IN_DAY)}
    for minute in range(0, _MINUTES, _QUARTER):
        local = (begin + timedelta(minutes=minute)).astimezone(zone)
        cell = (local.date() - monday).days, local.hour
        if cell in cells:
            cells[cell] |= ((1 << _QUARTER) - 1) << minute
    return cells


def _bounds(
    budgets: tuple[DisruptionBudget, ...], reason: str, nodes: int, begin: datetime
) -> Iterator[tuple[int, int]]:
    """Yield the number of each budget that applies, and the minutes in which it is active."""
    for budget in budgets:
        if is_for_reason(budget, reason) or is_numberless(budget):
            yield max(0, count_nodes(budget, nodes)), find_active_minutes(budget, begin, _MINUTES)


def _numbers(bounds: list[tuple[int, int]], minutes: int, nodes: int) -> set[int]:
    """Return the numbers that apply in these minutes; `bounds` are sorted, the smallest first."""
    values = set()
    for number, active_minutes in bounds:
        if minutes & active_minutes:
            values.add(min(number, nodes))
            minutes &= ~active_minutes
    return values | {nodes} if minutes else values


def _ruled_out(spec: Plain) -> Iterator[tuple[str, str]]:
    disruption = plain_map(spec).get("disruption")
    annotations = plain_map(plain_map(plain_map(spec).get("template")).get("metadata")).get("annotations")
    if plain_map(annotations).get(labels.DO_NOT_DISRUPT) == "true":
        yield from ((reason, f"`{labels.DO_NOT_DISRUPT}` on every node") for reason in REASONS)
    elif plain_map(spec).get("replicas") is not None:
        yield from ((reason, "a static pool keeps its `replicas`") for reason in ("Empty", "Underutilized"))
    elif plain_map(disruption).get("consolidateAfter") == "Never":
        yield from ((reason, "`consolidateAfter: Never`") for reason in ("Empty", "Underutilized"))
    elif plain_map(disruption).get("consolidationPolicy") == "WhenEmpty":
        yield "Underutilized", "`consolidationPolicy: WhenEmpty`"
