"""How text of a user's file is shown: nothing in it may steer a terminal, a log or a parser."""

import re

_LONGEST = 1_000
_IGNORABLE = (
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""What has no width or turns the direction of writing, by which two texts that differ look the same: line
separators, and what Unicode lets a display ignore. A fixed list, as Python's own changes with its version."""

_UNSEEN = re.compile(f"[\x00-\x1f\x7f-\x9f{_IGNORABLE}\ud800-\udfff\ufffe\uffff]")
"""Controls, line breaks, what is ignorable, and what UTF-8 or XML can't hold."""

_UNSEEN_IN_JSON = re.compile(f"[\x7f-\x9f{_IGNORABLE}\ud800-\udfff\ufffe\uffff]")
"""The same without what JSON escapes by itself, and without its own line breaks."""


def visible(text: str) -> str:
    """Escape what can't be seen, as Python does: a line break becomes two characters."""
    return _UNSEEN.sub(_escaped, text)


def one_line(text: str) -> str:
    """Escape what can't be seen and shorten what nobody would read; values end up in messages."""
    shown = visible(text[:_LONGEST])
    return f"{shown}…" if len(text) > _LONGEST else shown


def encodable(text: str) -> str:
    """Escape the halves of surrogate pairs, which stand for bytes of a file's name that are no UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def in_json(text: str) -> str:
    """Escape what can't be seen in JSON as JSON does; whoever parses it reads the same values."""
    return _UNSEEN_IN_JSON.sub(_escaped_in_json, text)


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


def _escaped_in_json(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
