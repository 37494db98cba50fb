"""What a person must know about a compiled window: the months in which it takes the safe side, and why."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from gpupool.blueprint.windows import DAY_NAMES, Window
from gpupool.expansion.windows.budgets import BudgetCause
from gpupool.expansion.windows.schedules import ALL_DAYS, Stretch
from gpupool.expansion.windows.timezones import find_regimes, has_dated_changes
from gpupool.expansion.windows.utc_stretches import find_occurrences
from gpupool.expansion.windows.week import DAY, NEVER, stretch_minutes

_MONTH_NAMES = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_DURATIONS = {30: "half an hour", 60: "one hour", 120: "two hours"}

_DaysOfMonth: TypeAlias = dict[int, frozenset[int]]


class WindowNote(NamedTuple):
    """Something that is not wrong, but worth knowing."""

    cause: BudgetCause
    text: str


def find_protect_notes(cause: BudgetCause, window: Window) -> Iterator[WindowNote]:
    """Yield when more is protected than the words ask for."""
    if window.days == ALL_DAYS and window.length == DAY:
        return
    changing: _DaysOfMonth = {}
    for month, day, versions in _by_month_and_day(window):
        if len(versions) > 1:
            changing[month] = changing.get(month, frozenset()) | {day}
    if changing:
        what = "days" if window.hours is None else "hours"
        yield WindowNote(
            cause,
            f"the protected {what} are {_shift(window)} longer in {_when(changing, window)} ({_why(window)})",
        )
    yield from _dated(cause, window)


def find_maintenance_notes(
    cause: BudgetCause, window: Window, closed: Iterable[Stretch]
) -> Iterator[WindowNote]:
    """Yield when less is open than the words ask for; `closed` is what its budgets close."""
    closed_in = _closed_in(closed)
    shorter: _DaysOfMonth = {}
    shut: _DaysOfMonth = {}
    for month, day, versions in _by_month_and_day(window):
        if not any(minutes & closed_in[month] for minutes in versions):
            continue
        found = shorter if any(minutes & ~closed_in[month] for minutes in versions) else shut
        found[month] = found.get(month, frozenset()) | {day}
    if shorter:
        yield WindowNote(
            cause,
            f"this window is {_shift(window)} shorter in {_when(shorter, window)} ({_why(window)})",
        )
    if shut:
        yield WindowNote(
            cause,
            f"this window stays closed in {_when(shut, window)} ({_why(window)}): only a window of more than "
            f"{_shift(window)} is open in a month in which the clocks change",
        )
    yield from _dated(cause, window)


def _closed_in(closed: Iterable[Stretch]) -> dict[int, int]:
    """Return the minutes of the week that are closed in each month."""
    months = dict.fromkeys(range(1, 13), NEVER)
    for each in closed:
        minutes = _minutes(each)
        for month in each.months:
            months[month] |= minutes
    return months


def _by_month_and_day(window: Window) -> Iterator[tuple[int, int, list[int]]]:
    """Yield month, day and the minutes of the UTC week that the window is then, once for each offset."""
    found = [(each.day, each.stretch.months, _minutes(each.stretch)) for each in find_occurrences(window)]
    for month in range(1, 13):
        for day in sorted(window.days):
            yield (
                month,
                day,
                [minutes for begins, months, minutes in found if begins == day and month in months],
            )


def _minutes(each: Stretch) -> int:
    return stretch_minutes(each.start, each.length)


def _when(days_of_month: _DaysOfMonth, window: Window) -> str:
    """Return `March and November`, and the days where not all of the window's days are meant."""
    months_of_days: dict[frozenset[int], list[str]] = {}
    for month, days in sorted(days_of_month.items()):
        months_of_days.setdefault(days, []).append(_MONTH_NAMES[month - 1])
    phrases = [
        _listed(months)
        + ("" if days == window.days else f" on {_listed(f'{DAY_NAMES[day]}s' for day in sorted(days))}")
        for days, months in sorted(months_of_days.items(), key=lambda each: -len(each[0]))
    ]
    return ", and in ".join(phrases)


def _listed(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def _shift(window: Window) -> str:
    offsets = [regime.offsets[0] for regime in find_regimes((window.timezone,))]
    minutes = max(offsets) - min(offsets)
    return _DURATIONS.get(minutes, f"{minutes} minutes")


def _why(window: Window) -> str:
    return f"daylight saving in {window.timezone}"


def _dated(cause: BudgetCause, window: Window) -> Iterator[WindowNote]:
    if has_dated_changes(window.timezone):
        yield WindowNote(
            cause,
            f"the clocks in {window.timezone} also change on dates that differ from year to year; "
            "between those, this window opens earlier or later than the local time",
        )
