"""Whole objects made up from the schema and from what stands in the seeds."""

import random
from functools import cache
from typing import Any

from tests.differential import mutations
from tests.differential.schemas import Part, part_at, schema
from tests.differential.seeds import seeds
from tests.differential.trees import ABSENT, Body, Path, parts
from tests.karpenter.examples import FULL

ODD = 0.006
"""How often a value is none that a seed has."""

WHOLE_LISTS = 0.7
"""How often a list is one that a seed has, and not made up item by item."""


def invented(kind: str, chance: random.Random) -> Body:
    """Return an object with a random choice of a kind's fields, and mostly values that some seed has there."""
    part = schema(kind)["properties"]["spec"]
    spec = _value(kind, ("spec",), part, chance)
    if isinstance(spec, dict) and {"role", "instanceProfile"} <= spec.keys():
        del spec[chance.choice(("role", "instanceProfile"))]
    return {
        **{key: FULL[kind][key] for key in ("apiVersion", "kind")},
        "metadata": {"name": "invented"},
        "spec": spec,
    }


def known(kind: str, path: Path) -> list[object]:
    """Return what the seeds have in a place, whatever the index in a list."""
    return _known(kind).get(_shape(path), [])


def _value(kind: str, path: Path, part: Part, chance: random.Random) -> Any:  # noqa: ANN401
    if chance.random() < ODD:
        odd = mutations.one(part, ABSENT, path, chance)
        return None if odd is ABSENT else odd
    if "properties" in part:
        return _fields(kind, path, part, chance)
    if "items" in part and not (known(kind, path) and chance.random() < WHOLE_LISTS):
        count = chance.choice((0, 1, 1, 1, 2, 2, 3))
        return [_value(kind, (*path, index), part["items"], chance) for index in range(count)]
    found = chance.choice(known(kind, path) or [mutations.one(part, ABSENT, path, chance)])
    return None if found is ABSENT else found


def _fields(kind: str, path: Path, part: Part, chance: random.Random) -> Body:
    wanted = part.get("required", [])
    likely = chance.choice((0.1, 0.3, 0.6))
    chosen = [
        name
        for name in part["properties"]
        if (name in wanted and chance.random() > 0.005) or chance.random() < likely
    ]
    return {name: _value(kind, (*path, name), part["properties"][name], chance) for name in chosen}


@cache
def _known(kind: str) -> dict[Path, list[object]]:
    """Return what the seeds have in each place: scalars, lists, and whole maps where the schema leaves the keys open."""
    found: dict[Path, list[object]] = {}
    for body in seeds():
        if body["kind"] == kind:
            for path, value in parts(body["spec"], ("spec",)):
                part = part_at(kind, path)
                if part and "properties" not in part:
                    there = found.setdefault(_shape(path), [])
                    if value not in there:
                        there.append(value)
    return found


def _shape(path: Path) -> Path:
    return tuple(0 if isinstance(step, int) else step for step in path)
