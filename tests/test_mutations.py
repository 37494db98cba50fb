"""Every field of a blueprint with every kind of value: it renders, or a finding says where and why not."""

import copy
import io
import json
import re
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpupool.api import schema_text
from gpupool.cli.app import main
from gpupool.yamlio.write import dump
from tests.tiers import is_thorough, volume

Place: TypeAlias = tuple[str | int, ...]

NAME = "pool"
"""The name of everything that a map names."""

BASE: dict[str, Any] = {
    "apiVersion": "gpupool.dev/v1alpha1",
    "kind": "Blueprint",
    "metadata": {"name": "demo"},
    "cluster": {"name": "my-cluster", "region": "us-east-1", "timezone": "UTC"},
    "defaults": {"nodeClass": {"ami": "al2023@v20260810"}},
    "pools": {"pool": {"profile": "training", "accelerator": "h100"}},
}
VALUES: tuple[Any, ...] = (None, "", [], {}, 0, -1, 1.5, True, "x", ["x"], {"x": "x"}, [[]], [{}], [None])


@cache
def schema() -> dict[str, Any]:
    """Return the blueprint's JSON Schema."""
    loaded: dict[str, Any] = json.loads(schema_text("blueprint"))
    return loaded


def fields(part: dict[str, Any], path: Place = ()) -> Iterator[Place]:
    """Yield the path of each field, each map's value and each list's item that a schema knows."""
    if path:
        yield path
    if "$ref" in part:
        yield from fields(schema()["$defs"][part["$ref"].removeprefix("#/$defs/")], path)
    for branch in (*part.get("anyOf", ()), *part.get("oneOf", ())):
        yield from fields(branch, path)
    below = {**part.get("properties", {}), **part.get("patternProperties", {})}
    if isinstance(part.get("additionalProperties"), dict):
        below[NAME] = part["additionalProperties"]
    for name, inner in below.items():
        yield from fields(inner, (*path, NAME if name.startswith("^") else name))
    if isinstance(part.get("items"), dict):
        yield from fields(part["items"], (*path, 0))


def changed(path: Place, value: object, blueprint: dict[str, Any] = BASE) -> dict[str, Any]:
    """Return a blueprint with a value at a path, and what has to lead there."""
    top: dict[str, Any] = copy.deepcopy(blueprint)
    here: Any = top
    for part, following in pairwise(path):
        if isinstance(part, int):
            here[:] = [[] if isinstance(following, int) else {}]
            here = here[0]
        else:
            if not isinstance(here.get(part), list if isinstance(following, int) else dict):
                here[part] = [] if isinstance(following, int) else {}
            here = here[part]
    if isinstance(here, list):
        here[:] = [copy.deepcopy(value)]
    else:
        here[path[-1]] = copy.deepcopy(value)
    return top


SAME_WORDS = (
    ("defaults", "pool"),
    ("defaults", "nodeClass"),
    ("nodeClasses", NAME),
    ("pools", NAME, "tiers", NAME),
)
"""Where words stand that `pools` and its `nodeClass` have too: there the first level is enough."""


def is_asked(path: Place) -> bool:
    """Return whether a field is none of those that stand elsewhere in the same words."""
    return not any(path[: len(part)] == part and len(path) > len(part) + 1 for part in SAME_WORDS)


FIELDS = [path for path in dict.fromkeys(fields(schema())) if is_asked(path)]
EACH = 4
"""How many of the values each field gets; which ones goes round, so that each part of a model gets all."""

LINE = re.compile(
    r"(gpupool\.yaml|gpupool:profiles/[a-z-]+\.yaml):[0-9]+:[0-9]+: (error|warning|info) GP[0-9]{4} \S.*"
    r"|    fix: \S.*"
    r"|error: [0-9]+ errors?"
    r"|[0-9]+ notes?; to read (it|them), run gpupool validate or add -v"
)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path_factory.getbasetemp())


def wrong(text: str) -> list[str]:
    """Render a blueprint, and give what is not as it has to be about the way in which that ended."""
    Path("gpupool.yaml").write_text(text, "utf-8")
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(["render"])
    said = err.getvalue().splitlines()
    found = [line for line in said if not LINE.fullmatch(line)]
    if code not in (0, 1):
        found.append(f"exit code {code}")
    if (code == 0) != (not any(": error GP" in line for line in said)):
        found.append(f"exit code {code} with {len(said)} lines of findings")
    return found


def test_the_walk_finds_every_section() -> None:
    assert {path[0] for path in FIELDS} == set(schema()["properties"])
    assert ("pools", NAME, "disruption", "budgets", 0, "nodes") in FIELDS
    assert ("pools", NAME, "nodeClass", "blockDeviceMappings", 0, "ebs", "iops") in FIELDS


@pytest.mark.parametrize(
    "place",
    range(0, len(FIELDS), 1 if is_thorough() else 3),
    ids=lambda place: ".".join(map(str, FIELDS[place])),
)
def test_a_field_with_any_value(place: int) -> None:
    path = FIELDS[place]
    values = [VALUES[(place * EACH + number) % len(VALUES)] for number in range(EACH)]

    assert {repr(value): found for value in values if (found := wrong(dump(changed(path, value))))} == {}


@pytest.mark.parametrize("word", ["in", "not"])
def test_an_empty_list_in_a_constraint_is_refused(word: str) -> None:
    path = ("pools", NAME, "instances", "gpus", word)
    assert path in FIELDS

    assert wrong(dump(changed(path, []))) == []


TEXTS = st.text("abz019 .-_/:%*&!|>{}[]'\"#@,?é\n\t", max_size=12)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(-1e9, 1e9), TEXTS)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@settings(
    derandomize=True, deadline=None, max_examples=volume(300, at_least=100),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(
    st.lists(
        st.tuples(st.sampled_from(FIELDS), ANYTHING),
        min_size=1,
        max_size=4,
    )
)
def test_several_fields_with_anything(changes: list[tuple[Place, Any]]) -> None:
    top = BASE
    for path, value in changes:
        top = changed(path, value, top)

    assert wrong(dump(top)) == []


@settings(
    derandomize=True, deadline=None, max_examples=volume(300, at_least=100),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(st.data())
def test_a_text_with_pieces_cut_out_and_put_in(data: st.DataObject) -> None:
    text = dump(BASE)
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 20)))
        text = text[:start] + data.draw(TEXTS) + text[end:]

    assert wrong(text) == []
