"""Blueprints with one scalar changed, and the lines that a plan names for it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from gpupool.yamlio.located import leaves, plain
from gpupool.yamlio.read import read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.planning.plan import Plan
    from gpupool.yamlio.located import Located, Plain

_WORDS = {
    "a100": "h100", "h100": "a100", "l4": "t4", "t4": "l4", "spot": "on-demand", "on-demand": "spot", "any": "spot",
    "sat": "sun", "sun": "sat", "NoSchedule": "NoExecute", "NoExecute": "NoSchedule", "amd64": "arm64", "arm64": "amd64",
    "WhenEmpty": "WhenEmptyOrUnderutilized", "WhenEmptyOrUnderutilized": "WhenEmpty", "training": "inference",
    "inference": "training", "America/New_York": "Asia/Tokyo", "Europe/Dublin": "Asia/Tokyo", "UTC": "Asia/Tokyo",
    "a": "b", "b": "c", "c": "a", "Drifted": "Empty", "Empty": "Drifted", "gp3": "gp2", "Never": "5m", "RAID0": None,
    "us-east-1": "us-west-2", "eu-west-1": "us-west-2", "xlarge": "2xlarge",
}  # fmt: skip
_SKIPPED = re.compile(
    r"apiVersion|kind|metadata\.name|cluster\.(context|server|uid)|inventory\..*|prune|sensitive.*"
)


class Edit(NamedTuple):
    """One scalar of a file with another value."""

    file: str
    line: int
    field: str
    text: str
    """The whole file, edited."""

    def __str__(self) -> str:
        """Return what was changed, for a failure's message."""
        return f"{self.file}:{self.line} {self.field}: {self.text.splitlines()[self.line - 1].strip()}"


def find_edits(name: str, text: str) -> Iterator[Edit]:
    """Yield the file with each of its scalars changed, in all ways that may be valid."""
    node = read(text.encode(), name).node
    assert node is not None
    twins = _count_twins(text, name)
    for path, leaf in leaves(node):
        field = ".".join(str(key) for key in path)
        if _SKIPPED.fullmatch(field):
            continue
        for other in _others(leaf):
            edited = _replaced(text, leaf, other)
            if edited is not None and _count_twins(edited, name) <= twins:
                yield Edit(name, leaf.at.line, field, edited)


def _count_twins(text: str, name: str) -> int:
    """Return how many items of lists are equal to one before: of two equal ones, none can be named."""
    node = read(text.encode(), name).node
    return 0 if node is None else sum(_twins(plain(node)))


def _twins(value: Plain) -> Iterator[int]:
    if isinstance(value, list):
        texts = [json.dumps(item, sort_keys=True) for item in value]
        yield len(texts) - len(set(texts))
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _twins(item)


def _others(leaf: Located) -> Iterator[str]:
    value = leaf.value
    if isinstance(value, bool):
        yield str(not value).lower()
    elif isinstance(value, int):
        yield str(value + 1)
        yield str(value * 2)
    elif isinstance(value, str):
        if _WORDS.get(value):
            yield str(_WORDS[value])
        for found in re.finditer("[0-9]+", value):
            number = str(int(found[0]) + 1).zfill(len(found[0]))
            yield f"{value[: found.start()]}{number}{value[found.end() :]}"
        if value.isalpha():
            yield f"{value}x"


def _replaced(text: str, leaf: Located, other: str) -> str | None:
    """Return the text with another scalar; None for a scalar that is not written as it is."""
    lines = text.splitlines(keepends=True)
    line, start = lines[leaf.at.line - 1], leaf.at.column - 1
    old = leaf.text or str(leaf.value)
    for quote in ("", '"', "'"):
        if line[start:].startswith(f"{quote}{old}{quote}"):
            end = start + len(old) + 2 * len(quote)
            lines[leaf.at.line - 1] = f"{line[:start]}{quote}{other}{quote}{line[end:]}"
            return "".join(lines)
    return None


def named_lines(plan: Plan) -> set[tuple[str, int]]:
    """Return the file and the line of each cause of a changed field."""
    return {
        (cause.place.file, cause.place.line)
        for change in plan.changes
        for field in change.fields
        if field.semantic
        for cause in field.causes
    }


def describe(plan: Plan) -> str:
    """Return every changed field with its causes, for a failure's message."""
    return "\n".join(
        f"{change.address} {field.path} {field.op} {field.before} {field.after}: {[*map(str, field.causes)]}"
        for change in plan.changes
        for field in change.fields
    )
