"""Quantities as Go reads them: a text may fit the CRD's pattern and still be none."""

import re
from typing import Final

_EXPONENT = re.compile(r"[+-]?[0-9.]*[eE](?P<digits>.+)", re.ASCII)
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_INT64: Final = range(-(2**63), 2**63)


def is_quantity(text: str) -> bool:
    """Say whether Go reads a text that fits the CRDs' pattern; an exponent has to be a whole number."""
    match = _EXPONENT.fullmatch(text)
    if match is None:
        return bool(text)
    digits = match["digits"]
    return digits == "i" or (_INTEGER.fullmatch(digits) is not None and int(digits) in _INT64)
