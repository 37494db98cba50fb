"""Durations as Go parses them, as Karpenter does with a value that the CRD accepts."""

import re
from typing import Final

from gpupool.karpenter.integers import parse_int64

_HIGHEST: Final = 2**63
"""Nanoseconds; a positive duration must be less than this, a negative one may equal it."""

_UNITS: Final = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_PART = re.compile(r"([0-9]*)(?:(\.)([0-9]*))?([^.0-9]+)", re.ASCII)


def is_duration(text: str) -> bool:
    """Return whether Go's `time.ParseDuration` accepts a text: `90m`, `1h30m`, `-1.5s`; at most 292 years."""
    unsigned = text[1:] if text[:1] in {"-", "+"} else text
    if unsigned == "0":
        return True
    total = _sum_parts(unsigned) if unsigned else None
    return total is not None and (total < _HIGHEST or (text[0] == "-" and total == _HIGHEST))


def parse_nanoseconds(text: str) -> int | None:
    """Parse a duration without a sign into nanoseconds; None for a text that is not a duration."""
    return _sum_parts(text) if text else None


def _sum_parts(text: str) -> int | None:
    total, end = 0, 0
    while end < len(text):
        part = _PART.match(text, end)
        if part is None or part[4] not in _UNITS or not (part[1] or part[3]):
            return None
        number = parse_int64(part[1] or "0")
        if number is None:
            return None
        total += number * _UNITS[part[4]] + _parse_fraction(part[3] or "", _UNITS[part[4]])
        if total > _HIGHEST:
            return None
        end = part.end()
    return total


def _parse_fraction(digits: str, unit: int) -> int:
    """Return the nanoseconds after the point, in floating point as Go calculates them."""
    significant = digits[:18]
    return int(float(int(significant or 0)) * (unit / 10 ** len(significant)))
