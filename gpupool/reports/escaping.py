"""Escaping of invisible and control characters in text from outside, for terminals, logs and parsers."""

import re

_MAX_CHARACTERS = 1_000
_IGNORABLE = (
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters without width, or that turn the direction of writing, which make different texts look the same:
line separators, and those that Unicode lets a display ignore. A fixed list, as Python's own changes."""

_INVISIBLE = re.compile(f"[\x00-\x1f\x7f-\x9f{_IGNORABLE}\ud800-\udfff\ufffe\uffff]")
"""Control characters, line breaks, ignorable characters, and those that UTF-8 or XML can't hold."""

_INVISIBLE_IN_JSON = re.compile(f"[\x7f-\x9f{_IGNORABLE}\ud800-\udfff\ufffe\uffff]")
"""The same without those that JSON escapes by itself, and without its own line breaks."""


def visible(text: str) -> str:
    """Escape invisible characters as Python does: a line break becomes two characters."""
    return _INVISIBLE.sub(_escape, text)


def one_line(text: str) -> str:
    """Escape invisible characters and shorten long text, for a message of one line."""
    shown = visible(text[:_MAX_CHARACTERS])
    return f"{shown}…" if len(text) > _MAX_CHARACTERS else shown


def encodable(text: str) -> str:
    """Escape surrogates, which Python uses for bytes of a file's name that are not UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def in_json(text: str) -> str:
    """Escape invisible characters in JSON as JSON does; a parser reads the same values."""
    return _INVISIBLE_IN_JSON.sub(_escape_in_json, text)


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


def _escape_in_json(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[index]:02x}{units[index + 1]:02x}" for index in range(0, len(units), 2))
