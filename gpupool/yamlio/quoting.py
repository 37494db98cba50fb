"""Quoting and escaping of strings so that every YAML reader reads them as strings."""

from __future__ import annotations

import re
from functools import lru_cache

_AMBIGUOUS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Texts that some reader does not read as a string, in upper, lower or mixed case."""

_SAFE = re.compile(r"[A-Za-z0-9_/]([A-Za-z0-9_/.@%+=*,()'-]|:(?=[^ ])| (?=[^ #]))*")
"""ASCII without an indicator at the start, `: `, ` #` or a blank at the end."""

_NO_NUMBER = re.compile(
    "[1-9].*[acdf-np-su-wyACDF-NP-SU-WY/%*@]"
    "|0.*[g-mq-su-wyG-MQ-SU-WY/%*@]"
    "|[^0-9]"
)  # fmt: skip
"""Texts that are neither a number nor a time; after a zero, hexadecimal digits may be a number."""

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_INVISIBLE = (
    "\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u034f\u0600-\u0605\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f"
    "\u2028-\u202f\u205f-\u206f\u3000\u3164\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff"
)
"""Invisible characters, as a fixed list: Python's own list changes with its version."""

_NOT_IN_BLOCK = f"[{_INVISIBLE}]"
_ESCAPED = f'["\\\\\t\n{_INVISIBLE}]'
_LINES_AND_TABS = str.maketrans("\t\n", "  ")


@lru_cache(maxsize=8192)  # most texts of Kubernetes objects are the same few hundred
def format_string(text: str) -> str:
    """Return a string on one line, without quotes where every reader reads it as a string.

    Raises:
        ValueError: for half a surrogate pair, which UTF-8 can't encode.
    """
    return text if is_plain(text) else format_quoted(text)


def is_plain(text: str) -> bool:
    """Return whether every reader reads a text without quotes as a string, as a value and as a key."""
    if not _SAFE.fullmatch(text) or text.lower() in _AMBIGUOUS:
        return False
    return _NO_NUMBER.match(text) is not None


def format_quoted(text: str) -> str:
    """Return a string in double quotes, on one line; raises the same errors as `format_string`."""
    if text.isascii() and text.isprintable():
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return f'"{re.sub(_ESCAPED, _escape_character, text)}"'


def format_comment(line: str) -> str:
    """Return a line as a comment, with a question mark for each character that YAML does not allow."""
    shown = re.sub(_NOT_IN_BLOCK, "?", line) if _has_invisible(line) else line
    return f"# {shown}\n" if shown else "#\n"


def format_block(text: str, indent: str) -> str:
    """Return a string as a literal block with lines at `indent`; empty where a block can't hold it.

    `indent` has to be two more than that of the map or list around the block.
    """
    body = text.rstrip("\n")
    lines = body.split("\n")
    if _has_invisible(text) or not body.strip(" \t") or not lines[-1].strip(" \t"):
        return ""
    ends = len(text) - len(body)
    chomping = ("-", "")[ends] if ends <= 1 else "+"
    indicator = "2" if lines[0][:1] in {"", " ", "\t"} else ""
    written = "\n".join(f"{indent}{line}" if line else "" for line in lines)
    return f"|{indicator}{chomping}\n{written}" + "\n" * max(ends - 1, 0)


def _has_invisible(text: str) -> bool:
    """Return whether a string has characters that a block can't hold; ASCII needs no slow Unicode pattern."""
    if text.isascii() and text.translate(_LINES_AND_TABS).isprintable():
        return False
    return re.search(_NOT_IN_BLOCK, text) is not None


def _escape_character(match: re.Match[str]) -> str:
    character = match[0]
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    if "\ud800" <= character <= "\udfff":
        message = f"half a surrogate pair, U+{code:04X}, can't be written"
        raise ValueError(message)
    return f"\\u{code:04x}" if character <= "\uffff" else f"\\U{code:08x}"
