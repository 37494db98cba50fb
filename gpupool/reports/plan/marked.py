"""Text from outside in Markdown as GitHub reads it, so that nothing in it means anything there."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Final

from gpupool.reports.escaping import one_line
from gpupool.reports.plan.sections import Message, Quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gpupool.reports.plan.sections import Line

_TICKS = re.compile(r"`+")
_SPAN = re.compile(r"`([^`]+)`")
_WORD = re.compile(
    r"(?!www\.|GH-|.*://|\d+[.)]$)[a-z0-9(\"'][a-z0-9.,;:!?'\"()/%+=-]*|[.,;:!?)]{1,3}",
    re.IGNORECASE | re.ASCII,
)
"""What means nothing in Markdown and links to nothing; any other word is shown as code."""

_SHORTEST_FENCE: Final = 3


def format_code(text: str) -> str:
    """Return a value as code on one line."""
    said = one_line(text) or '""'
    ticks = "`" * (_longest_run(said) + 1)
    blank = " " if said[0] in "` " or said[-1] in "` " else ""
    return f"{ticks}{blank}{said}{blank}{ticks}"


def format_prose(text: str) -> str:
    """Return a message: plain words as they are, what stands in backticks or is no plain word as code."""
    return _joined(_pieces(one_line(text)))


def format_line(parts: Line) -> str:
    """Return a line of a section."""
    return _joined(_spelled(part) for part in parts)


def format_html_code(text: str) -> str:
    """Return a value as code where Markdown is not read, inside of HTML."""
    return f"<code>{escape(one_line(text))}</code>"


def format_comment(*words: str) -> str:
    """Return an HTML comment that nobody sees, of words that can't end it."""
    said = ":".join(re.sub(r"[^A-Za-z0-9._-]", "_", word[:100]) for word in words)
    return f"<!-- {said} -->"


def format_block(text: str, language: str) -> str:
    """Return lines as a code block, with a fence that is longer than any in them."""
    fence = "`" * max(_SHORTEST_FENCE, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}{fence}\n"


def _spelled(part: str | Quoted | Message) -> str:
    if isinstance(part, Quoted):
        return format_code(part.text)
    return format_prose(part.text) if isinstance(part, Message) else part


def _pieces(text: str) -> Iterator[str]:
    for index, piece in enumerate(_SPAN.split(text)):
        if index % 2:
            yield format_code(piece)
        else:
            yield from _words(piece)


def _words(text: str) -> Iterator[str]:
    """Yield words and the blanks between them; words beside each other that are not plain become one code."""
    odd: list[str] = []
    for piece in re.split(r"( +)", text):
        if not piece:
            continue
        if piece.isspace() and odd:
            odd.append(piece)
        elif piece.isspace() or _WORD.fullmatch(piece):
            yield from _code_of(odd)
            odd = []
            yield piece
        else:
            odd.append(piece)
    yield from _code_of(odd)


def _code_of(odd: list[str]) -> Iterator[str]:
    said = "".join(odd)
    if said:
        yield format_code(said.rstrip())
        if said[-1] == " ":
            yield " "


def _joined(pieces: Iterable[str]) -> str:
    """Put pieces together with a blank between two codes, whose backticks would run into each other."""
    made = ""
    for piece in pieces:
        apart = " " if made.endswith("`") and piece.startswith("`") else ""
        made = f"{made}{apart}{piece}"
    return made


def _longest_run(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)
