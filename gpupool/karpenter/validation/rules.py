"""A rule over one place of an object: where it looks, what it holds against it, how rules are asked."""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple, TypeAlias

from gpupool.codes import Code
from gpupool.findings import Finding, Location
from gpupool.shapes.words import Path, dotted
from gpupool.yamlio.nodes import Node, find, items, mapping

ITEMS = "[]"
"""The step of a path that stands for each item of a list."""


class Complaint(NamedTuple):
    """What a rule holds against one place."""

    at: Location
    message: str
    fix: str = ""


Check: TypeAlias = Callable[[Node], Iterator[Complaint]]


class Rule(NamedTuple):
    """A check of everything that stands at one path, as in `spec template spec requirements [] key`.

    The check is only asked where the schema has nothing against what it would read, so it finds every
    required field, and every value of its type; nulls count as absent.
    """

    code: Code
    at: str
    check: Check


def run(rules: Iterable[Rule], body: Node, broken: Collection[Path]) -> Iterator[Finding]:
    """Ask every rule about an object; `broken` are the paths where the schema is not kept."""
    for rule in rules:
        for path, node in _spots(body, tuple(rule.at.split()), ()):
            if not any(_touch(path, bad) for bad in broken):
                for complaint in rule.check(node):
                    at, message, fix = complaint
                    yield Finding(rule.code, message, at, fix, path=dotted(path))


def present(node: Node, key: str) -> Node | None:
    """Give what stands under a key, or None where there is nothing or a null."""
    found = find(node, key)
    return found if found is not None and found.value is not None else None


def has(node: Node, *keys: str) -> list[Node]:
    """Give what stands under those of `keys` that are there."""
    return [found for key in keys if (found := present(node, key)) is not None]


def word(node: Node, key: str) -> str:
    """Give the text under a key; the empty text where there is none."""
    found = present(node, key)
    return found.value if found is not None and isinstance(found.value, str) else ""


def _spots(node: Node, steps: tuple[str, ...], path: Path) -> Iterator[tuple[Path, Node]]:
    if not steps:
        yield path, node
    elif steps[0] == ITEMS:
        for index, item in enumerate(items(node)):
            yield from _spots(item, steps[1:], (*path, index))
    else:
        below = mapping(node).get(steps[0])
        if below is not None and below.value is not None:
            yield from _spots(below, steps[1:], (*path, steps[0]))


def _touch(path: Path, other: Path) -> bool:
    """Say whether one of two paths leads into the other."""
    shorter = min(len(path), len(other))
    return path[:shorter] == other[:shorter]
