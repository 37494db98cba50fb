"""Whole numbers as Go reads them from a text."""

import re
from typing import Final

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_MOST_DIGITS: Final = 20
_INT64: Final = range(-(2**63), 2**63)


def parse_int64(text: str) -> int | None:
    """Return the number that Go's `strconv.ParseInt` reads in 64 bits, or None; however long the text is."""
    significant = text.lstrip("+-").lstrip("0")
    if _INTEGER.fullmatch(text) is None or len(significant) > _MOST_DIGITS:
        return None
    number = int(f"-{significant or 0}" if text[0] == "-" else significant or 0)
    return number if number in _INT64 else None
