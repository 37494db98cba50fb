"""Calendar of disruption budgets for a week, as a heat map of characters and as JSON."""

import string
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import product
from typing import NamedTuple

from gpupool.explain.calendar import DAYS_IN_WEEK, HOURS_IN_DAY, Calendar, Week
from gpupool.karpenter.budgets import REASONS, DisruptionBudget, count_nodes
from gpupool.reports.escaping import one_line
from gpupool.yamlio.located import Plain

_SHADES: dict[int, list[str]] = {0: [], 1: ["▒▒"], 2: ["░░", "▓▓"], 3: ["░░", "▒▒", "▓▓"]}
"""Marks for the numbers between none and all, by their count; more numbers have letters."""

_NONE, _ALL = "··", "██"
_COLOURS = (240, 178, 149, 113, 71)
"""Of the 256 terminal colours: grey where no node may be disrupted, then from yellow to green."""

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MARGIN = 7


class ReasonGroup(NamedTuple):
    """Reasons that have the same week."""

    reasons: tuple[str, ...]
    week: Week
    changing: frozenset[tuple[int, int]]

    @property
    def constant(self) -> int | None:
        """Return the number of nodes that is the same in every hour; None where it varies."""
        numbers = {number for row in self.week for number in row if number is not None}
        return None if self.changing or len(numbers) != 1 else numbers.pop()


def group_reasons(calendar: Calendar) -> list[ReasonGroup]:
    """Return the reasons in groups with equal weeks."""
    reasons_by_week: dict[tuple[Week, frozenset[tuple[int, int]]], list[str]] = {}
    for reason in REASONS:
        reasons_by_week.setdefault((calendar.weeks[reason], calendar.changing[reason]), []).append(reason)
    return [ReasonGroup(tuple(reasons), *week) for week, reasons in reasons_by_week.items()]


def render_text(calendar: Calendar, *, colour: bool) -> str:
    """Render the week, 79 columns wide; `colour` is for a terminal."""
    groups = group_reasons(calendar)
    marks = _choose_marks(calendar, [group for group in groups if group.constant is None], colour=colour)
    blocks = [_block(group, calendar, marks) for group in groups]
    if marks:
        legend = "   ".join(f"{mark} {format_amount(number, calendar)}" for number, mark in marks.items())
        blocks.append("".join(f"{'':<{_MARGIN}}{line}\n" for line in (legend, *format_remarks(calendar))))
    head = f"{format_title(calendar)}\n{format_subtitle(calendar)}\n"
    below = "".join(f"{line}\n" for line in (*_budget_lines(calendar), *format_notes(calendar)))
    return "\n".join([head, *blocks, below])


def to_json(calendar: Calendar) -> Plain:
    """Return the week as values of JSON: 24 numbers for each day, null for an hour that the clocks skip."""
    return {
        "nodePool": calendar.name,
        "timezone": calendar.timezone,
        "nodes": calendar.nodes,
        "weekOf": calendar.monday.isoformat(),
        "reasons": {reason: [list(row) for row in calendar.weeks[reason]] for reason in REASONS},
        "changesWithin": {
            reason: [[row, hour] for row, hour in sorted(calendar.changing[reason])] for reason in REASONS
        },
        "budgets": [_budget_json(budget, calendar.nodes) for budget in calendar.budgets],
        "notes": list(format_notes(calendar)),
    }


def format_title(calendar: Calendar) -> str:
    """Return the title of a calendar."""
    return f"NodePool {one_line(calendar.name)}: nodes that may be disrupted, by hour"


def format_subtitle(calendar: Calendar) -> str:
    """Return the week, the time zone and the assumed number of nodes."""
    plural = "s" * (calendar.nodes != 1)
    return (
        f"Week of {format_day(calendar.monday)} {calendar.monday.year}, {one_line(calendar.timezone)},"
        f" if the pool has {calendar.nodes} node{plural}"
    )


def format_amount(number: int, calendar: Calendar) -> str:
    """Return a number of nodes, marked where it is all of them."""
    return f"{number} (all)" if number == calendar.nodes else str(number)


def format_day(day: date) -> str:
    """Return a day as `Mon 16 Nov`."""
    return f"{_WEEKDAYS[day.weekday()]} {day.day} {_MONTHS[day.month - 1]}"


def format_remarks(calendar: Calendar) -> Iterator[str]:
    """Yield explanations of the marks in this week."""
    if any(calendar.changing.values()):
        yield "* changes within the hour; the smaller number is shown"
    if any(number is None for week in calendar.weeks.values() for row in week for number in row):
        yield "blank: the clocks skip this hour"


def format_notes(calendar: Calendar) -> Iterator[str]:
    """Yield sentences on disruptions that the numbers do not show."""
    for budget in dict.fromkeys(calendar.unreadable):
        yield (
            f"Karpenter can't read the schedule `{one_line(budget.schedule or '')}`,"
            " so no node of this pool can be disrupted."
        )
    for cause in dict.fromkeys(calendar.ruled_out.values()):
        reasons = " or ".join(reason for reason, other in calendar.ruled_out.items() if other == cause)
        yield f"No node is disrupted as {reasons}, whatever the budgets: {cause}."
    if calendar.expire_after == "Never":
        yield "Spot interruptions and deletions ignore budgets."
    else:
        expiry = one_line(calendar.expire_after)
        yield f"Expiry (`expireAfter: {expiry}`), spot interruptions and deletions ignore budgets."


def format_budget(budget: DisruptionBudget, nodes: int) -> tuple[str, str, str]:
    """Return how many nodes a budget allows, for which reasons, and when."""
    number = one_line(budget.nodes)
    if budget.nodes.endswith("%"):
        number += f" = {count_nodes(budget, nodes)} of {nodes}"
    reasons = "every reason" if budget.reasons is None else ", ".join(budget.reasons) or "no reason"
    if budget.schedule is None:
        return number, one_line(reasons), "always"
    when = f"{one_line(budget.schedule)} (UTC) for {one_line(budget.duration or '0m')}"
    return number, one_line(reasons), when


def _choose_marks(calendar: Calendar, drawn: list[ReasonGroup], *, colour: bool) -> dict[int, str]:
    """Return the mark of each number, two columns wide."""
    numbers = sorted(
        {number for group in drawn for row in group.week for number in row if number is not None}
    )
    between = [number for number in numbers if 0 < number < calendar.nodes]
    letters = ["".join(pair) for pair in product(string.ascii_lowercase, repeat=2)]
    shades = _SHADES.get(len(between), letters)
    marks = {number: _ALL if number else _NONE for number in numbers}
    marks |= dict(zip(between, shades, strict=False))
    if colour:
        marks = {number: _colour_mark(mark, number, calendar.nodes) for number, mark in marks.items()}
    return marks


def _colour_mark(mark: str, number: int, nodes: int) -> str:
    level = -(-number * (len(_COLOURS) - 1) // nodes) if number else 0
    return f"\x1b[38;5;{_COLOURS[level]}m{mark}\x1b[0m"


def _block(group: ReasonGroup, calendar: Calendar, marks: dict[int, str]) -> str:
    name = ", ".join(group.reasons)
    if group.constant is not None:
        return f"{name}: {format_amount(group.constant, calendar)} in every hour of the week\n"
    lines = [name, f"{'':<{_MARGIN}}{' '.join(f'{hour:02}' for hour in range(HOURS_IN_DAY))}"]
    for row in range(DAYS_IN_WEEK):
        day = calendar.monday + timedelta(days=row)
        cells = "".join(
            ("  " if number is None else marks[number]) + (" *"[(row, hour) in group.changing])
            for hour, number in enumerate(group.week[row])
        )
        lines.append(f"{_WEEKDAYS[row]} {day.day:>2} {cells}".rstrip())
    return "\n".join([*lines, ""])


def _budget_lines(calendar: Calendar) -> Iterator[str]:
    if not calendar.budgets:
        yield "The pool has no budgets: all nodes can be disrupted at once."
        return
    rows = [format_budget(budget, calendar.nodes) for budget in calendar.budgets]
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    yield "Budgets; of the active ones the smallest applies:"
    yield from (f"  {number:<{first}}  {reasons:<{second}}  {when}" for number, reasons, when in rows)


def _budget_json(budget: DisruptionBudget, nodes: int) -> Plain:
    values: dict[str, Plain] = {"nodes": budget.nodes, "allows": count_nodes(budget, nodes)}
    if budget.reasons is not None:
        values["reasons"] = list(budget.reasons)
    if budget.schedule is not None:
        values |= {"schedule": budget.schedule, "duration": budget.duration}
    return values
