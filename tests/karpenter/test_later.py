"""The layers after the API server: what Karpenter refuses, and what breaks it."""

from typing import Any

import pytest

from gpupool.codes import Code, Layer, layer
from gpupool.karpenter.validation.check import check
from tests.differential.trees import node
from tests.karpenter.examples import changed
from tests.karpenter.later import BROKEN, SOUND


def name(part: object) -> str:
    return str(part)[:60] if isinstance(part, str) else ""


@pytest.mark.parametrize(("whole", "path", "value", "code", "field"), BROKEN, ids=name)
def test_one_finding_at_the_place(
    whole: dict[str, Any], path: str, value: object, code: Code, field: str
) -> None:
    (found,) = check(whole["kind"], node(changed(whole, path, value)))

    assert (found.code, found.path) == (code, field)
    assert found.object.startswith(f"{whole['kind']}/")
    assert layer(found.code) in (Layer.RUNTIME, Layer.CRASH)
    assert found.fix


@pytest.mark.parametrize(("whole", "path", "value"), SOUND, ids=name)
def test_nothing_to_say(whole: dict[str, Any], path: str, value: object) -> None:
    assert check(whole["kind"], node(changed(whole, path, value))) == []


def test_every_code_of_these_layers_is_among_the_cases() -> None:
    codes = {code for code in Code if layer(code) in (Layer.RUNTIME, Layer.CRASH)}

    assert {code for _, _, _, code, _ in BROKEN} == codes


def test_each_condition_of_a_status_is_looked_at() -> None:
    body = {
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "a"},
        "status": {"conditions": [{"type": "Ready", "odd": 1}, {"type": "Ready", "queer": 2}]},
    }  # fmt: skip

    said = {each.path for each in check("NodePool", node(body)) if each.code is Code.UNKNOWN_FIELD}

    assert said == {"status.conditions[0].odd", "status.conditions[1].queer"}


@pytest.mark.parametrize(("length", "fits"), [(262_144, True), (262_145, False)])
def test_keys_and_values_of_annotations_count_together(length: int, fits: bool) -> None:
    key = "example.com/" + "k" * 60
    whole = SOUND[0][0]
    annotations = {key: "v" * (length - len(key))}

    said = check(whole["kind"], node({**whole, "metadata": {"name": "a", "annotations": annotations}}))

    assert (said == []) is fits
    assert [each.path for each in said] == ([] if fits else ["metadata.annotations"])
