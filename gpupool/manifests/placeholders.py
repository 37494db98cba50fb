"""Unrendered template placeholders in manifests (Helm, Jinja, envsubst)."""

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
"""The maximum number of placeholders that are reported for one document."""

_MAX_MATCHES = 5_000
_LONGEST = 2_000
"""The number of characters of a line or value that are searched."""

_PLACEHOLDER = re.compile(r"\{\{[^\n]{0,300}?\}\}|\{%[^\n]{0,300}?%\}|\$\{[^\n{}]{1,300}\}")
_OPENINGS = ("{{", "{%", "${")
_NOUNS = {
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
"""Fields with scripts, whose own variables look the same."""


def has_opening(text: str) -> bool:
    """Return whether a text contains the opening of a placeholder."""
    return any(opening in text for opening in _OPENINGS)


def find_in_broken_text(text: str, first: Location, problems: Sequence[Finding]) -> list[Finding]:
    """Find the placeholders that make a text unreadable; none if its errors have another cause.

    `text` begins on the line of `first`. A placeholder in quotes or in a comment breaks nothing, and
    `${X}` breaks only its own line.
    """
    broken_lines = {problem.at.line for problem in problems}
    placeholders = list(islice(_find_unquoted(text, first), _MAX_MATCHES))
    if not any(not name.startswith("${") or at.line in broken_lines for name, at in placeholders):
        return []
    return [_build_finding(name, at) for name, at in placeholders[:MAX_PLACES]]


def _find_unquoted(text: str, first: Location) -> Iterator[tuple[str, Location]]:
    for number, line in enumerate(text.split("\n"), first.line):
        if has_opening(line):
            for match in _PLACEHOLDER.finditer(line[:_LONGEST]):
                if _is_unquoted(line[: match.start()]):
                    yield match[0], first._replace(line=number, column=match.start() + 1)


def find_in_object(node: Located, label: str) -> list[Finding]:
    """Find placeholders in the keys and values of a readable object, which would be used as text."""
    return list(islice(_find_in_node(node, (), label), MAX_PLACES))


def _find_in_node(node: Located, path: tuple[str | int, ...], label: str) -> Iterator[Finding]:
    value = node.value
    if path in _FREE_TEXT:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            if item.key:
                yield from _find_in_text(key, item.key, (*path, key), label)
            yield from _find_in_node(item, (*path, key), label)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _find_in_node(item, (*path, index), label)
    elif isinstance(value, str):
        yield from _find_in_text(value, node.at, path, label)


def _find_in_text(text: str, at: Location, path: tuple[str | int, ...], label: str) -> Iterator[Finding]:
    match = _PLACEHOLDER.search(text[:_LONGEST]) if "{" in text else None
    if match:
        yield _build_finding(match[0], at)._replace(path=_join_path(path), object=label)


def _join_path(path: tuple[str | int, ...]) -> str:
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).removeprefix(".")


def _is_unquoted(before: str) -> bool:
    """Return whether the text after `before` on the line is neither in quotes nor in a comment."""
    quote = ""
    for index, character in enumerate(before):
        if quote:
            quote = "" if character == quote else quote
        elif character == "#" and (index == 0 or before[index - 1] in " \t"):
            return False
        elif character in "\"'" and (index == 0 or before[index - 1] in " \t[{,:-"):
            quote = character
    return not quote


def _build_finding(name: str, at: Location) -> Finding:
    opening = name[:2]
    return Finding(Code.PLACEHOLDER, f"unrendered {_NOUNS[opening]}", at, _FIXES[opening])
