"""How text of a user's file is shown: nothing in it may steer a terminal, a log or a parser."""

import re

_LONGEST = 1_000
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
"""Controls, line breaks, what turns the direction of writing, and what UTF-8 or XML can't hold."""


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


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")
