"""What admission changes, and what is only a default of the CRDs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gpupool.planning.admission import find_admission_changes

if TYPE_CHECKING:
    from gpupool.yamlio.located import Plain

DEFAULTED: list[dict[str, Plain]] = [{"reasons": ["Underutilized"], "nodes": "10%"}, {"nodes": "10%"}]


def body(budgets: list[dict[str, Plain]]) -> dict[str, Plain]:
    return {"metadata": {}, "spec": {"disruption": {"budgets": list(budgets)}}}


def test_the_default_of_a_budget_is_no_change() -> None:
    assert find_admission_changes(body([{"reasons": ["Underutilized"]}, {}]), body(DEFAULTED)) == []


@pytest.mark.parametrize(
    "stored",
    [
        [{"reasons": ["Underutilized"], "nodes": "5%"}, {"nodes": "10%"}],
        [
            {"reasons": ["Underutilized"], "nodes": "10%", "schedule": "@daily", "duration": "1h"},
            {"nodes": "10%"},
        ],
        DEFAULTED[:1],
    ],
    ids=["another number", "a schedule", "one budget less"],
)
def test_anything_else_is_one(stored: list[dict[str, Plain]]) -> None:
    assert find_admission_changes(body([{"reasons": ["Underutilized"]}, {}]), body(stored)) != []
