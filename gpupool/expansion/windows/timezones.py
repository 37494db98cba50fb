"""UTC offsets of time zones: the recurring rule of a zone, for any future year.

The rule is the one for years after the zone's table of dated changes. It is read from the `tzdata` package,
so it is the same on every computer and on every day.
"""

from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from typing import NamedTuple
from zoneinfo import ZoneInfo

from gpupool.blueprint.timezones import timezone_names
from gpupool.expansion.windows.week import DAY, WEEK

_EPOCH = datetime(1, 1, 1, tzinfo=UTC)
"""A Monday at 00:00, so an instant modulo WEEK is a minute of the week."""

_MINUTE = timedelta(minutes=1)
_FIRST_YEAR, _LAST_YEAR = 2401, 2428
"""28 years without an exceptional leap year contain every calendar, and every date of a change."""

_DATED_YEAR = 2040
"""Tables of dated changes that follow a rule end in 2037; later changes do not follow a rule."""

_FOUR_CENTURIES = 146_097 * DAY
"""The period after which the calendar repeats; far longer than any table of dated changes."""

_STEP = 4 * WEEK
"""The search step; no rule keeps an offset for a shorter time."""

_MONTHS = 12


class UnknownTimezoneError(ValueError):
    """A name that is not in the time zone database."""

    def __init__(self, name: str) -> None:
        super().__init__(f"unknown time zone `{name}`")


class Regime(NamedTuple):
    """A combination of UTC offsets, one for each zone, and the times at which it is in effect."""

    offsets: tuple[int, ...]
    """Minutes east of UTC, in the order of the zones."""

    spells: tuple[tuple[int, int], ...]
    """The begin and end of each spell, in UTC minutes since the year 1, over 28 years."""

    def months(self, start: int, length: int) -> frozenset[int]:
        """Return the UTC months in which a weekly stretch begins that overlaps this regime.

        `start` is a minute of the UTC week. One minute of overlap is enough, so a stretch can begin before
        the regime does, and in an earlier month.
        """
        months: set[int] = set()
        for begin, end in self.spells:
            earliest = begin - length + 1
            first = earliest + (start - earliest) % WEEK
            last = end - 1 - (end - 1 - start) % WEEK
            if first <= last:
                months |= _months_between(first, last)
        return frozenset(months)


def _months_between(first: int, last: int) -> frozenset[int]:
    begin = date.fromordinal(first // DAY + 1)
    end = date.fromordinal(last // DAY + 1)
    return _months_from(begin.month, (end.year - begin.year) * _MONTHS + end.month - begin.month + 1)


@lru_cache(maxsize=512)
def _months_from(first: int, count: int) -> frozenset[int]:
    return frozenset((first - 1 + step) % _MONTHS + 1 for step in range(min(count, _MONTHS)))


@lru_cache(maxsize=256)
def find_regimes(zones: tuple[str, ...]) -> tuple[Regime, ...]:
    """Return the combinations of offsets by the zones' recurring rules, western offsets first.

    Raises:
        UnknownTimezoneError: for the first name that is not in the database.
    """
    rules = [_find_spells(zone) for zone in zones]
    cuts = sorted({begin for rule in rules for begin, _, _ in rule} | {rules[0][-1][1]})
    spells: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for begin, end in pairwise(cuts):
        offsets = tuple(
            next(offset for start, stop, offset in rule if start <= begin < stop) for rule in rules
        )
        spells.setdefault(offsets, []).append((begin, end))
    return tuple(Regime(offsets, tuple(spells[offsets])) for offsets in sorted(spells))


@lru_cache(maxsize=256)
def _find_spells(name: str) -> tuple[tuple[int, int, int], ...]:
    """Return the begin, end and offset of each spell of one offset."""
    zone = load_zone(name)
    end = _year_start(_LAST_YEAR + 1)
    spells: list[tuple[int, int, int]] = []
    begin = checked = _year_start(_FIRST_YEAR)
    offset = _find_offset(zone, begin)
    for minute in (*range(begin + _STEP, end, _STEP), end - 1):
        if _find_offset(zone, minute) != offset:
            change = _find_change(zone, checked, minute)
            spells.append((begin, change, offset))
            begin, offset = change, _find_offset(zone, change)
        checked = minute
    return (*spells, (begin, end, offset))


def _find_change(zone: ZoneInfo, before: int, after: int) -> int:
    """Find the first minute with the offset of `after`."""
    new = _find_offset(zone, after)
    while after - before > 1:
        middle = (before + after) // 2
        if _find_offset(zone, middle) == new:
            after = middle
        else:
            before = middle
    return after


def _find_offset(zone: ZoneInfo, minute: int) -> int:
    """Return the offset in minutes east of UTC; recurring rules have no seconds."""
    offset = (_EPOCH + minute * _MINUTE).astimezone(zone).utcoffset()
    return (offset or timedelta()) // _MINUTE


def _year_start(year: int) -> int:
    return (datetime(year, 1, 1, tzinfo=UTC) - _EPOCH) // _MINUTE


@lru_cache(maxsize=256)
def has_dated_changes(name: str) -> bool:
    """Return whether the zone has changes on dates that follow no rule, as with a lunar calendar."""
    zone = load_zone(name)
    days = range(_year_start(_DATED_YEAR), _year_start(_DATED_YEAR + 1), WEEK)
    return any(_find_offset(zone, day) != _find_offset(zone, day + _FOUR_CENTURIES) for day in days)


@lru_cache(maxsize=256)
def load_zone(name: str) -> ZoneInfo:
    """Load a zone from the `tzdata` package, never from the operating system."""
    if name not in timezone_names():
        raise UnknownTimezoneError(name)
    with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)
