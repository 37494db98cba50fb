"""Conversion of local windows to stretches of the UTC week, on the safe side in every month.

In a month with two offsets, the stretches of both apply, whether they protect or close.
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
    """The window that begins on one local day, in the UTC week, by one of the zone's offsets."""

    day: int
    stretch: Stretch


@lru_cache(maxsize=1024)
def find_occurrences(window: Window) -> tuple[Occurrence, ...]:
    """Return an occurrence for each day of the window and each offset of its zone."""
    occurrences: list[Occurrence] = []
    for regime in find_regimes((window.timezone,)):
        days = sorted(window.days)
        starts = [(day * DAY + window.start - regime.offsets[0]) % WEEK for day in days]
        occurrences += map(
            Occurrence, days, _limit_to_months(regime, ((start, window.length) for start in starts))
        )
    return tuple(occurrences)


@lru_cache(maxsize=1024)
def find_closed_stretches(windows: tuple[Window, ...]) -> tuple[Stretch, ...]:
    """Return the stretches outside all windows: first those of the whole year, then the edges that move.

    Only the edges are limited to months. They are short, so none extends far into the next month.
    """
    zones = tuple(dict.fromkeys(window.timezone for window in windows))
    closed = [
        (regime, invert_minutes(_open_minutes(windows, zones, regime))) for regime in find_regimes(zones)
    ]
    always = reduce(and_, (minutes for _, minutes in closed))
    stretches = [Stretch(start, length) for start, length in find_stretches(always)]
    for regime, minutes in closed:
        stretches += _limit_to_months(regime, find_stretches(minutes & ~always))
    return tuple(stretches)


def _open_minutes(windows: Iterable[Window], zones: tuple[str, ...], regime: Regime) -> int:
    """Return the UTC minutes of the week inside any window while these offsets are in effect."""
    inside = (
        stretch_minutes(
            day * DAY + window.start - regime.offsets[zones.index(window.timezone)], window.length
        )
        for window in windows
        for day in window.days
    )
    return reduce(or_, inside, NEVER)


def _limit_to_months(regime: Regime, spans: Iterable[tuple[int, int]]) -> list[Stretch]:
    """Return the stretches with their months, extended by the months that most of them have.

    A change on a Sunday ends the month's need of that Sunday's stretch only; a different month for it would
    need one more budget without benefit.
    """
    stretches = [Stretch(start, length, regime.months(start, length)) for start, length in spans]
    similar: dict[tuple[int, int], list[Stretch]] = {}
    for stretch in stretches:
        similar.setdefault((stretch.start % DAY, stretch.length), []).append(stretch)
    return [
        stretch._replace(months=stretch.months | _usual_months(similar[stretch.start % DAY, stretch.length]))
        for stretch in stretches
    ]


def _usual_months(stretches: list[Stretch]) -> frozenset[int]:
    months = range(1, 13)
    return frozenset(
        month
        for month in months
        if 2 * sum(month in stretch.months for stretch in stretches) > len(stretches)
    )
