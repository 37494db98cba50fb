"""A rule over one place of an object: where it looks, what it holds against it, how rules are asked."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple, TypeAlias

from gpupool.codes import Code
from gpupool.findings import Finding, Location
from gpupool.shapes.error_messages import ErrorPath, dotted
from gpupool.yamlio.located import Located

_LONGEST = 500
"""Enough of a message that quotes a value; nobody reads a value of megabytes."""

ITEMS = "[]"
"""The step of a path that stands for each item of a list."""


class Complaint(NamedTuple):
    """What a rule holds against one place."""

    at: Location
    message: str
    fix: str = ""


FieldCheck: TypeAlias = Callable[[Located], Iterator[Complaint]]


class FieldRule(NamedTuple):
    """A check of everything that stands at one path, as in `spec template spec requirements [] key`.

    The check is only asked where the schema has nothing against what it would read, so it finds every
    required field, and every value of its type; nulls count as absent.
    """

    code: Code
    at: str
    check: FieldCheck


def run_rules(rules: tuple[FieldRule, ...], body: Located, broken: Collection[ErrorPath]) -> list[Finding]:
    """Ask every rule about an object; `broken` are the paths where the schema is not kept."""
    found: list[Finding] = []
    _ask(_tree(rules), body, (), broken, found)
    return found


def find_value(node: Located, key: str) -> Located | None:
    """Return what stands under a key, or None where there is nothing or a null."""
    found = node.value.get(key) if isinstance(node.value, dict) else None
    return None if found is None or found.value is None else found


def find_values(node: Located, *keys: str) -> list[Located]:
    """Return what stands under those of `keys` that are there."""
    return [found for key in keys if (found := find_value(node, key)) is not None]


def read_number(node: Located, key: str) -> int | None:
    """Return the whole number under a key; None where there is none."""
    found = find_value(node, key)
    return found.value if found is not None and isinstance(found.value, int) else None


def read_text(node: Located, key: str) -> str:
    """Return the text under a key; the empty text where there is none."""
    found = find_value(node, key)
    return found.value if found is not None and isinstance(found.value, str) else ""


@dataclass(slots=True)
class _Place:
    """The rules over one path, and those over what is below it."""

    rules: list[FieldRule] = field(default_factory=list)
    below: "dict[str, _Place]" = field(default_factory=dict)


@cache
def _tree(rules: tuple[FieldRule, ...]) -> _Place:
    """Sort rules by their paths, so that each place of an object is looked up once for all of them."""
    root = _Place()
    for rule in rules:
        here = root
        for step in rule.at.split():
            here = here.below.setdefault(step, _Place())
        here.rules.append(rule)
    return root


def _ask(
    place: _Place, node: Located, path: ErrorPath, broken: Collection[ErrorPath], found: list[Finding]
) -> None:
    if place.rules and not (broken and any(_touch(path, bad) for bad in broken)):
        for rule in place.rules:
            for at, message, fix in rule.check(node):
                said = message if len(message) <= _LONGEST else f"{message[:_LONGEST]}…"
                found.append(Finding(rule.code, said, at, fix, path=dotted(path)))
    for step, inside in _inside(node):
        below = place.below.get(ITEMS if isinstance(step, int) else step)
        if below is not None and inside.value is not None:
            _ask(below, inside, (*path, step), broken, found)


def _inside(node: Located) -> Iterable[tuple[str | int, Located]]:
    """Return what stands in a map or list, each with the step that leads to it."""
    if isinstance(node.value, dict):
        return node.value.items()
    return enumerate(node.value) if isinstance(node.value, list) else ()


def _touch(path: ErrorPath, other: ErrorPath) -> bool:
    """Return whether one of two paths leads into the other."""
    shorter = min(len(path), len(other))
    return path[:shorter] == other[:shorter]
