"""Whole numbers as Go parses them."""

import re
from typing import Final

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_MOST_DIGITS: Final = 20
_INT64: Final = range(-(2**63), 2**63)


def parse_int64(text: str) -> int | None:
    """Parse a text of any length as Go's `strconv.ParseInt` does in 64 bits; None where it fails."""
    significant = text.lstrip("+-").lstrip("0")
    if _INTEGER.fullmatch(text) is None or len(significant) > _MOST_DIGITS:
        return None
    number = int(f"-{significant or 0}" if text[0] == "-" else significant or 0)
    return number if number in _INT64 else None
