"""Disruption windows: the syntax of their days and hours, and the window itself."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple, NoReturn

REASON_ORDER = ("Underutilized", "Empty", "Drifted")
"""Karpenter's reasons for disrupting a node, in the order in which they are written."""

DEFAULT_REASONS = frozenset({"Underutilized", "Drifted"})
"""The reasons of a window that sets none: empty nodes can still be terminated."""

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_EVERY_DAY = frozenset(range(7))
_DAYS_FIX = "write `mon-fri`, `[sat, sun]` or `daily`"
_DAY_ALIASES = {"weekdays": "mon-fri", "weekday": "mon-fri", "weekend": "sat-sun", "weekends": "sat-sun"}
_HOURS = re.compile(r"(\d\d):(\d\d)-(\d\d):(\d\d)")
_SIMILAR_HOURS = re.compile(r"{0} *(?:[-\u2013\u2014]|to) *{0}".format(r"(\d{1,2})(?::(\d{2}))? *([ap]m)?"))
_HOUR_MINUTES = 60
_DAY_MINUTES = 24 * _HOUR_MINUTES
_HALF_DAY = 12
_RANGE_ENDS = 2
"""The number of days in a range: its first and its last."""


class WindowValueError(ValueError):
    """Invalid days or hours; `fix` contains the text that was probably meant."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.fix = fix


class Window(NamedTuple):
    """A span of local time that recurs every week, and how many nodes can be disrupted in it."""

    days: frozenset[int]
    """The days on which the window begins; Monday is 0, as in `datetime.date.weekday`."""

    hours: tuple[int, int] | None
    """Minutes of the day, as returned by `parse_hours`; None is the whole day."""

    nodes: str
    """A number or a percentage, as in a budget."""

    reasons: frozenset[str]
    timezone: str
    """An IANA name such as `Europe/Berlin`."""

    @property
    def start(self) -> int:
        """Return the minute of the local day at which the window begins."""
        return self.hours[0] if self.hours else 0

    @property
    def length(self) -> int:
        """Return the length in minutes, from 1 to 1440, on a day without a daylight saving change."""
        if self.hours is None:
            return _DAY_MINUTES
        start, end = self.hours
        return end - start if end > start else end - start + _DAY_MINUTES


def _reject(message: str, fix: str) -> NoReturn:
    raise WindowValueError(message, fix)


def parse_days(value: str | Iterable[str]) -> frozenset[int]:
    """Parse `mon-fri`, `sun`, `daily` or a list of such texts; Monday is 0.

    A range can wrap around the week: `fri-mon` is four days. Upper and lower case are equal.

    Raises:
        WindowValueError: for invalid days.
    """
    texts = [value] if isinstance(value, str) else list(value)
    if not texts:
        _reject("the list of days is empty", _DAYS_FIX)
    return frozenset().union(*map(_parse_day_range, texts))


def _parse_day_range(text: str) -> frozenset[int]:
    name = text.strip().lower()
    if name == "daily":
        return _EVERY_DAY
    if "," in name:
        days = ", ".join(name.replace(",", " ").split())
        _reject(f"'{text}' is one text, not a list of days", f"write `[{days}]`")
    first, dash, last = name.partition("-")
    if not dash:
        return frozenset({_parse_day(name, text)})
    start, end = _parse_day(first.strip(), text), _parse_day(last.strip(), text)
    if start == end:
        fix = f"write `{DAYS[start]}` for one day, or `daily`"
        _reject(f"'{text}' begins and ends on the same day", fix)
    return frozenset((start + step) % 7 for step in range((end - start) % 7 + 1))


def _parse_day(name: str, text: str) -> int:
    if name in DAYS:
        return DAYS.index(name)
    if name in _DAY_ALIASES:
        fix = f"write `{_DAY_ALIASES[name]}`"
    elif all(similar := [*map(_find_similar_day, text.strip().lower().split("-"))]):
        corrected = "-".join(similar) if len(similar) <= _RANGE_ENDS else f"[{', '.join(similar)}]"
        fix = f"did you mean `{corrected}`?"
    else:
        fix = _DAYS_FIX
    context = f" in '{text}'" if name != text.strip().lower() else ""
    _reject(f"unknown day '{name}'{context}; the days are {', '.join(DAYS)}", fix)


def _find_similar_day(name: str) -> str:
    """Return the day that is similar to a text, or an empty text."""
    matches = get_close_matches(name.strip(), [*DAYS, *map(str.lower, DAY_NAMES), "daily"], n=1)
    return "" if not matches else matches[0] if matches[0] == "daily" else matches[0][:3]


def parse_hours(text: str) -> tuple[int, int]:
    """Parse `22:00-06:00` to the minutes of the day at which a window begins and ends.

    An end before the start is on the next day; the end can be `24:00`, which is 1440.

    Raises:
        WindowValueError: for invalid hours.
    """
    match = _HOURS.fullmatch(text.strip())
    if not match:
        _reject(f"invalid hours '{text}'", _suggest_hours(text))
    hour, minute, end_hour, end_minute = map(int, match.groups())
    start, end = hour * _HOUR_MINUTES + minute, end_hour * _HOUR_MINUTES + end_minute
    if max(minute, end_minute) >= _HOUR_MINUTES or start >= _DAY_MINUTES or end > _DAY_MINUTES:
        fix = "set hours from 00:00 to 23:59; the end may be 24:00"
        _reject(f"invalid time in '{text}'", fix)
    if start == end:
        _reject(f"'{text}' begins and ends at the same time", "remove `hours` for whole days")
    return start, end


def _suggest_hours(text: str) -> str:
    """Return the fix for invalid hours: a corrected text if it can be derived, else examples."""
    match = _SIMILAR_HOURS.fullmatch(text.strip().lower())
    if match:
        times = [_format_clock(*match.groups()[:3]), _format_clock(*match.groups()[3:])]
        if all(times) and times[0] != times[1] and times[0] != "24:00":
            return f"write `{times[0]}-{times[1]}`"
    return "write `09:00-17:00`, or `22:00-06:00` to go on into the next day"


def _format_clock(hour: str, minute: str | None, am_pm: str | None) -> str:
    number = int(hour)
    if am_pm:
        if not 1 <= number <= _HALF_DAY:
            return ""
        number = number % _HALF_DAY + (_HALF_DAY if am_pm == "pm" else 0)
    clock = f"{number:02}:{minute or '00'}"
    return clock if clock <= "24:00" and clock[3:] < "60" else ""
