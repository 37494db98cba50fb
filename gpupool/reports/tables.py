"""Tables of text with aligned columns that fit a terminal."""

import textwrap
from collections.abc import Collection, Iterator, Sequence
from typing import Final

_GAP: Final = "  "
_MIN_LAST: Final = 30
"""Characters that the last column keeps before another column is left out for it."""


def align_rows(
    rows: Sequence[Sequence[str]],
    right: Collection[int] = (),
    *,
    width: int | None = None,
    less_important: Sequence[int] = (),
) -> Iterator[str]:
    """Yield each row with aligned columns, those in `right` at their right edge.

    On a terminal of a `width`, the less important columns are left out, the first of them first, until the
    others fit; text of the last column that is still too long continues on the next lines.
    """
    if not rows:
        return
    kept = select_columns(rows, width, less_important)
    widths = _widths(rows)
    last = kept[-1]
    before = sum(widths[column] + len(_GAP) for column in kept[:-1])
    room = 0 if width is None or last in right else width - before
    for row in rows:
        pieces = _fold(row[last], room)
        cells = [_cell(row[column], widths[column], is_right=column in right) for column in kept[:-1]]
        cells.append(_cell(pieces[0], widths[last], is_right=last in right))
        more = (" " * before + piece for piece in pieces[1:])
        yield "\n".join((_GAP.join(cells).rstrip(), *more))


def select_columns(
    rows: Sequence[Sequence[str]], width: int | None, less_important: Sequence[int]
) -> list[int]:
    """Return the columns that fit into a width."""
    widths = _widths(rows)
    kept = list(range(len(widths)))
    if width is None:
        return kept
    for column in less_important:
        if _min_width(kept, widths) <= width:
            break
        kept.remove(column)
    return kept


def _min_width(kept: Sequence[int], widths: Sequence[int]) -> int:
    """Return the smallest width that these columns need."""
    *others, last = kept
    return sum(widths[column] + len(_GAP) for column in others) + min(widths[last], _MIN_LAST)


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def _cell(text: str, width: int, *, is_right: bool) -> str:
    return text.rjust(width) if is_right else text.ljust(width)


def _fold(text: str, room: int) -> list[str]:
    """Split text that is longer than its room, where the room is wide enough for words."""
    if room < _MIN_LAST or len(text) <= room:
        return [text]
    return textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False)
