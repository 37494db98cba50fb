"""Placeholders of templates that nobody rendered: where they stand, and what would render them."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from gpupool.codes import Code
from gpupool.findings import Finding, Location

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gpupool.yamlio.located import Located

MAX_PLACES = 20
"""Placeholders that are named in one document."""

_MAX_MATCHES = 5_000
_LONGEST = 2_000
"""Of a longer line or value, only the beginning is searched."""

_PLACEHOLDER = re.compile(r"\{\{[^\n]{0,300}?\}\}|\{%[^\n]{0,300}?%\}|\$\{[^\n{}]{1,300}\}")
_BEGINS = ("{{", "{%", "${")
_WORDS = {
    "{{": "placeholder of a Helm or Jinja template",
    "{%": "statement of a Jinja template",
    "${": "placeholder of envsubst, Terraform or Flux",
}
_FIXES = {
    "{{": "render the file first: `helm template ./chart | gpupool validate -`",
    "{%": "render the file with Jinja first, and validate its output",
    "${": "fill in the values first: `envsubst < FILE | gpupool validate -`",
}
_FREE_TEXT = frozenset(
    {
        ("spec", "userData"),
        ("metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"),
    }
)
"""Scripts, whose own variables look the same."""


def has_opening(text: str) -> bool:
    """Return whether a text holds the beginning of a placeholder at all."""
    return any(begin in text for begin in _BEGINS)


def find_in_broken_text(text: str, first: Location, problems: Sequence[Finding]) -> list[Finding]:
    """Return the placeholders that make a text unreadable; none where its mistakes have another reason.

    `text` begins on the line of `first`. In quotes or a comment a placeholder breaks nothing, and `${X}`
    only breaks its own line.
    """
    broken = {problem.at.line for problem in problems}
    found = list(islice(_open_places(text, first), _MAX_MATCHES))
    if not any(not name.startswith("${") or at.line in broken for name, at in found):
        return []
    return [_finding(name, at) for name, at in found[:MAX_PLACES]]


def _open_places(text: str, first: Location) -> Iterator[tuple[str, Location]]:
    for number, line in enumerate(text.split("\n"), first.line):
        if has_opening(line):
            for match in _PLACEHOLDER.finditer(line[:_LONGEST]):
                if _is_open(line[: match.start()]):
                    yield match[0], first._replace(line=number, column=match.start() + 1)


def find_in_object(node: Located, label: str) -> list[Finding]:
    """Return the placeholders that stand as keys or values in a readable object, and would be text."""
    return list(islice(_in_node(node, (), label), MAX_PLACES))


def _in_node(node: Located, path: tuple[str | int, ...], label: str) -> Iterator[Finding]:
    value = node.value
    if path in _FREE_TEXT:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            if item.key:
                yield from _in_text(key, item.key, (*path, key), label)
            yield from _in_node(item, (*path, key), label)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _in_node(item, (*path, index), label)
    elif isinstance(value, str):
        yield from _in_text(value, node.at, path, label)


def _in_text(text: str, at: Location, path: tuple[str | int, ...], label: str) -> Iterator[Finding]:
    found = _PLACEHOLDER.search(text[:_LONGEST]) if "{" in text else None
    if found:
        yield _finding(found[0], at)._replace(path=_joined(path), object=label)


def _joined(path: tuple[str | int, ...]) -> str:
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).removeprefix(".")


def _is_open(before: str) -> bool:
    """Return whether what follows on the line stands neither in quotes nor in a comment."""
    quote = ""
    for index, character in enumerate(before):
        if quote:
            quote = "" if character == quote else quote
        elif character == "#" and (index == 0 or before[index - 1] in " \t"):
            return False
        elif character in "\"'" and (index == 0 or before[index - 1] in " \t[{,:-"):
            quote = character
    return not quote


def _finding(name: str, at: Location) -> Finding:
    begin = name[:2]
    return Finding(Code.PLACEHOLDER, f"unrendered {_WORDS[begin]}", at, _FIXES[begin])
