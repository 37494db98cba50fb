"""The sample of golden cases that a real server is asked about has every trait that the cases have."""

from pathlib import Path

import pytest

from tests import tiers
from tests.goldencases import FOLDER, Case, cases
from tests.goldensample import adding, sampled, traits

RENDERED = [case for case in cases() if case.expected_files is not None]
CASE = """\
kind: NodePool
spec:
  template:
    metadata: {{labels: {{{label}: x}}}}
    spec: {{nodeClassRef: {{kind: EC2NodeClass, name: absent}}, expireAfter: {expiry}}}
"""


def case(folder: Path, name: str, label: str, expiry: str) -> Case:
    made = folder / name
    (made / FOLDER / "nodepools").mkdir(parents=True)
    (made / FOLDER / "nodepools" / "pool.yaml").write_text(CASE.format(label=label, expiry=expiry), "utf-8")
    (made / "blueprint.yaml").write_text("# R1: one thing.\n", "utf-8")
    return Case(made)


def test_no_trait_is_lost() -> None:
    sample = adding(RENDERED)

    assert {trait for each in sample for trait in traits(each)} == {
        trait for each in RENDERED for trait in traits(each)
    }
    assert [each.name for each in sample] == sorted({each.name for each in sample})
    assert {each.profile for each in sample} == {each.profile for each in cases()}
    assert {trait[0] for each in sample for trait in traits(each)} >= {
        "NodePool",
        "EC2NodeClass",
        "NodeOverlay",
    }
    assert len(sample) < len(RENDERED) / 2


def test_a_case_stays_for_a_new_field_or_form_and_not_for_another_name_or_number(tmp_path: Path) -> None:
    first = case(tmp_path, "a", "one", "24h")
    same = case(tmp_path, "b", "other", "48h")
    form = case(tmp_path, "c", "one", "90m")
    word = case(tmp_path, "d", "one", "Never")

    assert ("NodePool", "template", "spec", "expireAfter", "0h") in traits(first)
    assert ("NodePool", "template", "metadata", "labels", "*", "text") in traits(first)
    assert ("outside", "EC2NodeClass") in traits(first)
    assert adding([first, same, form, word]) == [first, form, word]


@pytest.mark.parametrize("thorough", [False, True])
def test_the_thorough_tier_asks_about_all(thorough: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers._Tier, "thorough", thorough)  # noqa: SLF001 - the tier of this test alone

    assert sampled(RENDERED) == (RENDERED if thorough else adding(RENDERED))
