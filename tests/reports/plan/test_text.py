"""A plan as text: nothing in it steers a terminal, and nothing that matters is left out."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings

from gpupool.planning.plan import Consent, Plan
from gpupool.reports.escaping import one_line, visible
from gpupool.reports.plan.text import render_plan
from gpupool.reports.plan.wording import format_value
from tests.planning.plans import EXAMPLES, HIDDEN, PLANS, change, field, plan, pool

CODES = re.compile("\x1b\\[[0-9;]*m")
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


@settings(derandomize=True, max_examples=100)
@given(PLANS)
def test_no_value_steers_a_terminal(made: Plan) -> None:
    assert not CONTROLS.search(render_plan(made, show_textual=True))


@settings(derandomize=True, max_examples=100)
@given(PLANS)
def test_colours_change_no_letter(made: Plan) -> None:
    assert CODES.sub("", render_plan(made, colour=True)) == render_plan(made)


@settings(derandomize=True, max_examples=100)
@given(PLANS)
def test_every_trouble_is_named_on_one_line(made: Plan) -> None:
    lines = render_plan(made).splitlines()

    for each in made.changes:
        for conflict in each.conflicts:
            assert any(
                one_line(conflict.path) in line and one_line(conflict.manager) in line for line in lines
            )
        for rejection in each.rejections:
            assert any(
                one_line(rejection.field) in line and one_line(rejection.message) in line for line in lines
            )
        if each.blocked:
            assert f"    blocked: {one_line(each.blocked)}" in lines
        if "delete" in each.actions:
            assert any(f" DELETE {visible(each.address)}" in line for line in lines)
    for guard in made.guards:
        assert any(one_line(guard.name) in line and one_line(guard.remedy) in line for line in lines)


def test_a_plan_without_changes_is_one_sentence() -> None:
    assert render_plan(EXAMPLES["unchanged"]) == (
        "No changes: cluster prod-eu is as blueprint ml-platform says (3 unchanged).\n"
    )


@pytest.mark.parametrize(
    ("count", "words"), [(0, "no NodeClaims"), (1, "1 NodeClaim"), (12, "12 NodeClaims")]
)
def test_a_deletion_says_how_many_node_claims_go(count: int, words: str) -> None:
    gone = change("NodePool/old", "delete", node_claims=count)
    agreed = Consent(prune=True, allow_delete=("NodePool/old",))

    assert f"\n- DELETE NodePool/old  with {words}\n" in render_plan(plan(gone, consent=agreed))
    assert f"\n- DELETE NodePool/old  with {words}, only with --prune\n" in render_plan(plan(gone))


def test_a_pool_that_is_kept_until_it_is_empty_says_so() -> None:
    gone = change("NodePool/old", "delete", node_claims=2)
    said = render_plan(plan(gone, consent=Consent(prune=True)))

    assert "\n- DELETE NodePool/old  with 2 NodeClaims, kept until they are gone\n" in said


def test_a_long_path_stays_on_its_line() -> None:
    path = "spec." + "x" * 3000
    said = render_plan(plan(change("NodePool/a", "update", fields=(field(path, 1, 2),))))

    assert f"    ~ {path}: 1 -> 2\n" in said


def test_words_only_are_counted_and_shown_when_that_is_asked() -> None:
    fields = (field("spec.weight", 1, 2), field("spec.limits.cpu", "1000", "1k", semantic=False))
    made = plan(change("NodePool/a", "update", fields=fields))

    assert "spec.limits.cpu" not in render_plan(made)
    assert "Not shown: 1 difference in formatting only; see --show-textual." in render_plan(made)
    assert '    ~ spec.limits.cpu: "1000" -> "1k"\n' in render_plan(made, show_textual=True)
    assert "Not shown" not in render_plan(made, show_textual=True)


def test_who_drifted_is_named() -> None:
    drifted = field("spec.weight", 1, 2, cause="drift", owner="")
    said = render_plan(plan(change("NodePool/a", "update", fields=(drifted,))))

    assert "    ~ spec.weight: 1 -> 2  (drift: by an unknown field manager)\n" in said
    assert "    NodePool/a spec.weight is 1, should be 2\n" in said


def test_what_was_not_dry_run_is_said() -> None:
    said = render_plan(
        plan(change("NodePool/a", "update", verified="read-only"), change("NodePool/b", "no-op"))
    )

    assert "    not checked by the API server in a dry run (read-only)\n" in said
    assert said.endswith("Not checked by the API server in a dry run: 1 object.\n")


def test_a_plan_that_is_not_saved_names_no_id() -> None:
    made = replace(EXAMPLES["create"], id="")

    assert "Plan " not in render_plan(made)
    assert "good until" not in render_plan(made)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("16", '"16"'), (16, "16"), (None, "null"), (["a", {"b": True}], '["a", {"b": true}]'), (HIDDEN, HIDDEN),
        ("(sensitive, of course)", '"(sensitive, of course)"'), ("é\x1b", '"é\\u001b"'), ("\u202e", r'"\u202e"'),
        ("x" * 500, '"' + "x" * 299 + "…"),
    ],
)  # fmt: skip
def test_a_value_on_one_line(value: object, expected: str) -> None:
    assert format_value(value) == expected


def test_a_rejected_object_that_is_new_has_no_body() -> None:
    made = plan(change("NodePool/a", "create", after=None))

    assert "\n! " not in render_plan(made)
    assert "\n+ create NodePool/a  gpupool.yaml:12\n\nChanges: 1 to create.\n" in render_plan(made)


def test_a_new_object_is_shown_whole() -> None:
    lines = render_plan(plan(change("NodePool/a", "create"))).splitlines()
    leaves = pool("a")["spec"]["template"]["spec"]["taints"][0].values()

    assert all(any(str(leaf) in line for line in lines if line.startswith("    + ")) for leaf in leaves)
