"""A week of disruption: how many nodes of a NodePool may go in each local hour, for each reason."""

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

DAYS, HOURS = 7, 24
ASSUMED_NODES = 10
"""What percentages are taken of where nobody says how many nodes there are."""

_QUARTER = 15
"""Since 1972 clocks have changed at whole quarters of an hour UTC only."""

_YEARS = range(1973, 9991)
"""Schedules are searched for five years, and dates end with 9999."""

_MARGIN = timedelta(days=2)
"""Before and after the week in UTC; no time zone is further away."""

_MINUTES = (7 * 24 + 4 * 24) * 60
_DEFAULT_EXPIRY = "720h"

Week: TypeAlias = tuple[tuple[int | None, ...], ...]
"""A row of 24 numbers for each day, from Monday; None is an hour that the clocks skip."""


class Calendar(NamedTuple):
    """How many nodes of one NodePool Karpenter may disrupt in each hour of a week."""

    name: str
    """The NodePool's."""

    timezone: str
    nodes: int
    """How many the pool is taken to have."""

    monday: date
    weeks: Mapping[str, Week]
    """For each reason the smallest number within each hour; never more than `nodes`."""

    changing: Mapping[str, frozenset[tuple[int, int]]]
    """For each reason the days and hours within which the number changes."""

    budgets: tuple[DisruptionBudget, ...]
    unreadable: tuple[DisruptionBudget, ...]
    """Those whose schedule Karpenter can't read; while there is one, no node may go at all."""

    ruled_out: Mapping[str, str]
    """The reasons for which Karpenter takes no node of this pool whatever the budgets say, and the cause."""

    expire_after: str
    """Expiry asks no budget."""


def calendar(body: Plain, nodes: int, timezone: str, day: date) -> Calendar:
    """Reckon the week that holds `day` for the body of a NodePool with so many nodes.

    Raises:
        UnknownTimezoneError: for a name that is not in the time zone database.
        UsageError: for a day so far away that time zones or schedules can't be reckoned.
    """
    if day.year not in _YEARS:
        message = f"no calendar for {day.isoformat()}; the year must be {_YEARS[0]} to {_YEARS[-1]}"
        raise UsageError(message)
    monday = day - timedelta(days=day.weekday())
    begin = datetime(monday.year, monday.month, monday.day, tzinfo=UTC) - _MARGIN
    cells = _cells(timezone, monday, begin)
    budgets = read_budgets(body)
    unreadable = tuple(budget for budget in budgets if is_unreadable(budget))
    weeks: dict[str, Week] = {}
    changing: dict[str, frozenset[tuple[int, int]]] = {}
    for reason in REASONS:
        bounds = [(0, -1)] if unreadable else sorted(_bounds(budgets, reason, nodes, begin))
        numbers = {cell: _numbers(bounds, minutes, nodes) for cell, minutes in cells.items()}
        weeks[reason] = tuple(
            tuple(min(numbers[row, hour], default=None) for hour in range(HOURS)) for row in range(DAYS)
        )
        changing[reason] = frozenset(cell for cell, found in numbers.items() if len(found) > 1)
    spec = plain_map(body).get("spec")
    expiry = plain_map(plain_map(plain_map(spec).get("template")).get("spec")).get("expireAfter")
    return Calendar(
        name=str(plain_map(plain_map(body).get("metadata")).get("name") or ""),
        timezone=timezone, nodes=nodes, monday=monday, weeks=weeks, changing=changing,
        budgets=budgets, unreadable=unreadable, ruled_out=dict(_ruled_out(spec)),
        expire_after=_DEFAULT_EXPIRY if expiry is None else str(expiry),
    )  # fmt: skip


def _cells(timezone: str, monday: date, begin: datetime) -> dict[tuple[int, int], int]:
    """Return for each day and local hour the UTC minutes after `begin` that it holds, one bit for each.

    An hour that the clocks skip holds none, one that comes twice holds both.
    """
    zone = load_zone(timezone)
    cells = {(row, hour): 0 for row in range(DAYS) for hour in range(HOURS)}
    for minute in range(0, _MINUTES, _QUARTER):
        local = (begin + timedelta(minutes=minute)).astimezone(zone)
        cell = (local.date() - monday).days, local.hour
        if cell in cells:
            cells[cell] |= ((1 << _QUARTER) - 1) << minute
    return cells


def _bounds(
    budgets: tuple[DisruptionBudget, ...], reason: str, nodes: int, begin: datetime
) -> Iterator[tuple[int, int]]:
    """Yield the number of each budget that counts, and the minutes at which it holds."""
    for budget in budgets:
        if is_for_reason(budget, reason) or is_numberless(budget):
            yield max(0, count_nodes(budget, nodes)), find_active_minutes(budget, begin, _MINUTES)


def _numbers(bounds: list[tuple[int, int]], minutes: int, nodes: int) -> set[int]:
    """Return every number that counts at one of these minutes; `bounds` has the smallest first."""
    found = set()
    for number, held in bounds:
        if minutes & held:
            found.add(min(number, nodes))
            minutes &= ~held
    return found | {nodes} if minutes else found


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
