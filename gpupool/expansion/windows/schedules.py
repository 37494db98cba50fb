"""Cron schedules with durations for weekly stretches of UTC time."""

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple, TypeAlias

from gpupool.expansion.windows.week import DAY

ALL_MONTHS = frozenset(range(1, 13))
ALL_DAYS = frozenset(range(7))

_RANGE = 3
"""The number of consecutive numbers from which on they are written as a range."""

_Rectangle: TypeAlias = tuple[frozenset[int], frozenset[int]]


class Stretch(NamedTuple):
    """A continuous stretch of the UTC week that recurs in some months."""

    start: int
    """The minute of the UTC week, from Monday 00:00."""

    length: int
    """The length in minutes."""

    months: frozenset[int] = ALL_MONTHS
    """The UTC months in which it begins; it can end in the next month."""


def build_schedules(stretches: Iterable[Stretch]) -> list[tuple[str, str]]:
    """Return the schedule and duration of each budget for these stretches.

    Schedules for the whole year come first, then the others, sorted by time of day.
    """
    entries: list[tuple[bool, int, int, str]] = []
    months_of_days: dict[tuple[int, int], dict[int, frozenset[int]]] = {}
    for stretch in stretches:
        day, minute = divmod(stretch.start, DAY)
        months_of_day = months_of_days.setdefault((minute, stretch.length), {})
        months_of_day[day] = months_of_day.get(day, frozenset()) | stretch.months
    for (minute, length), months_of_day in months_of_days.items():
        entries += [
            (months != ALL_MONTHS, minute, length, _format_cron(minute, months, days))
            for months, days in _find_rectangles(months_of_day)
        ]
    return [(cron, format_duration(length)) for _, _, length, cron in sorted(entries)]


def format_duration(minutes: int) -> str:
    """Format a duration as in budgets: `8h`, `8h30m`, `30m`."""
    hours, rest = divmod(minutes, 60)
    return (f"{hours}h" if hours else "") + (f"{rest}m" if rest else "")


def _find_rectangles(months_of_day: dict[int, frozenset[int]]) -> list[_Rectangle]:
    """Return rectangles of months x days that cover the months of each day: the shorter of two covers.

    Either each day is covered by itself, or the months that all days share come first.
    """
    shared = frozenset.intersection(*months_of_day.values())
    besides = {day: months - shared for day, months in months_of_day.items()}
    first = [(shared, frozenset(months_of_day))] if shared else []
    return min([*first, *_group_days(besides)], _group_days(months_of_day), key=len)


def _group_days(months_of_day: dict[int, frozenset[int]]) -> list[_Rectangle]:
    """Group the days that have the same months."""
    days_of_months: dict[frozenset[int], set[int]] = {}
    for day, months in months_of_day.items():
        days_of_months.setdefault(months, set()).add(day)
    return [(months, frozenset(days)) for months, days in days_of_months.items() if months]


def _format_cron(minute: int, months: frozenset[int], days: frozenset[int]) -> str:
    """Format the five cron fields; Monday is 0 in `days`, and Sunday is 0 in cron."""
    hour, minute = divmod(minute, 60)
    month = "*" if months == ALL_MONTHS else _format_ranges(months)
    weekday = "*" if days == ALL_DAYS else _format_ranges({(day + 1) % 7 for day in days})
    return f"{minute} {hour} * {month} {weekday}"


def _format_ranges(numbers: Iterable[int]) -> str:
    """Format numbers as in `1-3,11,12`: two consecutive numbers stay a list."""
    parts: list[str] = []
    for _, run in groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0]):
        row = [number for _, number in run]
        parts += [f"{row[0]}-{row[-1]}"] if len(row) >= _RANGE else map(str, row)
    return ",".join(parts)
