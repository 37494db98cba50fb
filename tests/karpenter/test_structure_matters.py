"""No constraint of the CRDs could go unnoticed: for each there is an object that only it refuses, and so do we."""

from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

import pytest
from jsonschema import ValidationError

from gpupool.codes import Layer, layer
from gpupool.findings import Severity
from gpupool.karpenter.validation.check import CHECKED, check
from gpupool.karpenter.validation.reading import is_odd
from tests.differential.mutants import single
from tests.differential.trees import Body, node
from tests.karpenter import crds

SEED = 20_261_121
Constraint = tuple[str, str]
"""A path such as `spec template spec taints [] key`, and the word of the schema that refuses."""

REDUNDANT = {
    # The pattern asks for a character anyway.
    ("spec template spec taints [] key", "minLength"),
    ("spec template spec startupTaints [] key", "minLength"),
    # On a list these words do nothing; the validator of JSON Schema thinks so too.
    ("spec template spec requirements [] values", "maxLength"),
    ("spec template spec requirements [] values", "pattern"),
    ("spec requirements [] values", "maxLength"),
    ("spec requirements [] values", "pattern"),
    # The server fills it in.
    ("spec disruption budgets [] nodes", "required"),
    # There are three reasons, each at most once.
    ("spec disruption budgets [] reasons", "maxItems"),
}
"""Constraints that refuse nothing by themselves."""

WORDS = {
    "type", "enum", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems",
    "maxProperties", "required",
}  # fmt: skip


def constraints(part: dict[str, Any], path: str) -> Iterator[Constraint]:
    """Each thing that the schema of a kind's spec asks."""
    # A value of another type is none of the words of an enum either.
    for word in (WORDS - {"type"} if "enum" in part else WORDS) & part.keys():
        if word == "required":
            yield from ((f"{path} {name}", "required") for name in part["required"])
        else:
            yield path, word
    if part.get("x-kubernetes-int-or-string"):
        yield path, "anyOf"
    for name, child in part.get("properties", {}).items():
        yield from constraints(child, f"{path} {name}")
    if "items" in part:
        yield from constraints(part["items"], f"{path} []")
    if isinstance(part.get("additionalProperties"), dict):
        yield from constraints(part["additionalProperties"], f"{path} *")


@cache
def witnesses() -> dict[tuple[str, Constraint], Body]:
    """For each constraint an object with one mistake that it refuses, and nothing else does.

    Nulls and numbers with a point are left out: the server reads some of them as something else.
    """
    found: dict[tuple[str, Constraint], Body] = {}
    for mutant in single(Random(SEED)):  # noqa: S311 - a fixed sequence is what we want
        if not is_odd(node(mutant.body)):
            errors = list(crds.errors(mutant.kind, mutant.body))
            if len(errors) == 1:
                found.setdefault((mutant.kind, refused_by(errors[0])), mutant.body)
    return found


def refused_by(error: ValidationError) -> Constraint:
    """The constraint behind an error, its path written as `constraints` writes it."""
    steps = list(error.absolute_schema_path)
    path = []
    for before, step in zip([None, *steps], steps, strict=False):
        if before == "properties":
            path.append(str(step))
        elif step == "items":
            path.append("[]")
        elif step == "additionalProperties" and steps[-1] != step:
            path.append("*")
    if error.validator == "required":
        path.append(error.message.split("'")[1])
    return " ".join(path), str(error.validator)


@pytest.mark.parametrize("kind", CHECKED)
def test_each_constraint_alone_makes_us_refuse(kind: str) -> None:
    asked = set(constraints(crds.schema(kind)["properties"]["spec"], "spec")) - REDUNDANT

    missing, passed = [], []
    for constraint in sorted(asked):
        body = witnesses().get((kind, constraint))
        if body is None:
            missing.append(constraint)
        elif not [
            each
            for each in check(kind, node(body))
            if each.severity is Severity.ERROR and layer(each.code) is Layer.STRUCTURAL
        ]:
            passed.append(constraint)

    assert (missing, passed) == ([], [])
