"""`gpupool schema plan` agrees with what a plan file holds."""

import copy
import json
from typing import Any

import jsonschema
import pytest

from gpupool.api import schema_text
from gpupool.planning.file import render_plan
from tests.planning.plans import EXAMPLES

SCHEMA: dict[str, Any] = json.loads(schema_text("plan"))
UPDATE: dict[str, Any] = json.loads(render_plan(EXAMPLES["update"]))


def mistakes(document: object) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(document)]


def test_is_a_valid_schema() -> None:
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("example", EXAMPLES)
def test_takes_every_example(example: str) -> None:
    assert mistakes(json.loads(render_plan(EXAMPLES[example]))) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("id",), 1), (("impact",), {}), (("target", "uid"), None), (("inventory", "serial"), "7"),
        (("changes", 1, "actions"), ["replace"]), (("changes", 1, "fields", 0, "semantic"), "yes"), (("changes",), {}),
        (("changes", 1, "verified"), "guessed"), (("summary", "delete"), None), (("guards",), [{}]),
    ],
)  # fmt: skip
def test_refuses_what_is_wrong(path: tuple[str | int, ...], value: object) -> None:
    changed: Any = copy.deepcopy(UPDATE)
    here = changed
    for key in path[:-1]:
        here = here[key]
    here[path[-1]] = value

    assert mistakes(changed)


def test_every_class_is_described_and_so_is_what_its_name_does_not_say() -> None:
    classes = {"Plan": SCHEMA, **SCHEMA["$defs"]}
    described = {
        f"{name}.{key}"
        for name, part in classes.items()
        for key, field in part["properties"].items()
        if "description" in field
    }

    assert [name for name, part in classes.items() if len(part.get("description", "")) < 10] == []
    assert {
        "Plan.id",
        "Plan.orphans",
        "Change.address",
        "FieldChange.cause",
        "Consent.onConflict",
        "PlanSource.files",
    } <= described
    assert "title" not in SCHEMA["properties"]["createdAt"]
