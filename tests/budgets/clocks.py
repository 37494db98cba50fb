"""The clocks on the wall in a time zone, read from the `tzdata` package through zoneinfo."""

from array import array
from collections.abc import Iterable
from datetime import timedelta
from functools import lru_cache
from importlib import resources
from zoneinfo import ZoneInfo

from gpupool.blueprint.windows import Window
from tests.budgets.spans import Span

WEEK = 7 * 24 * 60
QUARTER = 15
"""Since 1972 clocks have changed at whole quarters of an hour UTC only."""


class Clock:
    """What a clock shows at each minute of a span, as minutes since Monday 00:00."""

    def __init__(self, shown: Iterable[int]) -> None:
        self.shown = array("H", shown)

    def inside(self, window: Window) -> int:
        """Give the minutes at which the local day and time lie in the window."""
        return _inside(self, window.days, window.hours)


@lru_cache(maxsize=256)
def _inside(clock: Clock, days: frozenset[int], hours: tuple[int, int] | None) -> int:
    table = ["1" if says(days, hours, minute) else "0" for minute in range(WEEK)]
    return int("".join(map(table.__getitem__, reversed(clock.shown))), 2)


def says(days: frozenset[int], hours: tuple[int, int] | None, minute_of_week: int) -> bool:
    """Say whether a window holds at this local time; hours that end before they start end on the next day."""
    day, minute = divmod(minute_of_week, 24 * 60)
    if hours is None:
        return day in days
    start, end = hours
    if start < end:
        return day in days and start <= minute < end
    return (day in days and minute >= start) or ((day - 1) % 7 in days and minute < end)


@lru_cache(maxsize=64)
def on_the_wall(timezone: str, span: Span) -> Clock:
    zone = load(timezone)
    shown: list[int] = []
    for quarter in range(0, span.minutes, QUARTER):
        local = (span.begin + timedelta(minutes=quarter)).astimezone(zone)
        first = local.weekday() * 24 * 60 + local.hour * 60 + local.minute
        shown += ((first + minute) % WEEK for minute in range(QUARTER))
    return Clock(shown[: span.minutes])


@lru_cache(maxsize=64)
def never_changed(offset: int, span: Span) -> Clock:
    """Give a clock that is always `offset` minutes ahead of UTC."""
    first = span.begin.weekday() * 24 * 60 + span.begin.hour * 60 + span.begin.minute + offset
    return Clock((first + minute) % WEEK for minute in range(span.minutes))


@lru_cache(maxsize=64)
def offsets(timezone: str, span: Span) -> frozenset[int]:
    """Give the offsets of the year round the span."""
    zone = load(timezone)
    noons = (span.begin + timedelta(days=day) for day in range(-184, 184, 7))
    return frozenset(
        int((noon.astimezone(zone).utcoffset() or timedelta()) / timedelta(minutes=1)) for noon in noons
    )


@lru_cache(maxsize=64)
def load(timezone: str) -> ZoneInfo:
    with resources.files("tzdata").joinpath("zoneinfo", *timezone.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=timezone)
