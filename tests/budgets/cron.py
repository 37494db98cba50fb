"""Cron as robfig/cron v3 reads it (standard parser): the grammar, and on which UTC minutes it hits."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_WEEKDAYS = {name: number for number, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}
_FIELDS: tuple[tuple[int, int, dict[str, int]], ...] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, _MONTHS),
    (0, 6, _WEEKDAYS),
)
_DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


@dataclass(frozen=True)
class _Field:
    values: frozenset[int]
    star: bool


@dataclass(frozen=True)
class Cron:
    minutes: frozenset[int]
    hours: frozenset[int]
    days: _Field
    months: frozenset[int]
    weekdays: _Field

    def on(self, day: datetime) -> bool:
        if day.month not in self.months:
            return False
        of_month = day.day in self.days.values
        of_week = day.isoweekday() % 7 in self.weekdays.values
        if self.days.star or self.weekdays.star:
            return of_month and of_week
        return of_month or of_week

    def hits(self, begin: datetime, end: datetime) -> Iterator[datetime]:
        """Give every hit from `begin` (included) to `end` (not included)."""
        day = begin.replace(hour=0, minute=0)
        while day < end:
            if self.on(day):
                times = (
                    day + timedelta(hours=hour, minutes=minute)
                    for hour in sorted(self.hours)
                    for minute in sorted(self.minutes)
                )
                yield from (time for time in times if begin <= time < end)
            day += timedelta(days=1)


def parse(text: str) -> Cron:
    """Read a schedule; raises ValueError where robfig/cron returns an error."""
    fields = _DESCRIPTORS.get(text.strip(), text).split()
    if text.strip().startswith("@") and text.strip() not in _DESCRIPTORS:
        raise ValueError(text)
    if len(fields) != len(_FIELDS):
        raise ValueError(text)
    minute, hour, day, month, weekday = (
        _field(field, *bounds) for field, bounds in zip(fields, _FIELDS, strict=True)
    )
    return Cron(minute.values, hour.values, day, month.values, weekday)


def _field(text: str, low: int, high: int, names: dict[str, int]) -> _Field:
    parts = [_part(part, low, high, names) for part in text.split(",") if part]
    return _Field(frozenset().union(*(part.values for part in parts)), any(part.star for part in parts))


def _part(text: str, low: int, high: int, names: dict[str, int]) -> _Field:
    span, *steps = text.split("/")
    first, *rest = span.split("-")
    star = first in {"*", "?"}
    if star:  # what follows a star and a hyphen is not even read
        start, end = low, high
    else:
        start = _number(first, names)
        end = _number(rest[0], names) if rest else high if steps else start
    step = _number(steps[0], {}) if steps else 1
    if len(steps) > 1 or (len(rest) > 1 and not star) or not low <= start <= end <= high or step == 0:
        raise ValueError(text)
    return _Field(frozenset(range(start, end + 1, step)), star and step == 1)


def _number(text: str, names: dict[str, int]) -> int:
    if text.lower() in names:
        return names[text.lower()]
    if not re.fullmatch(r"\+?[0-9]+", text):
        raise ValueError(text)
    return int(text)
