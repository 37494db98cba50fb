"""The calendar's hours against the minutes that they hold, in weeks with and without a change of the clocks."""

import random
from collections import defaultdict
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from gpupool.errors import UsageError
from gpupool.expansion.windows.timezones import UnknownTimezoneError
from gpupool.explain.calendar import DAYS_IN_WEEK, HOURS_IN_DAY, Calendar, build_calendar
from gpupool.karpenter.budgets import REASONS, count_allowed, read_budgets
from gpupool.yamlio.located import Plain
from tests.budgets.schedules import readable
from tests.tiers import volume

SEED = 20_261_122
WEEKS = [
    ("UTC", date(2026, 11, 18)),
    ("America/New_York", date(2026, 11, 1)),  # 25 hours on Sunday
    ("America/New_York", date(2026, 3, 8)),  # 23 hours on Sunday
    ("Australia/Lord_Howe", date(2026, 4, 5)),  # the clocks change by half an hour
    ("America/Santiago", date(2026, 9, 5)),  # midnight is skipped
    ("Asia/Kathmandu", date(2026, 12, 31)),
    ("Pacific/Kiritimati", date(2028, 2, 29)),
    ("Pacific/Pago_Pago", date(2028, 2, 29)),
]


def body(*budgets: Plain, **spec: Plain) -> Plain:
    return {"metadata": {"name": "a"}, "spec": {"disruption": {"budgets": list(budgets)}, **spec}}


def generated(seed: int) -> Plain:
    chance = random.Random(seed)  # noqa: S311 - a fixed sequence is what we want
    budgets: list[Plain] = []
    for _ in range(chance.randrange(1, 5)):
        budget: dict[str, Plain] = {"nodes": chance.choice(["0", "1", "3", "10%", "50%", "90"])}
        if chance.random() < 0.6:
            budget["reasons"] = [*chance.sample(REASONS, chance.randrange(1, 3))]
        if chance.random() < 0.9:
            budget |= {
                "schedule": readable(chance),
                "duration": chance.choice(["10m", "45m", "1h30m", "8h", "40h"]),
            }
        budgets.append(budget)
    return body(*budgets)


def reckoned(
    said: Plain, nodes: int, timezone: str, day: date
) -> dict[str, dict[tuple[date, int], set[int]]]:
    """Return for each reason, local day and hour the numbers of its minutes, asked for one by one."""
    zone = ZoneInfo(timezone)
    monday = day - timedelta(days=day.weekday())
    begin = datetime(monday.year, monday.month, monday.day, tzinfo=UTC) - timedelta(days=1)
    budgets = read_budgets(said)
    found: dict[str, dict[tuple[date, int], set[int]]] = {reason: defaultdict(set) for reason in REASONS}
    for minute in range(0, 9 * 24 * 60, 5):  # every schedule here begins at any minute, so 5 is a sample
        instant = begin + timedelta(minutes=minute)
        local = instant.astimezone(zone)
        for reason in REASONS:
            number = max(0, min(nodes, count_allowed(budgets, reason, instant, nodes)))
            found[reason][local.date(), local.hour].add(number)
    return found


@pytest.mark.parametrize(("timezone", "day"), WEEKS, ids=[f"{zone} {day}" for zone, day in WEEKS])
def test_every_hour_has_the_smallest_number_of_its_minutes(timezone: str, day: date) -> None:
    for seed in range(SEED, SEED + volume(3, at_least=1)):
        said = generated(seed)
        made = build_calendar(said, 10, timezone, day)
        truth = reckoned(said, 10, timezone, day)
        for reason in REASONS:
            for row in range(DAYS_IN_WEEK):
                for hour in range(HOURS_IN_DAY):
                    number = made.weeks[reason][row][hour]
                    minutes = truth[reason][made.monday + timedelta(days=row), hour]
                    where = f"seed {seed}: {reason} {row} {hour}"
                    if number is None:
                        assert not minutes, where
                        continue
                    # Asked only every fifth minute, the truth may miss a number but never has one more.
                    is_changing = (row, hour) in made.changing[reason]
                    assert number in minutes or is_changing, where
                    assert number <= min(minutes), where
                    assert len(minutes) == 1 or is_changing, where


def numbers(made: Calendar, reason: str, row: int) -> list[int | None]:
    return list(made.weeks[reason][row])


def test_an_office_day_is_the_day_on_the_wall() -> None:
    said = body({"nodes": "0", "reasons": ["Drifted"], "schedule": "0 13 * * 1-5", "duration": "12h"})
    made = build_calendar(said, 4, "America/New_York", date(2026, 11, 19))
    assert made.monday == date(2026, 11, 16)
    assert numbers(made, "Drifted", 0) == [4] * 8 + [0] * 12 + [4] * 4
    assert numbers(made, "Drifted", 5) == [4] * 24
    assert numbers(made, "Empty", 0) == [4] * 24
    assert not any(made.changing.values())


def test_an_hour_in_which_the_number_changes_shows_the_smaller_one() -> None:
    made = build_calendar(
        body({"nodes": "1", "schedule": "30 9 * * *", "duration": "45m"}), 4, "UTC", date(2026, 11, 16)
    )
    assert numbers(made, "Empty", 2) == [4] * 9 + [1, 1] + [4] * 13
    assert made.changing["Empty"] == {(row, hour) for row in range(7) for hour in (9, 10)}


def test_an_hour_that_the_clocks_skip_has_no_number() -> None:
    made = build_calendar(body(), 4, "America/New_York", date(2026, 3, 8))
    assert numbers(made, "Empty", 6) == [4, 4, None, *[4] * 21]


def test_one_schedule_that_can_not_be_read_closes_the_week() -> None:
    made = build_calendar(
        body({"nodes": "5"}, {"nodes": "1", "schedule": "0 9 * * 7", "duration": "1h"}),
        9,
        "UTC",
        date(2026, 3, 8),
    )
    assert {number for week in made.weeks.values() for row in week for number in row} == {0}
    assert [budget.schedule for budget in made.unreadable] == ["0 9 * * 7"]


@pytest.mark.parametrize(
    ("disruption", "more", "reasons"),
    [
        ({"consolidateAfter": "0s"}, {}, []),
        ({"consolidateAfter": "Never"}, {}, ["Empty", "Underutilized"]),
        ({"consolidateAfter": "5m", "consolidationPolicy": "WhenEmpty"}, {}, ["Underutilized"]),
        ({"consolidateAfter": "0s"}, {"replicas": 2}, ["Empty", "Underutilized"]),
        (
            {"consolidateAfter": "0s"},
            {"template": {"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}}},
            ["Empty", "Drifted", "Underutilized"],
        ),
    ],
    ids=["all", "never", "empty only", "static", "protected"],
)
def test_some_reasons_never_come_up(disruption: Plain, more: dict[str, Plain], reasons: list[str]) -> None:
    said: Plain = {"metadata": {"name": "a"}, "spec": {"disruption": disruption, **more}}
    assert list(build_calendar(said, 1, "UTC", date(2026, 3, 8)).ruled_out) == reasons


def test_an_unknown_time_zone_is_an_error() -> None:
    with pytest.raises(UnknownTimezoneError, match="New_Yrok"):
        build_calendar(body(), 1, "America/New_Yrok", date(2026, 3, 8))


@pytest.mark.parametrize("day", [date.min, date(1972, 12, 31), date(9991, 1, 1), date.max], ids=str)
def test_a_week_that_can_not_be_reckoned_is_an_error(day: date) -> None:
    with pytest.raises(UsageError, match=day.isoformat()):
        build_calendar(body(), 1, "UTC", day)


@pytest.mark.parametrize("day", [date(1973, 1, 1), date(9990, 12, 31)], ids=str)
def test_the_first_and_the_last_week_can_be_reckoned(day: date) -> None:
    never = body({"nodes": "0", "schedule": "0 0 30 2 *", "duration": "9000h"})
    assert numbers(build_calendar(never, 1, "Pacific/Kiritimati", day), "Empty", 6) == [0] * 24
