"""Weekly stretches of UTC time written as cron schedules with durations, in as few as read well."""

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple, TypeAlias

from gpupool.expansion.windows.week import DAY

ALL_MONTHS = frozenset(range(1, 13))
ALL_DAYS = frozenset(range(7))

_RANGE = 3
"""Numbers in a row that are written as a range."""

_Rectangle: TypeAlias = tuple[frozenset[int], frozenset[int]]


class Stretch(NamedTuple):
    """An unbroken stretch of the UTC week that comes back in some months."""

    start: int
    """The minute of the UTC week, from Monday 00:00."""

    length: int
    """In minutes."""

    months: frozenset[int] = ALL_MONTHS
    """The UTC months in which it begins; one that begins on a month's last evening ends in the next."""


def build_schedules(stretches: Iterable[Stretch]) -> list[tuple[str, str]]:
    """Return schedule and duration of each budget that these stretches need.

    What comes back all year stands first, then the rest by time of day.
    """
    written: list[tuple[bool, int, int, str]] = []
    months_of_days: dict[tuple[int, int], dict[int, frozenset[int]]] = {}
    for each in stretches:
        day, minute = divmod(each.start, DAY)
        months_of_day = months_of_days.setdefault((minute, each.length), {})
        months_of_day[day] = months_of_day.get(day, frozenset()) | each.months
    for (minute, length), months_of_day in months_of_days.items():
        written += [
            (months != ALL_MONTHS, minute, length, _cron(minute, months, days))
            for months, days in _rectangles(months_of_day)
        ]
    return [(cron, format_duration(length)) for _, _, length, cron in sorted(written)]


def format_duration(minutes: int) -> str:
    """Write a duration as a budget takes it: `8h`, `8h30m`, `30m`."""
    hours, rest = divmod(minutes, 60)
    return (f"{hours}h" if hours else "") + (f"{rest}m" if rest else "")


def _rectangles(months_of_day: dict[int, frozenset[int]]) -> list[_Rectangle]:
    """Cover the days' months by months x days, day by day or with what all share first: the shorter one."""
    shared = frozenset.intersection(*months_of_day.values())
    besides = {day: months - shared for day, months in months_of_day.items()}
    first = [(shared, frozenset(months_of_day))] if shared else []
    return min([*first, *_alike(besides)], _alike(months_of_day), key=len)


def _alike(months_of_day: dict[int, frozenset[int]]) -> list[_Rectangle]:
    """Put together the days that have the same months."""
    days_of_months: dict[frozenset[int], set[int]] = {}
    for day, months in months_of_day.items():
        days_of_months.setdefault(months, set()).add(day)
    return [(months, frozenset(days)) for months, days in days_of_months.items() if months]


def _cron(minute: int, months: frozenset[int], days: frozenset[int]) -> str:
    """Write the five fields; `days` has Monday as 0, cron has Sunday as 0 and knows no 7."""
    hour, minute = divmod(minute, 60)
    month = "*" if months == ALL_MONTHS else _ranges(months)
    weekday = "*" if days == ALL_DAYS else _ranges({(day + 1) % 7 for day in days})
    return f"{minute} {hour} * {month} {weekday}"


def _ranges(numbers: Iterable[int]) -> str:
    """Write `1-3,11,12`: two in a row stay a list."""
    parts: list[str] = []
    for _, run in groupby(enumerate(sorted(numbers)), lambda each: each[1] - each[0]):
        row = [number for _, number in run]
        parts += [f"{row[0]}-{row[-1]}"] if len(row) >= _RANGE else map(str, row)
    return ",".join(parts)
