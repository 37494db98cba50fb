"""Notes about compiled windows: months in which daylight saving makes a window longer or shorter."""

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
    """A note about one window."""

    cause: BudgetCause
    text: str


def find_protect_notes(cause: BudgetCause, window: Window) -> Iterator[WindowNote]:
    """Yield a note where more hours are protected than the window sets."""
    if window.days == ALL_DAYS and window.length == DAY:
        return
    changing: _DaysOfMonth = {}
    for month, day, versions in _by_month_and_day(window):
        if len(versions) > 1:
            changing[month] = changing.get(month, frozenset()) | {day}
    if changing:
        unit = "days" if window.hours is None else "hours"
        shift, months = _format_shift(window), _format_months(changing, window)
        yield WindowNote(
            cause, f"the protected {unit} are {shift} longer in {months} ({_format_cause(window)})"
        )
    yield from _find_dated_notes(cause, window)


def find_maintenance_notes(
    cause: BudgetCause, window: Window, closed: Iterable[Stretch]
) -> Iterator[WindowNote]:
    """Yield a note where fewer hours are open than the window sets; `closed` are those that budgets close."""
    closed_in = _closed_by_month(closed)
    shorter: _DaysOfMonth = {}
    always_closed: _DaysOfMonth = {}
    for month, day, versions in _by_month_and_day(window):
        if not any(minutes & closed_in[month] for minutes in versions):
            continue
        is_open = any(minutes & ~closed_in[month] for minutes in versions)
        affected = shorter if is_open else always_closed
        affected[month] = affected.get(month, frozenset()) | {day}
    if shorter:
        shift, months = _format_shift(window), _format_months(shorter, window)
        yield WindowNote(cause, f"this window is {shift} shorter in {months} ({_format_cause(window)})")
    if always_closed:
        shift, months = _format_shift(window), _format_months(always_closed, window)
        yield WindowNote(
            cause,
            f"this window stays closed in {months} ({_format_cause(window)}): only a window of more than "
            f"{shift} is open in a month in which the clocks change",
        )
    yield from _find_dated_notes(cause, window)


def _closed_by_month(closed: Iterable[Stretch]) -> dict[int, int]:
    """Return the minutes of the week that are closed in each month."""
    months = dict.fromkeys(range(1, 13), NEVER)
    for stretch in closed:
        minutes = _to_minutes(stretch)
        for month in stretch.months:
            months[month] |= minutes
    return months


def _by_month_and_day(window: Window) -> Iterator[tuple[int, int, list[int]]]:
    """Yield each month and day with the minutes of the UTC week of the window, one for each offset."""
    spans = [
        (occurrence.day, occurrence.stretch.months, _to_minutes(occurrence.stretch))
        for occurrence in find_occurrences(window)
    ]
    for month in range(1, 13):
        for day in sorted(window.days):
            yield (
                month,
                day,
                [minutes for begins, months, minutes in spans if begins == day and month in months],
            )


def _to_minutes(stretch: Stretch) -> int:
    return stretch_minutes(stretch.start, stretch.length)


def _format_months(days_of_month: _DaysOfMonth, window: Window) -> str:
    """Return the months, as in `March and November`, and the days unless all of the window are affected."""
    months_of_days: dict[frozenset[int], list[str]] = {}
    for month, days in sorted(days_of_month.items()):
        months_of_days.setdefault(days, []).append(_MONTH_NAMES[month - 1])
    phrases = [
        _join_names(months)
        + ("" if days == window.days else f" on {_join_names(f'{DAY_NAMES[day]}s' for day in sorted(days))}")
        for days, months in sorted(months_of_days.items(), key=lambda entry: -len(entry[0]))
    ]
    return ", and in ".join(phrases)


def _join_names(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _format_shift(window: Window) -> str:
    offsets = [regime.offsets[0] for regime in find_regimes((window.timezone,))]
    minutes = max(offsets) - min(offsets)
    return _DURATIONS.get(minutes, f"{minutes} minutes")


def _format_cause(window: Window) -> str:
    return f"daylight saving in {window.timezone}"


def _find_dated_notes(cause: BudgetCause, window: Window) -> Iterator[WindowNote]:
    if has_dated_changes(window.timezone):
        yield WindowNote(
            cause,
            f"the clocks in {window.timezone} also change on dates that differ from year to year; "
            "between those, this window opens earlier or later than the local time",
        )
