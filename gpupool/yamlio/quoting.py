"""How a text is spelled so that every reader of YAML takes it for that text."""

from __future__ import annotations

import re
from functools import lru_cache

_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""What some reader takes for something else, in any mixture of upper and lower case."""

_SAFE = re.compile(r"[A-Za-z0-9_/]([A-Za-z0-9_/.@%+=*,()'-]|:(?=[^ ])| (?=[^ #]))*")
"""No indicator first, no `: ` or ` #`, no blank at the end, and nothing outside ASCII."""

_NO_NUMBER = re.compile(
    "[1-9].*[acdf-np-su-wyACDF-NP-SU-WY/%*@]"
    "|0.*[g-mq-su-wyG-MQ-SU-WY/%*@]"
    "|[^0-9]"
)  # fmt: skip
"""What is no number and no time; after a zero, hexadecimal digits may be one."""

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNSEEN = (
    "\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u034f\u0600-\u0605\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f"
    "\u2028-\u202f\u205f-\u206f\u3000\u3164\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff"
)
"""What one can't see: a fixed list, as Python's own changes with its version."""

_NOT_IN_BLOCK = f"[{_UNSEEN}]"
_ESCAPED = f'["\\\\\t\n{_UNSEEN}]'
_LINES_AND_TABS = str.maketrans("\t\n", "  ")


@lru_cache(maxsize=8192)  # most texts of Kubernetes objects are the same few hundred
def format_string(text: str) -> str:
    """Spell a text on one line, without quotes where every reader takes it for text.

    Raises:
        ValueError: for half a surrogate pair, which no file can hold.
    """
    return text if is_plain(text) else format_quoted(text)


def is_plain(text: str) -> bool:
    """Return whether a text means itself without quotes, to every reader, as a value or as a key."""
    if not _SAFE.fullmatch(text) or text.lower() in _WORDS:
        return False
    return _NO_NUMBER.match(text) is not None


def format_quoted(text: str) -> str:
    """Return a text in double quotes, on one line; the same errors as `spell`."""
    if text.isascii() and text.isprintable():
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return f'"{re.sub(_ESCAPED, _escape, text)}"'


def format_comment(line: str) -> str:
    """Return a line as a comment; what can't stand in YAML becomes a question mark."""
    shown = re.sub(_NOT_IN_BLOCK, "?", line) if _has_unseen(line) else line
    return f"# {shown}\n" if shown else "#\n"


def format_block(text: str, indent: str) -> str:
    """Return a text as a literal block, its lines at `indent`; empty where a block can't hold it.

    `indent` has to be two more than what the block stands in.
    """
    body = text.rstrip("\n")
    lines = body.split("\n")
    if _has_unseen(text) or not body.strip(" \t") or not lines[-1].strip(" \t"):
        return ""
    ends = len(text) - len(body)
    chomping = ("-", "")[ends] if ends <= 1 else "+"
    indicator = "2" if lines[0][:1] in {"", " ", "\t"} else ""
    written = "\n".join(f"{indent}{line}" if line else "" for line in lines)
    return f"|{indicator}{chomping}\n{written}" + "\n" * max(ends - 1, 0)


def _has_unseen(text: str) -> bool:
    """Return whether a block can't hold a text; printable ASCII costs no pattern of all Unicode."""
    if text.isascii() and text.translate(_LINES_AND_TABS).isprintable():
        return False
    return re.search(_NOT_IN_BLOCK, text) is not None


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    if "\ud800" <= character <= "\udfff":
        message = f"half a surrogate pair, U+{code:04X}, can't be written"
        raise ValueError(message)
    return f"\\u{code:04x}" if character <= "\uffff" else f"\\U{code:08x}"
