"""Dates and times as the API server accepts them, and as Go parses them (RFC 3339)."""

import re
from typing import Final

_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})")
_RFC3339 = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})([.,][0-9]+)?(Z|[+-]([0-9]{2}):([0-9]{2}))"
)
_DAYS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_LAST: Final = ("23", "59", "59")


def is_date_time(text: str) -> bool:
    """Return whether the API server's `format: date-time` accepts a text.

    It looks at the text before the first `t`, and from there to the second `t`, in either case.
    """
    day, *times = text.lower().split("t")
    if not times or not _is_date(day):
        return False
    match = _TIME.fullmatch(times[0])
    return match is not None and all(match[part] <= _LAST[part - 1] for part in (1, 2, 3))


def is_rfc3339(text: str) -> bool:
    """Return whether Go parses a text as an RFC 3339 time, as Karpenter does; the hour may have one digit."""
    match = _RFC3339.fullmatch(text)
    if match is None or not _is_date(match[1]):
        return False
    offset_fits = match[7] is None or (match[7] <= "24" and match[8] <= "60")
    return offset_fits and all(int(match[part + 1]) <= int(_LAST[part - 1]) for part in (1, 2, 3))


def _is_date(text: str) -> bool:
    match = _DATE.fullmatch(text)
    if match is None:
        return False
    year, month, day = (int(part) for part in match.groups())
    if not 1 <= month <= 12:  # noqa: PLR2004 - months of a year
        return False
    is_leap_year = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 1 <= day <= _DAYS[month - 1] + (is_leap_year and month == 2)  # noqa: PLR2004 - February
