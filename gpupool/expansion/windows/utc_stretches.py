"""Local windows as stretches of the UTC week: right, or on the safe side, in every month.

A month that knows two offsets gets the stretches of both, whether they protect or close.
"""

from collections.abc import Iterable
from functools import lru_cache, reduce
from operator import and_, or_
from typing import NamedTuple

from gpupool.blueprint.windows import Window
from gpupool.expansion.windows.schedules import Stretch
from gpupool.expansion.windows.timezones import Regime, find_regimes
from gpupool.expansion.windows.week import DAY, NEVER, WEEK, find_stretches, invert_minutes, stretch_minutes


class Occurrence(NamedTuple):
    """The window that begins on one local day, as one of the zone's offsets puts it into the UTC week."""

    day: int
    stretch: Stretch


@lru_cache(maxsize=1024)
def find_occurrences(window: Window) -> tuple[Occurrence, ...]:
    """Return each day of the window under each offset of its zone."""
    found: list[Occurrence] = []
    for regime in find_regimes((window.timezone,)):
        days = sorted(window.days)
        starts = [(day * DAY + window.start - regime.offsets[0]) % WEEK for day in days]
        found += map(Occurrence, days, _in_months(regime, ((start, window.length) for start in starts)))
    return tuple(found)


@lru_cache(maxsize=1024)
def find_closed_stretches(windows: tuple[Window, ...]) -> tuple[Stretch, ...]:
    """Return what lies outside all the windows: what does so all year, then the edges that move.

    Only the edges need months. They are short, so none of them reaches far into the next month.
    """
    zones = tuple(dict.fromkeys(window.timezone for window in windows))
    closed = [(regime, invert_minutes(_open(windows, zones, regime))) for regime in find_regimes(zones)]
    always = reduce(and_, (minutes for _, minutes in closed))
    found = [Stretch(start, length) for start, length in find_stretches(always)]
    for regime, minutes in closed:
        found += _in_months(regime, find_stretches(minutes & ~always))
    return tuple(found)


def _open(windows: Iterable[Window], zones: tuple[str, ...], regime: Regime) -> int:
    """Return the UTC minutes of the week inside any window while these offsets hold."""
    inside = (
        stretch_minutes(
            day * DAY + window.start - regime.offsets[zones.index(window.timezone)], window.length
        )
        for window in windows
        for day in window.days
    )
    return reduce(or_, inside, NEVER)


def _in_months(regime: Regime, spans: Iterable[tuple[int, int]]) -> list[Stretch]:
    """Return each stretch the months that it needs, and those that most of its like on other days need.

    A change on a Sunday spares that Sunday's own stretch the rest of the month; to leave it out would
    cost a budget more and spare nobody a surprise.
    """
    found = [Stretch(start, length, regime.months(start, length)) for start, length in spans]
    alike: dict[tuple[int, int], list[Stretch]] = {}
    for each in found:
        alike.setdefault((each.start % DAY, each.length), []).append(each)
    return [
        each._replace(months=each.months | _usual_months(alike[each.start % DAY, each.length]))
        for each in found
    ]


def _usual_months(alike: list[Stretch]) -> frozenset[int]:
    months = range(1, 13)
    return frozenset(
        month for month in months if 2 * sum(month in each.months for each in alike) > len(alike)
    )
