"""Summaries of changed fields by their cause."""

import pytest

from gpupool.planning.plan import BlueprintCause, BlueprintPlace, CauseSummary, FieldChange
from gpupool.planning.summaries import SummarizedField, calculate_effect, find_summarized, summarize
from tests.planning.plans import field

BUDGETS = "spec.disruption.budgets[]"
GPUS = "spec.limits[nvidia.com/gpu]"


def cause(name: str) -> BlueprintCause:
    return BlueprintCause(BlueprintPlace("gpupool.yaml", 9, 41), "pool", name)


def made(*fields: FieldChange, is_calculated: bool = True) -> list[SummarizedField]:
    return [SummarizedField(each, is_calculated) for each in fields]


def line(summary: CauseSummary) -> str:
    return f"{summary.cause.field}: {summary.before}|{summary.after} ({summary.effect})"


def test_a_window_with_its_old_text() -> None:
    causes = (cause("disruption.maintenance"),)
    changed = [field(BUDGETS, "a", None, causes=causes), field(BUDGETS, None, "b", causes=causes)] * 2

    (summary,) = summarize(made(*changed), {causes[0].field: "sat"}, {causes[0].field: "sun"})

    assert line(summary) == "disruption.maintenance: sat|sun (1 budget)"
    assert summary.paths == (BUDGETS,)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({"limits.usdPerHour": "500"}, {"limits.usdPerHour": "600"}, "500|600 (nvidia.com/gpu 8 → 9)"),
        ({}, {"limits.usdPerHour": "600"}, "|600 (nvidia.com/gpu 8 → 9)"),
        ({"weight": "1"}, {"limits.usdPerHour": "600"}, "not set|600 (nvidia.com/gpu 8 → 9)"),
        ({"limits.usdPerHour": "500"}, {}, "500| (nvidia.com/gpu 8 → 9)"),
    ],
)
def test_a_calculated_limit(before: dict[str, str], after: dict[str, str], said: str) -> None:
    changed = field(GPUS, 8, 9, causes=(cause("limits.usdPerHour"),))

    (summary,) = summarize(made(changed), before, after)

    assert line(summary) == f"limits.usdPerHour: {said}"


def test_a_value_as_it_is_in_the_blueprint_is_its_own_line() -> None:
    weight = field("spec.weight", 1, 2, causes=(cause("weight"),))

    assert summarize(made(weight, is_calculated=False), {"weight": "1"}, {"weight": "2"}) == ()


def test_drift_and_formatting_are_no_part_of_a_summary() -> None:
    causes = (cause("limits.usdPerHour"),)
    drift, textual = (
        field(GPUS, 8, 9, causes=causes, cause="drift"),
        field(GPUS, 8, "8", causes=causes, semantic=False),
    )

    assert summarize(made(drift, textual), {}, {"limits.usdPerHour": "600"}) == ()


def test_a_field_with_two_causes_is_part_of_both_summaries() -> None:
    causes = cause("accelerator"), cause("limits.usdPerHour")
    limit, name = field(GPUS, 8, 9, causes=causes), field("spec.x", 1, 2, causes=causes[:1])
    inputs = {"accelerator": "h100", "limits.usdPerHour": "600"}

    first, second = summarize(made(limit, name), {}, inputs)

    assert find_summarized(first, [limit, name]) == [limit, name]
    assert find_summarized(second, [limit, name]) == [limit]


@pytest.mark.parametrize(
    ("paths", "known", "unknown"),
    [
        ([BUDGETS] * 4, "4 budgets", "4 budgets change"),
        (["spec.a.requirements[key=x,operator=In].values[]", "spec.a.requirements[key=y,operator=In]"], "2 requirements", "2 requirements change"),
        (["spec.a.requirements[key=x,operator=In].values[]"] * 2, "1 requirement", "1 requirement changes"),
        (["spec.amiSelectorTerms[]"] * 2, "amiSelectorTerms", "amiSelectorTerms changes"),
        ([GPUS, "spec.x.labels[a]"], "nvidia.com/gpu none → 1, 1 label", "nvidia.com/gpu none → 1, 1 label changes"),
        (["spec.limits.cpu"], "cpu none → 1", "cpu none → 1"),
    ],
)  # fmt: skip
def test_an_effect(paths: list[str], known: str, unknown: str) -> None:
    changed = [field(path, None, 1) for path in paths]

    assert (calculate_effect(changed, is_known=True), calculate_effect(changed, is_known=False)) == (
        known,
        unknown,
    )
