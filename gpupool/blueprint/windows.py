"""The words of a disruption window: its days, its hours, and the window they make."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple, NoReturn

REASONS = ("Underutilized", "Empty", "Drifted")
"""Karpenter's reasons for disrupting a node, in the order in which they are written."""

DEFAULT_REASONS = frozenset({"Underutilized", "Drifted"})
"""The reasons of a window that names none: empty nodes still go."""

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_EVERY_DAY = frozenset(range(7))
_DAYS_LOOK = "write `mon-fri`, `[sat, sun]` or `daily`"
_USUAL_WORDS = {"weekdays": "mon-fri", "weekday": "mon-fri", "weekend": "sat-sun", "weekends": "sat-sun"}
_HOURS = re.compile(r"(\d\d):(\d\d)-(\d\d):(\d\d)")
_NEARLY_HOURS = re.compile(r"{0} *(?:[-\u2013\u2014]|to) *{0}".format(r"(\d{1,2})(?::(\d{2}))? *([ap]m)?"))
_HOUR_MINUTES = 60
_DAY_MINUTES = 24 * _HOUR_MINUTES
_HALF_DAY = 12
_ENDS = 2
"""Days of a range."""


class WindowValueError(ValueError):
    """Days or hours that can't be read: what is wrong with them, and what was probably meant."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.fix = fix


class Window(NamedTuple):
    """A stretch of local time that comes back every week, and how much may be disrupted in it."""

    days: frozenset[int]
    """The days on which it begins; Monday is 0, as in `datetime.date.weekday`."""

    hours: tuple[int, int] | None
    """Minutes of the day, as `parse_hours` gives them; None is the whole day."""

    nodes: str
    """A number or a percentage, as in a budget."""

    reasons: frozenset[str]
    timezone: str
    """An IANA name, `Europe/Berlin`."""

    @property
    def start(self) -> int:
        """Return the minute of the local day at which it begins."""
        return self.hours[0] if self.hours else 0

    @property
    def length(self) -> int:
        """Return its length in minutes, from 1 to 1440, on a day without a change of clocks."""
        if self.hours is None:
            return _DAY_MINUTES
        start, end = self.hours
        return end - start if end > start else end - start + _DAY_MINUTES


def _refuse(message: str, fix: str) -> NoReturn:
    raise WindowValueError(message, fix)


def parse_days(value: str | Iterable[str]) -> frozenset[int]:
    """Read `mon-fri`, `sun`, `daily` or a list of such words.

    Monday is 0. A range may wrap round the week: `fri-mon` is four days. Capitals do not matter.
    Raises WordError.
    """
    words = [value] if isinstance(value, str) else list(value)
    if not words:
        _refuse("the list of days is empty", _DAYS_LOOK)
    return frozenset().union(*map(_days_of_word, words))


def _days_of_word(word: str) -> frozenset[int]:
    text = word.strip().lower()
    if text == "daily":
        return _EVERY_DAY
    if "," in text:
        days = ", ".join(text.replace(",", " ").split())
        _refuse(f"'{word}' is one text, not a list of days", f"write `[{days}]`")
    first, dash, last = text.partition("-")
    if not dash:
        return frozenset({_day(text, word)})
    start, end = _day(first.strip(), word), _day(last.strip(), word)
    if start == end:
        fix = f"write `{DAYS[start]}` for one day, or `daily`"
        _refuse(f"'{word}' begins and ends on the same day", fix)
    return frozenset((start + step) % 7 for step in range((end - start) % 7 + 1))


def _day(name: str, word: str) -> int:
    if name in DAYS:
        return DAYS.index(name)
    if name in _USUAL_WORDS:
        hint = f"write `{_USUAL_WORDS[name]}`"
    elif all(near := [*map(_nearest, word.strip().lower().split("-"))]):
        meant = "-".join(near) if len(near) <= _ENDS else f"[{', '.join(near)}]"
        hint = f"did you mean `{meant}`?"
    else:
        hint = _DAYS_LOOK
    where = f" in '{word}'" if name != word.strip().lower() else ""
    _refuse(f"unknown day '{name}'{where}; the days are {', '.join(DAYS)}", hint)


def _nearest(name: str) -> str:
    """Return the day that a word looks like; empty for none."""
    close = get_close_matches(name.strip(), [*DAYS, *map(str.lower, DAY_NAMES), "daily"], n=1)
    return "" if not close else close[0] if close[0] == "daily" else close[0][:3]


def parse_hours(text: str) -> tuple[int, int]:
    """Read `22:00-06:00` as the minutes of the day at which a window begins and ends.

    An end before the start is on the next day; the end may be `24:00`, which is 1440. Raises WordError.
    """
    found = _HOURS.fullmatch(text.strip())
    if not found:
        _refuse(f"invalid hours '{text}'", _look(text))
    hour, minute, end_hour, end_minute = map(int, found.groups())
    start, end = hour * _HOUR_MINUTES + minute, end_hour * _HOUR_MINUTES + end_minute
    if max(minute, end_minute) >= _HOUR_MINUTES or start >= _DAY_MINUTES or end > _DAY_MINUTES:
        fix = "set hours from 00:00 to 23:59; the end may be 24:00"
        _refuse(f"invalid time in '{text}'", fix)
    if start == end:
        _refuse(f"'{text}' begins and ends at the same time", "remove `hours` for whole days")
    return start, end


def _look(text: str) -> str:
    """Return how the hours should have been written, where that can be seen from what was written."""
    found = _NEARLY_HOURS.fullmatch(text.strip().lower())
    if found:
        times = [_clock(*found.groups()[:3]), _clock(*found.groups()[3:])]
        if all(times) and times[0] != times[1] and times[0] != "24:00":
            return f"write `{times[0]}-{times[1]}`"
    return "write `09:00-17:00`, or `22:00-06:00` to go on into the next day"


def _clock(hour: str, minute: str | None, half: str | None) -> str:
    number = int(hour)
    if half:
        if not 1 <= number <= _HALF_DAY:
            return ""
        number = number % _HALF_DAY + (_HALF_DAY if half == "pm" else 0)
    clock = f"{number:02}:{minute or '00'}"
    return clock if clock <= "24:00" and clock[3:] < "60" else ""
