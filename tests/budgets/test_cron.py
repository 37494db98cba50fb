"""Schedules: the grammar that Karpenter's parser has, and the days that they hit."""

from datetime import UTC, datetime, timedelta

import pytest

from gpupool.karpenter.cron import CronError, parse_cron
from tests.budgets.schedules import hits


@pytest.mark.parametrize(
    "text",
    [
        "0 9 * * *",
        "0 9 * * 0-6",
        "*/5 0-23/2 1,15 jan-DEC sun-sat",
        "? ? ? ? ?",
        " 0  9 * * 1-5 ",
        "5/10 0 * * *",
        "@daily",
        "0 9 1,,2 * *",
    ],
)
def test_these_are_schedules(text: str) -> None:
    assert list(hits(text, datetime(2028, 1, 1, tzinfo=UTC), datetime(2029, 1, 1, tzinfo=UTC)))


@pytest.mark.parametrize(
    "text",
    [
        "0 9 * * 7", "0 9 * * 1-7", "0 9 * * sat-sun", "0 9 * * 6-0", "0 9 L * *", "0 9 15W * *", "0 9 * * 5#2",
        "*/0 9 * * *", "0 0 9 * * *", "0 9 * *", "60 9 * * *", "0 24 * * *", "0 9 0 * *", "0 9 32 * *", "0 9 * 13 *",
        "mon 9 * * *", "0 9 * * monday", "TZ=UTC 0 9 * * *", "@Daily", "@every 1h", "0 9 * 11-3 *", "0 9 1-2-3 * *", "",
    ],
)  # fmt: skip
def test_these_are_none(text: str) -> None:
    with pytest.raises(CronError, match="schedule"):
        parse_cron(text)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("0 12 * * *", range(1, 31)),
        ("0 12 * * 0", (2, 9, 16, 23, 30)),  # 2 April 2028 is a Sunday
        ("0 12 * 4 sat", (1, 8, 15, 22, 29)),
        ("0 12 * 1-3,5-12 *", ()),
        ("0 12 10 * *", (10,)),
        ("0 12 10 * 0", (2, 9, 10, 16, 23, 30)),  # both restricted: either will do
        ("0 12 */10 * 0", (1, 2, 9, 11, 16, 21, 23, 30)),  # a step makes a star a restriction
        ("0 12 */1 * 0", (2, 9, 16, 23, 30)),
    ],
)
def test_days_are_hit(text: str, days: tuple[int, ...]) -> None:
    begin = datetime(2028, 4, 1, tzinfo=UTC)
    assert [hit.day for hit in hits(text, begin, begin + timedelta(days=30))] == list(days)


def test_hits_begin_with_the_first_minute_and_end_before_the_last() -> None:
    begin = datetime(2028, 4, 1, 10, tzinfo=UTC)
    found = list(hits("*/30 10,11 * * *", begin, begin + timedelta(minutes=90)))
    assert [f"{hit:%H:%M}" for hit in found] == ["10:00", "10:30", "11:00"]


@pytest.mark.parametrize(
    ("text", "after", "hit"),
    [
        ("0 0 29 2 *", "2028-02-29T00:00:00", "2032-02-29T00:00:00"),
        ("0 0 29 2 *", "2096-03-01T00:00:00", None),  # 2100 is no leap year, and 2104 is too far
        ("0 0 29 2 *", "2098-12-31T23:59:59", "2104-02-29T00:00:00"),
        ("0 0 30 2 *", "2028-01-01T00:00:00", None),
        (", 0 * * *", "2028-01-01T00:00:00", None),
        ("30 * * * *", "2028-01-01T00:30:00", "2028-01-01T01:30:00"),
        ("30 * * * *", "2028-01-01T00:29:59", "2028-01-01T00:30:00"),
        ("15 3 * * *", "2028-12-31T03:15:01", "2029-01-01T03:15:00"),
    ],
)
def test_the_next_hit_is_searched_for_five_years(text: str, after: str, hit: str | None) -> None:
    found = parse_cron(text).find_next(datetime.fromisoformat(f"{after}Z"))
    assert found == (datetime.fromisoformat(f"{hit}Z") if hit else None)
