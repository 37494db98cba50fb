"""A stretch of UTC time and sets of its minutes, one bit for each."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


@dataclass(frozen=True)
class Span:
    begin: datetime
    minutes: int

    @property
    def end(self) -> datetime:
        return self.begin + timedelta(minutes=self.minutes)

    @property
    def all(self) -> int:
        return (1 << self.minutes) - 1

    def between(self, begin: datetime, end: datetime) -> int:
        """Return the minutes from `begin` to `end`, as far as they lie in the span."""
        first = max(0, (begin - self.begin) // timedelta(minutes=1))
        last = min(self.minutes, (end - self.begin) // timedelta(minutes=1))
        return ((1 << (last - first)) - 1) << first if last > first else 0

    def instants(self, minutes: int) -> str:
        """Name the first of these minutes, for the message of a failing test."""
        first = (minutes & -minutes).bit_length() - 1
        return f"{minutes.bit_count()} minutes, first {self.begin + timedelta(minutes=first):%a %Y-%m-%d %H:%M} UTC"


def year(number: int) -> Span:
    begin = datetime(number, 1, 1, tzinfo=UTC)
    return Span(begin, (datetime(number + 1, 1, 1, tzinfo=UTC) - begin) // timedelta(minutes=1))


def weeks(begin: datetime, count: int = 1) -> Span:
    return Span(begin, count * 7 * 24 * 60)
