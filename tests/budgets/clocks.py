"""The clocks on the wall in a time zone, read from the `tzdata` package through zoneinfo."""

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
    """What a clock shows in a span: runs of minutes that follow one another, each from a minute of the week on."""

    def __init__(self, runs: Iterable[tuple[int, int]]) -> None:
        self.runs: list[tuple[int, int]] = []
        for first, length in runs:
            before, so_far = self.runs[-1] if self.runs else (0, 0)
            if self.runs and (before + so_far) % WEEK == first:
                self.runs[-1] = (before, so_far + length)
            else:
                self.runs.append((first, length))

    def inside(self, window: Window) -> int:
        """Return the minutes at which the local day and time lie in the window."""
        week = _said(window.days, window.hours)
        shown = "".join((week * (length // WEEK + 2))[first : first + length] for first, length in self.runs)
        return int(shown[::-1], 2)


@lru_cache(maxsize=256)
def _said(days: frozenset[int], hours: tuple[int, int] | None) -> str:
    return "".join("1" if says(days, hours, minute) else "0" for minute in range(WEEK))


def says(days: frozenset[int], hours: tuple[int, int] | None, minute_of_week: int) -> bool:
    """Return whether a window holds at this local time; hours that end before they start end on the next day."""
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
    quarters = range(0, span.minutes, QUARTER)
    shown = ((span.begin + timedelta(minutes=quarter)).astimezone(zone) for quarter in quarters)
    return Clock((local.weekday() * 24 * 60 + local.hour * 60 + local.minute, QUARTER) for local in shown)


@lru_cache(maxsize=64)
def never_changed(offset: int, span: Span) -> Clock:
    """Return a clock that is always `offset` minutes ahead of UTC."""
    first = span.begin.weekday() * 24 * 60 + span.begin.hour * 60 + span.begin.minute + offset
    return Clock([(first % WEEK, span.minutes)])


@lru_cache(maxsize=64)
def offsets(timezone: str, span: Span) -> frozenset[int]:
    """Return the offsets of the year round the span."""
    zone = load(timezone)
    noons = (span.begin + timedelta(days=day) for day in range(-184, 184, 7))
    return frozenset(
        int((noon.astimezone(zone).utcoffset() or timedelta()) / timedelta(minutes=1)) for noon in noons
    )


@lru_cache(maxsize=64)
def load(timezone: str) -> ZoneInfo:
    with resources.files("tzdata").joinpath("zoneinfo", *timezone.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=timezone)
