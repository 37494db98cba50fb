"""No rule could go unnoticed: for each there is an object that only it refuses."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest

from gpupool.codes import Layer, layer
from gpupool.findings import Severity
from gpupool.karpenter.validation import check as checks
from gpupool.karpenter.validation.rules import FieldRule
from tests.differential import rules
from tests.differential.trees import node
from tests.karpenter.examples import changed
from tests.karpenter.later import BROKEN
from tests.karpenter.matrix import rows

Body = dict[str, Any]
Table = Mapping[str, tuple[FieldRule, ...]]


def corpus() -> list[Body]:
    """Every object of the tables that some layer refuses; the differential test puts most to the server."""
    broken = [body for _, is_kept, body in rules.objects() if not is_kept]
    refused = [row.body for row in rows() if not row.accepted]
    return [*broken, *refused, *(changed(whole, path, value) for whole, path, value, *_ in BROKEN)]


def each_rule() -> Iterator[Any]:
    """Each rule of each kind, by the name of the table that holds it and its number there."""
    for name in ("CEL", "CONTROLLER"):
        table: Table = getattr(checks, name)
        for kind, held in table.items():
            for number, rule in enumerate(held):
                yield pytest.param(name, kind, number, id=f"{kind} {rule.code.name} {number}")


def paths(body: Body, layers: frozenset[Layer]) -> set[str]:
    """The fields that some layers blame."""
    found = checks.check(body["kind"], node(body))
    return {each.path for each in found if each.severity is Severity.ERROR and layer(each.code) in layers}


@cache
def refused_by_all(name: str, kind: str) -> dict[int, set[str]]:
    """Which objects of the corpus are refused while no rule is missing, and the fields that are blamed."""
    return {
        index: found
        for index, body in enumerate(CORPUS)
        if body["kind"] == kind and (found := paths(body, LAYERS[name]))
    }


CORPUS = corpus()
LAYERS = {
    "CEL": frozenset({Layer.STRUCTURAL, Layer.CEL}),
    "CONTROLLER": frozenset({Layer.RUNTIME, Layer.CRASH}),
}
REDUNDANT = {"spec kubelet evictionSoft", "spec kubelet evictionSoftGracePeriod"}
"""A signal in one of the two maps has to stand in the other, so an unknown one is refused twice over."""


@pytest.mark.parametrize(("name", "kind", "number"), list(each_rule()))
def test_without_it_an_object_would_pass(
    name: str, kind: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table: Table = getattr(checks, name)
    without = table[kind][number]
    left = tuple(rule for rule in table[kind] if rule is not without)
    refused = refused_by_all(name, kind)

    monkeypatch.setattr(checks, name, {**table, kind: left})
    after = {index: paths(CORPUS[index], LAYERS[name]) for index in refused}

    assert len(left) == len(table[kind]) - 1
    if without.at in REDUNDANT:
        assert after != refused
    else:
        assert not all(after.values())
