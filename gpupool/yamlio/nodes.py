"""A YAML value that remembers where it was written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from gpupool.findings import Location

Scalar: TypeAlias = str | int | float | bool | None
Plain: TypeAlias = "Scalar | list[Plain] | dict[str, Plain]"


@dataclass(slots=True, eq=False)
class Node:
    """A value and its place; a map's values and a list's items are Nodes themselves.

    Nodes are never changed after they were made. They are not `frozen` because a frozen dataclass
    takes three times as long to make, and a thousand pools make a hundred thousand.
    """

    value: Scalar | list[Node] | dict[str, Node]
    """The scalar, or the Nodes inside."""

    at: Location
    """Where the value begins."""

    key: Location | None = None
    """Where its key stands, for a value in a map."""

    text: str | None = None
    """How a plain (unquoted) scalar that is not a string was written: `1.30`, `0o17`, `~`."""

    previous: Node | None = None
    """The value of an earlier file or layer that this one replaced."""

    note: str = ""
    """Why gpupool itself wrote this value, where no file says it."""


def plain(node: Node) -> Plain:
    """Give the value without its places."""
    value = node.value
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value
