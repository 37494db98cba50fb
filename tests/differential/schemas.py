"""The real CRD schemas as lists of places, status included."""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import yaml

from tests.differential.trees import ABSENT, Path, at
from tests.karpenter.crds import FILES
from tests.karpenter.examples import FULL
from tests.rig.sources import crd_folder

Part = dict[str, Any]
KINDS = tuple(FILES)


class Place(NamedTuple):
    """A field of a kind, at the first item of each list and the first key of each map."""

    kind: str
    path: Path
    part: Part


@cache
def schema(kind: str) -> Part:
    """Return the whole OpenAPI schema of a kind."""
    crd = yaml.load((crd_folder() / FILES[kind]).read_bytes(), Loader=yaml.CSafeLoader)
    (version,) = crd["spec"]["versions"]
    found: Part = version["schema"]["openAPIV3Schema"]
    return found


@cache
def places(kind: str, root: str = "spec") -> tuple[Place, ...]:
    """Return each field of a kind's `spec` or `status`."""
    return tuple(_places(kind, (root,), schema(kind)["properties"][root]))


def part_at(kind: str, path: Path) -> Part | None:
    """Return the schema of what stands at a path; None where the schema names nothing."""
    part: Part | None = schema(kind)
    for step in path:
        if part is None:
            return None
        within = part.get("properties", {})
        part = (
            part.get("items") if isinstance(step, int) else within.get(step, part.get("additionalProperties"))
        )
    return part


def rules(kind: str) -> Iterator[tuple[str, str]]:
    """Yield each CEL rule that a new object has to keep: its path (`spec.taints[].key`) and its message."""
    yield from _rules(schema(kind), "")


def _places(kind: str, path: Path, part: Part) -> Iterator[Place]:
    yield Place(kind, path, part)
    for name, child in part.get("properties", {}).items():
        yield from _places(kind, (*path, name), child)
    if "items" in part:
        yield from _places(kind, (*path, 0), part["items"])
    if "additionalProperties" in part:
        yield from _places(kind, (*path, _key(kind, path)), part["additionalProperties"])


def _key(kind: str, path: Path) -> str:
    there = at(FULL[kind], path)
    return (
        next(iter(there)) if isinstance(there, dict) and there is not ABSENT and there else "example.com/key"
    )


def _rules(part: Part, path: str) -> Iterator[tuple[str, str]]:
    for rule in part.get("x-kubernetes-validations", ()):
        if "oldSelf" not in rule["rule"]:
            yield path, rule["message"]
    for name, child in part.get("properties", {}).items():
        yield from _rules(child, f"{path}.{name}" if path else name)
    if "items" in part:
        yield from _rules(part["items"], f"{path}[]")
    if "additionalProperties" in part:
        yield from _rules(part["additionalProperties"], f"{path}.*")
