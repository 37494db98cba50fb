"""What the budgets of shipped profiles do at every hour of a year."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from gpupool.karpenter import budgets as budget_rules
from gpupool.karpenter.budgets import DisruptionBudget, read_budgets
from tests.profiles.rendering import CLUSTER, render, specs, words_of

LOCAL = ZoneInfo(CLUSTER["timezone"])
NODES = 40
SATURDAY = 5


def rendered_budgets(profile: str, folder: Path) -> tuple[DisruptionBudget, ...]:
    first, *others = specs(render(folder, {"p": words_of(profile)})).values()
    assert all(other["disruption"] == first["disruption"] for other in others)
    return read_budgets({"spec": first})


def allowed(budgets: tuple[DisruptionBudget, ...], reason: str, at: datetime, nodes: int) -> int:
    """Return how many of `nodes` may go."""
    return min(nodes, budget_rules.count_allowed(budgets, reason, at, nodes))


def moments() -> Iterator[datetime]:
    """Return a moment in every fifth hour of a year, so that each hour of each weekday comes up."""
    start = datetime(2026, 1, 1, 0, 30, tzinfo=UTC)
    return (start + timedelta(hours=hour) for hour in range(0, 365 * 24, 5))


@pytest.mark.parametrize(
    "profile", ["training", "training-efa", "training-static", "neuron-training", "batch-spot"]
)
def test_jobs_are_never_moved_and_idle_nodes_go_at_once(profile: str, tmp_path: Path) -> None:
    budgets = rendered_budgets(profile, tmp_path)
    for moment in moments():
        assert allowed(budgets, "Drifted", moment, NODES) == 0
        assert allowed(budgets, "Underutilized", moment, NODES) == 0
        assert allowed(budgets, "Empty", moment, NODES) == NODES


@pytest.mark.parametrize("profile", ["inference", "spot-tiered"])
def test_model_servers_drift_one_by_one_on_saturday_night_only(profile: str, tmp_path: Path) -> None:
    budgets = rendered_budgets(profile, tmp_path)
    hours_open: dict[int, set[int]] = {}
    for moment in moments():
        local = moment.astimezone(LOCAL)
        drift = allowed(budgets, "Drifted", moment, NODES)
        assert drift in (0, 1)
        assert allowed(budgets, "Empty", moment, NODES) == 1
        if drift:
            assert (local.weekday(), 2 <= local.hour < 6) == (SATURDAY, True)
            hours_open.setdefault(local.month, set()).add(local.hour)
    assert set(hours_open) == set(range(1, 13)), "every month has a night on which new images come in"


def test_notebooks_drift_at_night_and_idle_nodes_go_at_once(tmp_path: Path) -> None:
    budgets = rendered_budgets("notebook", tmp_path)
    open_at = set()
    for moment in moments():
        drift = allowed(budgets, "Drifted", moment, NODES)
        assert drift in (0, NODES)
        assert allowed(budgets, "Underutilized", moment, NODES) == drift
        assert allowed(budgets, "Empty", moment, NODES) == NODES
        if drift:
            open_at.add(moment.astimezone(LOCAL).hour)
    assert open_at == {3, 4}


@pytest.mark.parametrize(
    ("profile", "at_once"), [("inference-spot", 8), ("neuron-inference", 1), ("general", 4), ("graviton", 4)]
)
def test_the_others_go_a_few_at_a_time_for_any_reason(profile: str, at_once: int, tmp_path: Path) -> None:
    budgets = rendered_budgets(profile, tmp_path)
    for reason in ("Empty", "Drifted", "Underutilized"):
        assert {allowed(budgets, reason, moment, NODES) for moment in moments()} == {at_once}
