"""A plan for GitHub Actions: commands that are read back, a summary that fits, outputs that later steps read."""

import pytest
from hypothesis import given, settings

from gpupool.planning.plan import BlueprintPlace, Conflict, Consent, Guard, Plan, Rejection
from gpupool.reports.escaping import one_line, visible
from gpupool.reports.plan.github import render_plan, render_step_outputs, render_step_summary
from gpupool.reports.plan.wording import find_verdict
from tests.planning.plans import EXAMPLES, PLANS, change, large, plan
from tests.reports.validate.test_github import read
from tests.tiers import examples

MOST = 10


@settings(derandomize=True, max_examples=examples(150))
@given(PLANS)
def test_any_plan_is_read_back(made: Plan) -> None:
    commands = [read(line) for line in render_plan(made).split("\n")[:-1]]
    levels = [level for level, _, _ in commands]

    assert levels == sorted(levels, key=["error", "warning", "notice"].index)
    assert all(levels.count(level) <= MOST for level in ("error", "warning"))
    assert levels.count("notice") == 1
    rejected = [each for change in made.changes for each in change.rejections]
    assert (levels.count("error") > 0) == (find_verdict(made) == "blocked")
    for (_, _, message), rejection in zip(commands, rejected, strict=False):
        said = f"{rejection.field}: {rejection.message}" if rejection.field else rejection.message
        assert message == one_line(said)


def test_the_gravest_come_first_and_the_rest_is_counted() -> None:
    rejections = tuple(
        Rejection(f"spec.f{number}", "wrong", BlueprintPlace("a,b.yaml", number + 1, 2))
        for number in range(8)
    )
    made = plan(
        change("NodePool/a", "update", conflicts=(Conflict("spec.weight", "helm", "gitops", ""),) * 3),
        change("NodePool/b", "update", rejections=rejections),
        change("NodePool/c", "no-op", blocked="it is foreign"),
        guards=(Guard("references", passed=False, message="no class", remedy=""),),
    )
    lines = render_plan(made).splitlines()

    assert lines[0] == "::error file=a%2Cb.yaml,line=1,col=2,title=NodePool/b is rejected::spec.f0: wrong"
    assert [line.split("title=")[1].split("::")[0] for line in lines[:MOST]] == [
        *["NodePool/b is rejected"] * 8, "NodePool/a has a conflict", "gpupool plan",
    ]  # fmt: skip
    assert lines[9].endswith("::4 more; the step's summary has them")
    assert len([line for line in lines if line.startswith("::error ")]) == MOST


def test_deletions_are_warnings_those_with_most_nodes_first() -> None:
    lines = [line for line in render_plan(large()).splitlines() if line.startswith("::warning ")]

    assert lines[0] == (
        "::warning title=NodePool/pool-499 is to be deleted::the blueprint has it no more, it has 499 NodeClaims"
    )
    assert lines[-1].endswith("::41 more; the step's summary has them")
    assert len(lines) == MOST


@settings(derandomize=True, max_examples=100)
@given(PLANS)
def test_outputs_are_lines_of_key_and_value(made: Plan) -> None:
    pairs = dict(line.split("=", 1) for line in render_step_outputs(made, 4).split("\n")[:-1])

    assert pairs == {
        "has_changes": "true" if made.has_changes else "false",
        "creates": str(made.summary.create),
        "updates": str(made.summary.update),
        "deletes": str(made.summary.delete),
        "verdict": find_verdict(made),
        "plan_id": visible(made.id),
        "exit_code": "4",
    }


@pytest.mark.parametrize(
    ("example", "expected"),
    [
        ("unchanged", "none"),
        ("textual", "none"),
        ("create", "changes"),
        ("update", "blocked"),
        ("rejected", "blocked"),
    ],
)
def test_the_verdict_of_an_example(example: str, expected: str) -> None:
    assert find_verdict(EXAMPLES[example]) == expected


def test_the_verdict_of_deletions() -> None:
    gone = change("NodePool/old", "delete", node_claims=3)
    passed = Guard("prune", passed=True, message="not deleted", remedy="--prune")

    failed = Guard("max-deletes", passed=False, message="", remedy="")

    assert find_verdict(plan(gone, guards=(passed,))) == "changes"
    assert find_verdict(plan(gone, consent=Consent(prune=True), guards=())) == "deletes"
    assert find_verdict(plan(gone, consent=Consent(prune=True), guards=(failed,))) == "blocked"


def test_a_summary_has_room_for_more_than_a_comment() -> None:
    summary = render_step_summary(large(800))

    assert summary.count("<details>") == 800
    assert "Left out" not in summary


def test_a_summary_has_an_end_in_bytes() -> None:
    made = plan(
        *(
            change(f"NodePool/p{number}", "create", reason="é" * 100, after={"text": ["€" * 90] * 20})
            for number in range(400)
        )
    )
    summary = render_step_summary(made)

    assert 800 * 1024 < len(summary.encode()) <= 900 * 1024
    assert "Left out for length: the diffs of " in summary
