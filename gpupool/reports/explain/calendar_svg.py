"""Calendar of disruption budgets as an SVG image without scripts, fonts or links."""

from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from html import escape

from gpupool.explain.calendar import DAYS_IN_WEEK, HOURS_IN_DAY, Calendar
from gpupool.reports.explain.calendar import (
    ReasonGroup,
    format_amount,
    format_day,
    format_notes,
    format_remarks,
    format_subtitle,
    format_title,
    group_reasons,
)

_CELL, _ROW, _GAP = 28, 22, 2
_LEFT, _TOP, _LINE = 84, 66, 18
_HEAD = 42
_WIDTH = _LEFT + HOURS_IN_DAY * _CELL + 16
_SHADES = ("#e8e8e8", "#fdecc8", "#d9ecc0", "#b5dca4", "#8fca8b")
"""From none to all; dark text has enough contrast on all of them."""

_escape = partial(escape, quote=False)


def render_svg(calendar: Calendar) -> str:
    """Render the week as SVG."""
    groups = group_reasons(calendar)
    below = [*format_remarks(calendar), *format_notes(calendar)]
    height = _TOP + len(groups) * _group_height() + len(below) * _LINE + 16
    lines = [
        _head(height),
        f'<title id="title">{_escape(format_title(calendar))}</title>',
        f'<desc id="description">{_escape(_description(calendar, groups))}</desc>',
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
        _text(16, 26, format_title(calendar), ' font-size="16" font-weight="600"'),
        _text(16, 46, format_subtitle(calendar)),
    ]
    for index, group in enumerate(groups):
        lines += _group(group, calendar, _TOP + index * _group_height())
    bottom = _TOP + len(groups) * _group_height() + _LINE
    lines += [_text(16, bottom + index * _LINE, line) for index, line in enumerate(below)]
    return "\n".join([*lines, "</svg>", ""])


def _head(height: int) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}"'
        f' height="{height}" role="img" aria-labelledby="title description"'
        ' font-family="system-ui, sans-serif" font-size="12" fill="#222">'
    )


def _group_height() -> int:
    return _HEAD + DAYS_IN_WEEK * _ROW + 12


def _group(group: ReasonGroup, calendar: Calendar, top: int) -> Iterator[str]:
    yield _text(16, top + 16, ", ".join(group.reasons), ' font-weight="600"')
    for hour in range(HOURS_IN_DAY):
        yield _text(_LEFT + hour * _CELL + _CELL // 2, top + _HEAD - 6, f"{hour:02}", ' text-anchor="middle"')
    for row in range(DAYS_IN_WEEK):
        day = format_day(calendar.monday + timedelta(days=row))
        y = top + _HEAD + row * _ROW
        yield _text(16, y + 15, day)
        for hour, number in enumerate(group.week[row]):
            if number is not None:
                is_changing = (row, hour) in group.changing
                yield _cell(_LEFT + hour * _CELL, y, number, calendar, f"{day} {hour:02}:00", is_changing)


def _cell(x: int, y: int, number: int, calendar: Calendar, when: str, is_changing: bool) -> str:
    description = (
        f"{when}: {format_amount(number, calendar)} of {calendar.nodes}"
        + ", changes within the hour" * is_changing
    )
    shade = _SHADES[-(-number * (len(_SHADES) - 1) // calendar.nodes) if number else 0]
    centred = ' text-anchor="middle" font-size="10"'
    inner = _text(x + (_CELL - _GAP) // 2, y + 14, f"{number}{'*' * is_changing}", centred)
    return (
        f"<g><title>{_escape(description)}</title>"
        f'<rect x="{x}" y="{y}" width="{_CELL - _GAP}" height="{_ROW - _GAP}" fill="{shade}"/>'
        f"{inner}</g>"
    )


def _text(x: int, y: int, content: str, attributes: str = "") -> str:
    return f'<text x="{x}" y="{y}"{attributes}>{_escape(content)}</text>'


def _description(calendar: Calendar, groups: list[ReasonGroup]) -> str:
    parts = []
    for group in groups:
        names = ", ".join(group.reasons)
        if group.constant is not None:
            parts.append(f"{names}: {format_amount(group.constant, calendar)} in every hour")
            continue
        numbers = [number for row in group.week for number in row if number is not None]
        closed = sum(number == 0 for number in numbers)
        parts.append(
            f"{names}: from {min(numbers)} to {max(numbers)} nodes, none in {closed} of {len(numbers)} hours"
        )
    return f"{format_subtitle(calendar)}. {'; '.join(parts)}."
