"""Escaping of text from outside for GitHub's Markdown and HTML."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Final

from gpupool.reports.escaping import one_line
from gpupool.reports.plan.sections import Message, Quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gpupool.reports.plan.sections import SectionLine

_TICKS = re.compile(r"`+")
_SPAN = re.compile(r"`([^`]+)`")
_PLAIN_WORD = re.compile(
    r"(?!www\.|GH-|.*://|\d+[.)]$)[a-z0-9(\"'][a-z0-9.,;:!?'\"()/%+=-]*|[.,;:!?)]{1,3}",
    re.IGNORECASE | re.ASCII,
)
"""Words without a meaning in Markdown and without a link; any other word is shown as code."""

_SHORTEST_FENCE: Final = 3


def format_code(text: str) -> str:
    """Return a value as code on one line."""
    shown = one_line(text) or '""'
    ticks = "`" * (_longest_run(shown) + 1)
    blank = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{ticks}{blank}{shown}{blank}{ticks}"


def format_prose(text: str) -> str:
    """Return a message with plain words unchanged, and text in backticks and other words as code."""
    return _join(_pieces(one_line(text)))


def format_line(parts: SectionLine) -> str:
    """Return a line of a section."""
    return _join(_fragment(part) for part in parts)


def format_html_code(text: str) -> str:
    """Return a value as code inside HTML, where Markdown is not parsed."""
    return f"<code>{escape(one_line(text))}</code>"


def format_comment(*values: str) -> str:
    """Return an HTML comment of these values, without characters that could end it."""
    content = ":".join(re.sub(r"[^A-Za-z0-9._-]", "_", value[:100]) for value in values)
    return f"<!-- {content} -->"


def format_block(text: str, language: str) -> str:
    """Return lines as a code block, with a fence that is longer than any in them."""
    fence = "`" * max(_SHORTEST_FENCE, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}{fence}\n"


def _fragment(part: str | Quoted | Message) -> str:
    if isinstance(part, Quoted):
        return format_code(part.text)
    return format_prose(part.text) if isinstance(part, Message) else part


def _pieces(text: str) -> Iterator[str]:
    for index, piece in enumerate(_SPAN.split(text)):
        if index % 2:
            yield format_code(piece)
        else:
            yield from _split_words(piece)


def _split_words(text: str) -> Iterator[str]:
    """Yield words and the blanks between them; adjacent words that are not plain become one code span."""
    odd: list[str] = []
    for piece in re.split(r"( +)", text):
        if not piece:
            continue
        if piece.isspace() and odd:
            odd.append(piece)
        elif piece.isspace() or _PLAIN_WORD.fullmatch(piece):
            yield from _code_of(odd)
            odd = []
            yield piece
        else:
            odd.append(piece)
    yield from _code_of(odd)


def _code_of(odd: list[str]) -> Iterator[str]:
    span = "".join(odd)
    if span:
        yield format_code(span.rstrip())
        if span[-1] == " ":
            yield " "


def _join(pieces: Iterable[str]) -> str:
    """Join pieces, with a blank between two code spans, whose backticks would run together."""
    text = ""
    for piece in pieces:
        blank = " " if text.endswith("`") and piece.startswith("`") else ""
        text = f"{text}{blank}{piece}"
    return text


def _longest_run(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)
