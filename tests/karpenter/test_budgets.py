"""Karpenter's arithmetic of budgets in cases that a person can check by hand."""

from datetime import UTC, datetime, timedelta

import pytest

from gpupool.karpenter.budgets import (
    UNBOUNDED,
    DisruptionBudget,
    count_allowed,
    find_active_minutes,
    read_budgets,
)

MONDAY_NIGHT = datetime(2026, 3, 2, 23, 59, tzinfo=UTC)


def test_the_smallest_budget_in_force_counts() -> None:
    budgets = [DisruptionBudget("50%"), DisruptionBudget("0", ("Drifted",), "0 22 * 1-3,11 1-5", "8h")]
    assert count_allowed(budgets, "Drifted", MONDAY_NIGHT, 9) == 0
    assert count_allowed(budgets, "Empty", MONDAY_NIGHT, 9) == 5
    assert count_allowed(budgets, "Drifted", MONDAY_NIGHT + timedelta(hours=6), 9) == 0
    assert count_allowed(budgets, "Drifted", MONDAY_NIGHT + timedelta(hours=6, minutes=1), 9) == 5
    assert count_allowed(budgets, "Drifted", datetime(2026, 3, 1, 23, tzinfo=UTC), 9) == 5
    assert count_allowed(budgets, "Drifted", datetime(2026, 4, 6, 23, tzinfo=UTC), 9) == 5
    assert count_allowed(budgets[1:], "Empty", MONDAY_NIGHT, 9) == UNBOUNDED


@pytest.mark.parametrize(
    ("nodes", "of", "number"),
    [("10%", 1, 1), ("10%", 19, 2), ("0%", 5, 0), ("100%", 5, 5), ("5", 1, 5), ("10%", 0, 0), ("007", 9, 7), ("3000000000", 9, -1294967296), ("9" * 20, 9, 0)],
)  # fmt: skip
def test_a_percentage_rounds_up_and_a_long_number_wraps(nodes: str, of: int, number: int) -> None:
    assert count_allowed([DisruptionBudget(nodes)], "Empty", MONDAY_NIGHT, of) == number


def test_one_schedule_that_can_not_be_read_stops_every_reason() -> None:
    budgets = [DisruptionBudget("5"), DisruptionBudget("1", ("Drifted",), "0 9 * * 1-7", "8h")]
    assert count_allowed(budgets, "Empty", MONDAY_NIGHT, 9) == 0


def test_a_schedule_without_any_hit_holds_all_the_time() -> None:
    never = DisruptionBudget("0", None, "0 0 30 2 *", "8h")
    assert count_allowed([never], "Empty", MONDAY_NIGHT, 9) == 0
    assert find_active_minutes(never, MONDAY_NIGHT, 600_000) == (1 << 600_000) - 1


def test_no_reason_at_all_is_no_budget() -> None:
    assert count_allowed([DisruptionBudget("0", ())], "Empty", MONDAY_NIGHT, 9) == UNBOUNDED


def test_budgets_are_read_as_the_server_stores_them() -> None:
    assert read_budgets({"spec": {"template": {}}}) == (DisruptionBudget("10%"),)
    assert read_budgets({"spec": {"disruption": {"budgets": None}}}) == (DisruptionBudget("10%"),)
    assert read_budgets({"spec": {"disruption": {"budgets": []}}}) == ()
    budgets = read_budgets(
        {
            "spec": {
                "disruption": {
                    "budgets": [
                        {"nodes": "1", "reasons": ["Empty"], "schedule": "@daily", "duration": "1h"},
                        {"reasons": []},
                        {"reasons": None},
                    ]
                }
            }
        }
    )
    assert budgets == (
        DisruptionBudget("1", ("Empty",), "@daily", "1h"),
        DisruptionBudget("10%", ()),
        DisruptionBudget("10%"),
    )
