"""Rules about one field of an object, and their evaluation."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple, TypeAlias

from gpupool.codes import Code
from gpupool.findings import Finding, Location
from gpupool.shapes.error_messages import ErrorPath, format_path
from gpupool.yamlio.located import Located

_LONGEST = 500
"""The maximum length of a message, because a quoted value can have megabytes."""

_LONGEST_VALUE = 60

ITEMS = "[]"
"""The step of a path that means each item of a list."""


class Complaint(NamedTuple):
    """What is wrong at one location, by one rule."""

    at: Location
    message: str
    fix: str = ""


FieldCheck: TypeAlias = Callable[[Located], Iterator[Complaint]]


class FieldRule(NamedTuple):
    """A check of all values at one path, such as `spec template spec requirements [] key`.

    The check only runs where the object matches the schema, so that all required fields are present and
    all values have their type; nulls count as absent.
    """

    code: Code
    at: str
    check: FieldCheck


def run_rules(rules: tuple[FieldRule, ...], body: Located, broken: Collection[ErrorPath]) -> list[Finding]:
    """Run all rules on an object; `broken` are the paths that do not match the schema."""
    findings: list[Finding] = []
    _run_tree(_build_tree(rules), body, (), broken, findings)
    return findings


def brief(text: str) -> str:
    """Return a value short enough for a message."""
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def find_value(node: Located, key: str) -> Located | None:
    """Return the value of a key; None if it is missing or null."""
    value = node.value.get(key) if isinstance(node.value, dict) else None
    return None if value is None or value.value is None else value


def find_values(node: Located, *keys: str) -> list[Located]:
    """Return the values of those `keys` that are present and not null."""
    return [value for key in keys if (value := find_value(node, key)) is not None]


def read_number(node: Located, key: str) -> int | None:
    """Return the whole number of a key; None if there is none."""
    value = find_value(node, key)
    return value.value if value is not None and isinstance(value.value, int) else None


def read_text(node: Located, key: str) -> str:
    """Return the text of a key; the empty text if there is none."""
    value = find_value(node, key)
    return value.value if value is not None and isinstance(value.value, str) else ""


@dataclass(slots=True)
class _RuleTree:
    """The rules at one path, and those below it."""

    rules: list[FieldRule] = field(default_factory=list)
    below: "dict[str, _RuleTree]" = field(default_factory=dict)


@cache
def _build_tree(rules: tuple[FieldRule, ...]) -> _RuleTree:
    """Build a tree of rules by path, so that each value of an object is looked up only once."""
    root = _RuleTree()
    for rule in rules:
        branch = root
        for step in rule.at.split():
            branch = branch.below.setdefault(step, _RuleTree())
        branch.rules.append(rule)
    return root


def _run_tree(
    node_rules: _RuleTree,
    node: Located,
    path: ErrorPath,
    broken: Collection[ErrorPath],
    findings: list[Finding],
) -> None:
    if node_rules.rules and not (broken and any(_is_related(path, broken_path) for broken_path in broken)):
        for rule in node_rules.rules:
            for at, message, fix in rule.check(node):
                shortened = message if len(message) <= _LONGEST else f"{message[:_LONGEST]}…"
                findings.append(Finding(rule.code, shortened, at, fix, path=format_path(path)))
    for step, inside in _list_children(node):
        below = node_rules.below.get(ITEMS if isinstance(step, int) else step)
        if below is not None and inside.value is not None:
            _run_tree(below, inside, (*path, step), broken, findings)


def _list_children(node: Located) -> Iterable[tuple[str | int, Located]]:
    """Return the values in a map or list, each with its key or index."""
    if isinstance(node.value, dict):
        return node.value.items()
    return enumerate(node.value) if isinstance(node.value, list) else ()


def _is_related(path: ErrorPath, other: ErrorPath) -> bool:
    """Return whether one of two paths is a prefix of the other."""
    shorter = min(len(path), len(other))
    return path[:shorter] == other[:shorter]
