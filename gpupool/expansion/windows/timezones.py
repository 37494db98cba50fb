"""The standing rule of a time zone: which UTC offset holds when, in any year to come.

The rule is what the zone's file gives for the years after its table of dated changes. It is read from
the `tzdata` package, so it is the same on every machine and on every day.
"""

from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from typing import NamedTuple
from zoneinfo import ZoneInfo

from gpupool.blueprint.timezones import find_similar_timezones, timezone_names
from gpupool.expansion.windows.week import DAY, WEEK

_EPOCH = datetime(1, 1, 1, tzinfo=UTC)
"""A Monday at 00:00, so an instant modulo WEEK is a minute of the week."""

_MINUTE = timedelta(minutes=1)
_FIRST_YEAR, _LAST_YEAR = 2401, 2428
"""28 years without an exception to the leap years hold each calendar and each date of a change."""

_DATED_YEAR = 2040
"""Tables of dated changes that only write a rule out end with 2037; what is left by now is no rule."""

_FOUR_CENTURIES = 146_097 * DAY
"""After which the calendar is the same again, and long after any dated change."""

_STEP = 4 * WEEK
"""No standing rule keeps an offset for a shorter time."""

_MONTHS = 12


class UnknownTimezoneError(ValueError):
    """A name that the time zone database does not know."""

    def __init__(self, name: str) -> None:
        super().__init__(f"unknown time zone `{name}`")
        self.nearest = find_similar_timezones(name)


class Regime(NamedTuple):
    """A set of UTC offsets, one for each zone asked about, and the times at which just these hold."""

    offsets: tuple[int, ...]
    """Minutes east of UTC, in the order of the zones."""

    spells: tuple[tuple[int, int], ...]
    """Begin and end of each spell, in UTC minutes since the year 1; 28 years of them."""

    def months(self, start: int, length: int) -> frozenset[int]:
        """Return the UTC months in which a weekly stretch must begin to cover all it meets of this regime.

        `start` is a minute of the UTC week. A stretch counts as soon as one of its minutes lies in the
        regime, so it may begin before the regime does, and in an earlier month.
        """
        found: set[int] = set()
        for begin, end in self.spells:
            earliest = begin - length + 1
            first = earliest + (start - earliest) % WEEK
            last = end - 1 - (end - 1 - start) % WEEK
            if first <= last:
                found |= _months_between(first, last)
        return frozenset(found)


def _months_between(first: int, last: int) -> frozenset[int]:
    begin = date.fromordinal(first // DAY + 1)
    end = date.fromordinal(last // DAY + 1)
    return _months_from(begin.month, (end.year - begin.year) * _MONTHS + end.month - begin.month + 1)


@lru_cache(maxsize=512)
def _months_from(first: int, count: int) -> frozenset[int]:
    return frozenset((first - 1 + step) % _MONTHS + 1 for step in range(min(count, _MONTHS)))


@lru_cache(maxsize=256)
def find_regimes(zones: tuple[str, ...]) -> tuple[Regime, ...]:
    """Return the combinations of offsets that the zones' standing rules bring about, western offsets first.

    Raises UnknownTimezoneError for the first name that is not in the database.
    """
    rules = [_spells(zone) for zone in zones]
    cuts = sorted({begin for rule in rules for begin, _, _ in rule} | {rules[0][-1][1]})
    spells: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for begin, end in pairwise(cuts):
        offsets = tuple(
            next(offset for start, stop, offset in rule if start <= begin < stop) for rule in rules
        )
        spells.setdefault(offsets, []).append((begin, end))
    return tuple(Regime(offsets, tuple(spells[offsets])) for offsets in sorted(spells))


@lru_cache(maxsize=256)
def _spells(name: str) -> tuple[tuple[int, int, int], ...]:
    """Return begin, end and offset of each spell of one offset."""
    zone = load_zone(name)
    end = _instant(_LAST_YEAR + 1)
    spells: list[tuple[int, int, int]] = []
    begin = seen = _instant(_FIRST_YEAR)
    offset = _offset(zone, begin)
    for minute in (*range(begin + _STEP, end, _STEP), end - 1):
        if _offset(zone, minute) != offset:
            change = _change(zone, seen, minute)
            spells.append((begin, change, offset))
            begin, offset = change, _offset(zone, change)
        seen = minute
    return (*spells, (begin, end, offset))


def _change(zone: ZoneInfo, before: int, after: int) -> int:
    """Return the first minute with the offset of `after`."""
    new = _offset(zone, after)
    while after - before > 1:
        middle = (before + after) // 2
        if _offset(zone, middle) == new:
            after = middle
        else:
            before = middle
    return after


def _offset(zone: ZoneInfo, minute: int) -> int:
    """Return the minutes east of UTC; the standing rules know no seconds."""
    offset = (_EPOCH + minute * _MINUTE).astimezone(zone).utcoffset()
    return (offset or timedelta()) // _MINUTE


def _instant(year: int) -> int:
    return (datetime(year, 1, 1, tzinfo=UTC) - _EPOCH) // _MINUTE


@lru_cache(maxsize=256)
def has_dated_changes(name: str) -> bool:
    """Return whether the zone's table holds dated changes, of a lunar calendar say, that its rule does not."""
    zone = load_zone(name)
    days = range(_instant(_DATED_YEAR), _instant(_DATED_YEAR + 1), WEEK)
    return any(_offset(zone, day) != _offset(zone, day + _FOUR_CENTURIES) for day in days)


@lru_cache(maxsize=256)
def load_zone(name: str) -> ZoneInfo:
    """Load a zone from the `tzdata` package, never from the host."""
    if name not in timezone_names():
        raise UnknownTimezoneError(name)
    with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)
