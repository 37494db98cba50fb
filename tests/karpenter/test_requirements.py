"""The requirement algebra: what single requirements take, and what holds for any of them together."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpupool.karpenter.labels import ALIASES, INSTANCE_TYPE, REGION, ZONE
from gpupool.karpenter.requirements import (
    Requirement,
    build_requirement,
    combine_requirements,
    find_conflicts,
    find_disagreements,
    labels_to_requirements,
)
from tests.tiers import examples

LARGEST = 2**63 - 1
UNIVERSE = ("", "-3", "0", "1", "2", "3", "4", "5", "8", "16", "007", "+4", "4.0", " 4", "a", "l4", "٣")
"""Numbers, what only looks like one, and words."""


def of(operator: str, *values: str) -> Requirement:
    return build_requirement("key", operator, values)


def taken(found: Requirement) -> set[str]:
    return {value for value in UNIVERSE if found.has(value)}


TAKES = {
    "In": (of("In", "4", "a"), {"4", "a"}),
    "In nothing": (of("In"), set()),
    "In is of texts, not of numbers": (of("In", "7"), set()),
    "NotIn": (of("NotIn", "4", "a"), set(UNIVERSE) - {"4", "a"}),
    "Exists": (of("Exists"), set(UNIVERSE)),
    "DoesNotExist": (of("DoesNotExist"), set()),
    "Gt": (of("Gt", "4"), {"5", "8", "16", "007"}),
    "Gte": (of("Gte", "4"), {"4", "+4", "5", "8", "16", "007"}),
    "Lt": (of("Lt", "1"), {"0", "-3"}),
    "Lte": (of("Lte", "1"), {"0", "-3", "1"}),
    "a bound with leading zeros": (of("Gte", "0008"), {"8", "16"}),
    "a bound of no number counts as 0": (of("Gt", "many"), {"1", "2", "3", "4", "5", "8", "16", "007", "+4"}),
    "Gt the largest number": (of("Gt", str(LARGEST)), set()),
    "Gt more than the largest number": (of("Gt", "9" * 40), set()),
    "Lt more than the largest number": (of("Lt", "9" * 40), taken(of("Lte", "16"))),
    "Gt less than the smallest number": (of("Gt", "-" + "9" * 40), taken(of("Gte", "-3"))),
}


@pytest.mark.parametrize("name", TAKES)
def test_what_a_requirement_takes(name: str) -> None:
    found, values = TAKES[name]

    assert taken(found) == values


OPERATORS = {
    "In": (of("In", "a"), "In"),
    "In nothing": (of("In"), "DoesNotExist"),
    "NotIn": (of("NotIn", "a"), "NotIn"),
    "NotIn nothing": (of("NotIn"), "Exists"),
    "a bound": (of("Gt", "0"), "Exists"),
    "Gt the largest number": (of("Gt", str(LARGEST)), "DoesNotExist"),
    "two families": (of("In", "l4").intersection(of("In", "h100")), "DoesNotExist"),
    "bounds that contradict each other": (of("Gt", "4").intersection(of("Lt", "2")), "DoesNotExist"),
    "a value out of the bounds": (of("In", "8").intersection(of("Lt", "8")), "DoesNotExist"),
    "NotIn within a bound": (of("Gt", "0").intersection(of("NotIn", "8")), "NotIn"),
    "NotIn out of the bounds": (of("Gt", "0").intersection(of("NotIn", "0")), "Exists"),
    "bounds that only a value refused meets": (
        of("Gte", "3").intersection(of("Lte", "3")).intersection(of("NotIn", "3")),
        "NotIn",
    ),
    "In and DoesNotExist": (of("In", "a").intersection(of("DoesNotExist")), "DoesNotExist"),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_what_a_requirement_reads_as(name: str) -> None:
    found, operator = OPERATORS[name]

    assert found.operator == operator


@pytest.mark.parametrize("name", OPERATORS)
def test_a_machine_without_the_label_does_for_notin_and_doesnotexist_alone(name: str) -> None:
    found, operator = OPERATORS[name]

    assert found.matches(()) is (operator in {"NotIn", "DoesNotExist"})


def test_a_machine_with_several_values_does_where_one_of_them_does() -> None:
    assert of("In", "spot").matches(("on-demand", "spot"))
    assert not of("In", "reserved").matches(("on-demand", "spot"))
    assert of("NotIn", "spot").matches(("on-demand", "spot"))
    assert not of("DoesNotExist").matches(("on-demand",))


@pytest.mark.parametrize("alias", sorted(ALIASES))
def test_an_old_name_of_a_label_is_its_new_one(alias: str) -> None:
    assert build_requirement(alias, "In", ("x",)) == build_requirement(ALIASES[alias], "In", ("x",))
    assert [each.key for each in labels_to_requirements({alias: "x"})] == [ALIASES[alias]]


def test_old_and_new_names_are_one_label() -> None:
    found = combine_requirements(
        [
            build_requirement("failure-domain.beta.kubernetes.io/zone", "In", ("a", "b")),
            build_requirement(ZONE, "In", ("b", "c")),
            build_requirement("failure-domain.beta.kubernetes.io/region", "Exists"),
            build_requirement("beta.kubernetes.io/instance-type", "NotIn", ("t2.nano",)),
        ]
    )

    assert set(found) == {ZONE, REGION, INSTANCE_TYPE}
    assert found[ZONE].values == {"b"}


def test_the_larger_minvalues_counts_and_a_contradiction_keeps_it() -> None:
    few, many = build_requirement("key", "Gt", ("4",), 2), build_requirement("key", "Lt", ("2",), 5)

    assert few.intersection(build_requirement("key", "Exists", (), 3)).min_values == 3
    assert few.intersection(many).min_values == 5
    assert of("Exists").intersection(many).min_values == 5


def test_bounds_are_lost_where_the_values_are_listed() -> None:
    found = of("In", "1", "4", "8").intersection(of("Gt", "1")).intersection(of("Lte", "8"))

    assert (found.values, found.gte, found.lte) == (frozenset({"4", "8"}), None, None)


# Laws

VALUES = st.sampled_from(UNIVERSE)
NUMBERS = st.sampled_from(["-1", "0", "1", "2", "3", "4", "5", "8", "0004", "x", str(LARGEST)])
REQUIREMENTS = st.one_of(
    st.builds(lambda operator, values: of(operator, *values), st.sampled_from(["In", "NotIn"]), st.lists(VALUES, max_size=4)),
    st.sampled_from([of("Exists"), of("DoesNotExist")]),
    st.builds(of, st.sampled_from(["Gt", "Lt", "Gte", "Lte"]), NUMBERS),
)  # fmt: skip
COMBINED = st.recursive(
    REQUIREMENTS, lambda inner: st.builds(Requirement.intersection, inner, inner), max_leaves=4
)
laws = settings(derandomize=True, deadline=None, max_examples=examples(400))


@laws
@given(COMBINED, COMBINED)
def test_both_take_what_each_of_them_takes(one: Requirement, other: Requirement) -> None:
    assert taken(one.intersection(other)) == taken(one) & taken(other)


@laws
@given(COMBINED, COMBINED)
def test_the_order_of_two_does_not_matter(one: Requirement, other: Requirement) -> None:
    assert one.intersection(other) == other.intersection(one)
    assert one.has_intersection(other) is other.has_intersection(one)


@laws
@given(REQUIREMENTS, REQUIREMENTS, REQUIREMENTS)
def test_the_order_of_three_does_not_matter(a: Requirement, b: Requirement, c: Requirement) -> None:
    left, right = a.intersection(b).intersection(c), a.intersection(b.intersection(c))

    assert taken(left) == taken(right)
    assert left.operator == right.operator


@laws
@given(COMBINED)
def test_a_requirement_agrees_with_itself(one: Requirement) -> None:
    assert one.intersection(one) == one
    assert one.intersection(of("Exists")) == one


@laws
@given(COMBINED, COMBINED)
def test_two_agree_where_a_value_is_left(one: Requirement, other: Requirement) -> None:
    both = one.intersection(other)

    # Of two that list no values, Karpenter looks only at the bounds.
    assert one.has_intersection(other) is (both.is_complement or bool(both.values))


@laws
@given(COMBINED, st.lists(VALUES, min_size=1, max_size=3))
def test_what_is_taken_of_a_list_is_what_the_list_has_in_common(one: Requirement, values: list[str]) -> None:
    listed = of("In", *values)

    assert one.has_intersection(listed) is bool(taken(one) & set(values)) is one.matches(values)


@laws
@given(COMBINED, COMBINED)
def test_two_disagree_where_nothing_is_left_but_for_labels_that_may_be_absent(
    one: Requirement, other: Requirement
) -> None:
    found = find_disagreements({"key": one}, {"key": other})
    both_forgive = {one.operator, other.operator} <= {"NotIn", "DoesNotExist"}

    assert bool(found) is not (one.has_intersection(other) or both_forgive)


@laws
@given(COMBINED)
def test_a_label_that_nobody_knows_does_for_notin_and_doesnotexist_alone(wanted: Requirement) -> None:
    found = find_conflicts({}, {"key": wanted}, ())

    assert bool(found) is (wanted.operator in {"In", "Exists"})
    assert find_conflicts({}, {"key": wanted}, ("key",)) == []


def test_an_unknown_label_is_told_alone() -> None:
    existing = {"other": build_requirement("other", "In", ("a",))}
    incoming = {"other": build_requirement("other", "In", ("b",)), "key": of("Exists")}

    assert [each.key for each in find_conflicts(existing, incoming, ())] == ["key"]
    assert [each.key for each in find_conflicts(existing, incoming, ("key",))] == ["other"]
