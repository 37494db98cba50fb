"""Minutes of the recurring week as bit masks: one bit for each minute from Monday 00:00."""

from collections.abc import Iterator

DAY = 24 * 60
WEEK = 7 * DAY
WHOLE_WEEK = (1 << WEEK) - 1
NEVER = 0


def stretch_minutes(start: int, length: int) -> int:
    """Return the minutes from `start` on; they wrap around the end of the week."""
    return shift_minutes((1 << length) - 1, start)


def shift_minutes(minutes: int, by: int) -> int:
    """Shift every minute by `by`, which can be negative."""
    turn = by % WEEK
    return (minutes << turn | minutes >> (WEEK - turn)) & WHOLE_WEEK


def invert_minutes(minutes: int) -> int:
    """Return all other minutes of the week."""
    return minutes ^ WHOLE_WEEK


def find_stretches(minutes: int) -> Iterator[tuple[int, int]]:
    """Yield the start and length of each continuous stretch, sorted by start; the whole week starts at 0."""
    if minutes == WHOLE_WEEK:
        yield 0, WEEK
        return
    begins = list(_bits(minutes & ~shift_minutes(minutes, 1)))
    ends = list(_bits(shift_minutes(minutes, 1) & ~minutes))
    if begins and ends[0] <= begins[0]:
        ends.append(ends.pop(0) + WEEK)
    for begin, end in zip(begins, ends, strict=True):
        yield begin, end - begin


def _bits(number: int) -> Iterator[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest
