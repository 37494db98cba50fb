"""Cron schedules as Karpenter parses them (robfig/cron): five fields or a name such as @daily, in UTC."""

from __future__ import annotations

from bisect import bisect_left
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.karpenter.integers import parse_int64

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

_MONTHS: Final = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_WEEKDAYS: Final = {
    name: number for number, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))
}
_FIELDS: Final[tuple[tuple[int, int, Mapping[str, int]], ...]] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, _MONTHS),
    (0, 6, _WEEKDAYS),
)
_NAMED: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_YEARS_SEARCHED: Final = 5
_ONE_DAY: Final = timedelta(days=1)
_ONE_MINUTE: Final = timedelta(minutes=1)


class CronError(ValueError):
    """A schedule that the parser rejects."""


class _Field(NamedTuple):
    values: frozenset[int]
    is_star: bool
    """Whether the field restricts nothing; a step above 1 makes a star a restriction."""


class Cron(NamedTuple):
    """A schedule; each hit is at the start of a UTC minute."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: _Field
    months: frozenset[int]
    weekdays: _Field

    def find_next(self, instant: datetime) -> datetime | None:
        """Find the first hit after a UTC `instant`; None where the search ends without one.

        The search ends with the fifth calendar year after the first one, so it may miss 29 February.
        """
        begin = (instant + timedelta(seconds=1)).replace(microsecond=0)
        limit = begin.year + _YEARS_SEARCHED
        first = begin.replace(second=0)
        if first < begin:
            first += _ONE_MINUTE
        day, minute = first.replace(hour=0, minute=0), first.hour * 60 + first.minute
        while day.year <= limit:
            if self._is_on(day) and (hit := self._find_minute(minute)) is not None:
                return day + timedelta(minutes=hit)
            day, minute = self._find_next_day(day), 0
        return None

    def _find_next_day(self, day: datetime) -> datetime:
        if day.month in self.months:
            return day + _ONE_DAY
        return (day.replace(day=28) + timedelta(days=4)).replace(day=1)

    def _find_minute(self, minute: int) -> int | None:
        """Return the first hit of a day at or after this minute of the day."""
        hour, rest = divmod(minute, 60)
        if not self.minutes:
            return None
        if hour in self.hours and rest <= self.minutes[-1]:
            return hour * 60 + self.minutes[bisect_left(self.minutes, rest)]
        later = bisect_left(self.hours, hour + 1)
        return self.hours[later] * 60 + self.minutes[0] if later < len(self.hours) else None

    def _is_on(self, day: datetime) -> bool:
        if day.month not in self.months:
            return False
        of_month = day.day in self.days.values
        of_week = day.isoweekday() % 7 in self.weekdays.values
        if self.days.is_star or self.weekdays.is_star:
            return of_month and of_week
        return of_month or of_week


@lru_cache(maxsize=1024)
def parse_cron(text: str) -> Cron:
    """Parse a schedule.

    A field of commas alone is valid and never hits.

    Raises:
        CronError: for a schedule that Karpenter's parser rejects; it parses the text after `TZ=UTC `.
    """
    stripped = text.strip()
    fields = _NAMED.get(stripped, stripped).split()
    if len(fields) != len(_FIELDS):
        message = f"a schedule has five fields, but `{text}` has {len(fields)}"
        raise CronError(message)
    minute, hour, day, month, weekday = (
        _parse_field(field, *bounds) for field, bounds in zip(fields, _FIELDS, strict=True)
    )
    in_order = tuple(sorted(minute.values)), tuple(sorted(hour.values))
    return Cron(*in_order, day, month.values, weekday)


def _parse_field(text: str, low: int, high: int, names: Mapping[str, int]) -> _Field:
    spans = [_parse_range(item, low, high, names) for item in text.split(",") if item]
    return _Field(
        frozenset[int]().union(*(item.values for item in spans)), any(item.is_star for item in spans)
    )


def _parse_range(text: str, low: int, high: int, names: Mapping[str, int]) -> _Field:
    span, *steps = text.split("/")
    first, *rest = span.split("-")
    is_star = first in {"*", "?"}
    if is_star:  # the parser ignores what follows a star and a hyphen
        start, end = low, high
    else:
        start = _parse_number(first, names)
        end = _parse_number(rest[0], names) if rest else high if steps else start
    step = _parse_number(steps[0], {}) if steps else 1
    is_readable = len(steps) <= 1 and (is_star or len(rest) <= 1)
    if not is_readable or not low <= start <= end <= high or step == 0:
        message = f"`{text}` is not valid in a schedule: use numbers from {low} to {high}, in ascending order"
        raise CronError(message)
    return _Field(frozenset(range(start, end + 1, step)), is_star and step == 1)


def _parse_number(text: str, names: Mapping[str, int]) -> int:
    number = names.get(text.lower())
    if number is None:
        number = parse_int64(text)
    if number is None or number < 0:
        message = f"`{text}` is not a number in a schedule"
        raise CronError(message)
    return number
