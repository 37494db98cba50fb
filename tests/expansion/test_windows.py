"""Windows as people write them, and the budgets that a person would write by hand in UTC."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpupool.blueprint.windows import DEFAULT_REASONS, REASON_ORDER, Window, parse_days, parse_hours
from gpupool.expansion.windows.budgets import BudgetCause
from gpupool.expansion.windows.compile import CompiledBudgets, WindowError, compile_budgets
from gpupool.karpenter.budgets import DisruptionBudget, count_allowed, read_budgets
from tests.profiles.rendering import render, specs

NEW_YORK = "America/New_York"
MOVING = ("Underutilized", "Drifted")
EVERYTHING = frozenset(REASON_ORDER)
IMPLICIT = (("implicit", 0), DisruptionBudget("10%"))


def window(
    days: str, hours: str | None, timezone: str, nodes: str = "0", reasons: frozenset[str] = DEFAULT_REASONS
) -> Window:
    return Window(parse_days(days), parse_hours(hours) if hours else None, nodes, reasons, timezone)


def written(compiled: CompiledBudgets) -> list[tuple[BudgetCause, DisruptionBudget]]:
    return [(each.cause, each.budget) for each in compiled.budgets]


def protected(schedule: str, duration: str) -> tuple[BudgetCause, DisruptionBudget]:
    return ("protect", 0), DisruptionBudget("0", MOVING, schedule, duration)


# New York is five hours behind UTC from November to March and four from March to November.


def test_office_hours_begin_at_twelve_utc_in_summer_and_at_one_in_winter() -> None:
    compiled = compile_budgets(None, [window("mon-fri", "08:00-20:00", NEW_YORK)], [])
    assert written(compiled) == [
        IMPLICIT,
        protected("0 12 * 3-11 1-5", "12h"),
        protected("0 13 * 1-3,11,12 1-5", "12h"),
    ]
    (note,) = compiled.notes
    assert note.cause == ("protect", 0)
    assert note.text.startswith(
        "the protected hours are one hour longer in March and November (daylight saving in America/New_York)"
    )


def test_maintenance_closes_what_lies_between_its_windows() -> None:
    """Saturday 02:00-06:00 is 06:00-10:00 UTC in summer, 07:00-11:00 in winter; 11:00-06:00 is never inside."""
    drift = window("sat", "02:00-06:00", NEW_YORK, "10%", frozenset({"Drifted"}))
    compiled = compile_budgets([DisruptionBudget("1")], [], [drift])
    maintenance: BudgetCause = ("maintenance", 0)
    assert written(compiled) == [
        (("own", 0), DisruptionBudget("1", ("Underutilized", "Empty"))),
        (maintenance, DisruptionBudget("10%", ("Drifted",))),
        (maintenance, DisruptionBudget("0", ("Drifted",), "0 11 * * 6", "163h")),
        (maintenance, DisruptionBudget("0", ("Drifted",), "0 6 * 1-3,11,12 6", "1h")),
        (maintenance, DisruptionBudget("0", ("Drifted",), "0 10 * 3-11 6", "1h")),
    ]
    assert [note.text.partition(",")[0] for note in compiled.notes] == [
        "this window is one hour shorter in March and November (daylight saving in America/New_York)"
    ]


def test_daily_maintenance_without_daylight_saving_is_one_closure() -> None:
    """Kathmandu is 5:45 ahead: 03:00-05:00 is 21:15-23:15 UTC, so closed are the 22 hours from 23:15 on."""
    compiled = compile_budgets(None, [], [window("daily", "03:00-05:00", "Asia/Kathmandu", "2")])
    assert written(compiled) == [
        (("implicit", 0), DisruptionBudget("10%", ("Empty",))),
        (("maintenance", 0), DisruptionBudget("2", MOVING)),
        (("maintenance", 0), DisruptionBudget("0", MOVING, "15 23 * * *", "22h")),
    ]
    assert compiled.notes == ()


def test_whole_days_are_a_day_each() -> None:
    compiled = compile_budgets([], [window("mon-fri", None, "Asia/Tokyo")], [])
    assert written(compiled) == [protected("0 15 * * 0-4", "24h")]


def test_a_window_that_begins_the_day_before_in_utc_moves_its_days() -> None:
    """Monday 06:00 in Tokyo is Sunday 21:00 UTC."""
    compiled = compile_budgets([], [window("mon-fri", "06:00-07:30", "Asia/Tokyo")], [])
    assert written(compiled) == [protected("0 21 * * 0-4", "1h30m")]


def test_a_window_that_begins_the_day_after_in_utc_moves_its_days() -> None:
    """Saturday 22:00 in Sao Paulo is Sunday 01:00 UTC."""
    compiled = compile_budgets([], [window("sat-sun", "22:00-06:00", "America/Sao_Paulo")], [])
    assert written(compiled) == [protected("0 1 * * 0,1", "8h")]


def test_lord_howe_moves_its_clocks_by_half_an_hour() -> None:
    """It is 10:30 ahead of UTC in winter and 11:00 in summer, which is from October to April."""
    compiled = compile_budgets([], [window("tue", "10:30-12:00", "Australia/Lord_Howe")], [])
    assert written(compiled) == [
        protected("0 0 * 4-10 2", "1h30m"),
        protected("30 23 * 1-4,10-12 1", "1h30m"),
    ]
    assert "the protected hours are half an hour longer in April and October" in compiled.notes[0].text


def test_dublin_calls_its_winter_the_exception_and_is_like_london() -> None:
    dublin = compile_budgets([], [window("mon-fri", "09:00-17:00", "Europe/Dublin")], [])
    london = compile_budgets([], [window("mon-fri", "09:00-17:00", "Europe/London")], [])
    assert written(dublin) == written(london)
    assert protected("0 9 * 1-3,10-12 1-5", "8h") in written(dublin)


def test_a_window_that_is_always_on_needs_no_schedule_and_knows_no_change() -> None:
    whole = window("daily", None, NEW_YORK)
    compiled = compile_budgets([], [whole], [window("daily", "00:00-24:00", NEW_YORK, "3", EVERYTHING)])
    assert written(compiled) == [
        (("protect", 0), DisruptionBudget("0", MOVING)),
        (("maintenance", 0), DisruptionBudget("3")),
    ]
    assert compiled.notes == ()


def test_maintenance_shorter_than_the_shift_is_shut_while_the_clocks_change() -> None:
    compiled = compile_budgets([], [], [window("sat", "02:00-02:30", NEW_YORK, "1")])
    (note,) = compiled.notes
    assert note.text.startswith(
        "this window stays closed in March and November (daylight saving in America/New_York)"
    )
    assert note.text.endswith("of more than one hour is open in a month in which the clocks change")


def test_a_window_that_meets_the_change_of_the_first_of_november_makes_october_longer_too() -> None:
    """Saturday 18:00 to 08:00 is on its way when, on 1 November, it becomes an hour longer."""
    compiled = compile_budgets([], [window("daily", "18:00-08:00", NEW_YORK)], [])
    assert written(compiled) == [
        protected("0 22 * 3-11 *", "14h"),
        protected("0 23 * 1-3,11,12 *", "14h"),
        protected("0 23 * 10 6", "14h"),
    ]
    assert compiled.notes[0].text.startswith(
        "the protected hours are one hour longer in March and November, and in October on Saturdays"
    )


def test_a_month_that_few_days_need_is_given_to_these_alone() -> None:
    """Sydney changes on Saturday at 16:00 UTC, between 31 March or 30 September and the 6th after.

    So one Saturday night of March and one of September may meet the change. No Sunday of April comes
    before it, and none of October; these months are given to Sunday all the same, as most nights need them.
    """
    compiled = compile_budgets([], [window("fri-sun", "22:00-06:00", "Australia/Sydney")], [])
    assert written(compiled) == [
        protected("0 11 * 1-4,10-12 0,5,6", "8h"),
        protected("0 11 * 9 6", "8h"),
        protected("0 12 * 3 6", "8h"),
        protected("0 12 * 4-10 0,5,6", "8h"),
    ]


def test_dates_that_no_rule_gives_are_said() -> None:
    compiled = compile_budgets([], [window("mon", "09:00-17:00", "Asia/Gaza")], [])
    assert any("dates that differ from year to year" in note.text for note in compiled.notes)


def test_overlapping_windows_with_different_numbers_are_capped_one_by_one() -> None:
    both = [window("sat", None, "UTC", "5"), window("sat", "02:00-06:00", "UTC", "1")]
    assert written(compile_budgets([], [], both)) == [
        (("maintenance", 0), DisruptionBudget("5", MOVING, "0 0 * * 6", "24h")),
        (("maintenance", 1), DisruptionBudget("1", MOVING, "0 2 * * 6", "4h")),
        (("maintenance", 0), DisruptionBudget("0", MOVING, "0 0 * * 0", "144h")),
    ]


def test_windows_for_different_reasons_do_not_open_one_another() -> None:
    both = [
        window("sat", None, "UTC", "1", frozenset({"Drifted"})),
        window("sun", None, "UTC", "1", frozenset({"Empty"})),
    ]
    assert written(compile_budgets(None, [], both)) == [
        (("implicit", 0), DisruptionBudget("10%", ("Underutilized",))),
        (("maintenance", 0), DisruptionBudget("1", ("Empty", "Drifted"))),
        (("maintenance", 0), DisruptionBudget("0", ("Drifted",), "0 0 * * 0", "144h")),
        (("maintenance", 1), DisruptionBudget("0", ("Empty",), "0 0 * * 1", "144h")),
    ]


def test_maintenance_speaks_alone_but_for_scheduled_budgets() -> None:
    own = [
        DisruptionBudget("20%"),
        DisruptionBudget("1", ("Drifted",)),
        DisruptionBudget("2", ("Drifted", "Empty")),
        DisruptionBudget("0", ("Drifted",), "0 9 * * 1-5", "8h"),
        DisruptionBudget("4", ()),
        DisruptionBudget("7", ("Empty",)),
    ]
    compiled = compile_budgets(own, [], [window("daily", None, "UTC", "3", frozenset({"Drifted"}))])
    assert written(compiled) == [
        (("own", 0), DisruptionBudget("20%", ("Underutilized", "Empty"))),
        (("own", 2), DisruptionBudget("2", ("Empty",))),
        (("own", 3), own[3]),
        (("own", 4), own[4]),
        (("own", 5), own[5]),
        (("maintenance", 0), DisruptionBudget("3", ("Drifted",))),
    ]


@pytest.mark.parametrize(
    ("reasons", "left"), [(EVERYTHING, []), (frozenset({"Empty"}), [("Underutilized", "Drifted")])]
)
def test_the_implicit_ten_percent_stay_for_what_maintenance_does_not_own(
    reasons: frozenset[str], left: list[tuple[str, ...]]
) -> None:
    compiled = compile_budgets(None, [], [window("daily", None, "UTC", "3", reasons)])
    assert [budget for cause, budget in written(compiled) if cause[0] == "implicit"] == [
        DisruptionBudget("10%", names) for names in left
    ]


def test_without_windows_everything_stays_as_it_was_said() -> None:
    own = [
        DisruptionBudget("1", ("Drifted", "Underutilized", "Empty")),
        DisruptionBudget("0", None, "junk", "8h"),
    ]
    assert [each.budget for each in compile_budgets(own, [], []).budgets] == own
    assert compile_budgets(None, [], []).budgets == ()
    assert compile_budgets([], [], []).budgets == ()


def test_a_window_for_no_reason_does_nothing() -> None:
    nothing = window("sat", None, "UTC", "0", frozenset())
    assert written(compile_budgets(None, [nothing], [nothing])) == [IMPLICIT]


def test_more_than_fifty_budgets_name_the_window_that_no_longer_fits() -> None:
    """Each of these windows is two budgets in New York; own budgets come first."""
    many = [window("mon", f"09:00-{10 + index // 60}:{index % 60:02}", NEW_YORK) for index in range(25)]
    assert len(compile_budgets([], many, []).budgets) == 50
    with pytest.raises(WindowError, match="compile to 51 budgets; a NodePool has at most 50") as raised:
        compile_budgets([DisruptionBudget("1")], many, [])
    assert raised.value.cause == ("protect", 24)
    assert raised.value.fix


def test_many_own_budgets_alone_are_not_the_windows_concern() -> None:
    own = [DisruptionBudget(str(index)) for index in range(51)]
    assert len(compile_budgets(own, [], []).budgets) == 51


def test_the_same_windows_are_compiled_once() -> None:
    windows = [window("mon-fri", "08:00-20:00", NEW_YORK)]
    assert compile_budgets(None, windows, []) is compile_budgets(None, list(windows), [])


@pytest.mark.parametrize(
    ("reasons", "kept"), [({}, False), ({"reasons": "all"}, True), ({"reasons": ["Empty"]}, True)]
)
def test_empty_nodes_go_during_a_window_but_for_one_that_names_them(
    reasons: dict[str, object], kept: bool, tmp_path: Path
) -> None:
    protect = {"days": "daily", "hours": "08:00-20:00", **reasons}
    words = {
        "accelerator": "l4",
        "limits": {"gpus": 8},
        "disruption": {"consolidateAfter": "5m", "protect": protect},
    }

    budgets = read_budgets({"spec": specs(render(tmp_path, {"p": words}))["p"]})

    noon = datetime(2026, 6, 3, 17, tzinfo=UTC)
    assert (count_allowed(budgets, "Empty", noon, 40) == 0) is kept
    assert (count_allowed(budgets, "Drifted", noon, 40) == 0) is (reasons.get("reasons") != ["Empty"])
