"""Sets of minutes of a week that comes round, held against plain Python sets."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gpupool.expansion.windows.week import (
    NEVER,
    WEEK,
    WHOLE_WEEK,
    find_stretches,
    invert_minutes,
    shift_minutes,
    stretch_minutes,
)

SPANS = st.lists(st.tuples(st.integers(0, WEEK - 1), st.integers(1, WEEK)), max_size=4)


def as_set(minutes: int) -> set[int]:
    return {minute for minute in range(WEEK) if minutes >> minute & 1}


def union(spans: list[tuple[int, int]]) -> int:
    found = NEVER
    for start, length in spans:
        found |= stretch_minutes(start, length)
    return found


@given(spans=SPANS, by=st.integers(-2 * WEEK, 2 * WEEK))
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
def test_minutes_are_those_of_plain_sets(spans: list[tuple[int, int]], by: int) -> None:
    minutes = union(spans)
    expected = {(start + step) % WEEK for start, length in spans for step in range(length)}
    assert as_set(minutes) == expected
    assert as_set(shift_minutes(minutes, by)) == {(minute + by) % WEEK for minute in expected}
    assert as_set(invert_minutes(minutes)) == set(range(WEEK)) - expected


@given(spans=SPANS)
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
def test_stretches_are_unbroken_and_apart(spans: list[tuple[int, int]]) -> None:
    minutes = union(spans)
    found = list(find_stretches(minutes))
    assert union(found) == minutes
    assert found == sorted(found)
    assert all(0 <= start < WEEK for start, _ in found)
    assert sum(length for _, length in found) == minutes.bit_count()
    if minutes != WHOLE_WEEK:
        assert not any(minutes >> ((start - 1) % WEEK) & 1 for start, _ in found)


def test_the_whole_week_is_one_stretch_and_no_minute_is_none() -> None:
    assert list(find_stretches(WHOLE_WEEK)) == [(0, WEEK)]
    assert list(find_stretches(NEVER)) == []


def test_a_stretch_over_the_end_of_the_week_is_one() -> None:
    assert list(find_stretches(stretch_minutes(WEEK - 60, 120) | stretch_minutes(600, 5))) == [
        (600, 5),
        (WEEK - 60, 120),
    ]
