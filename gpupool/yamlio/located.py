"""A YAML value that remembers where it was written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpupool.findings import Location

Scalar: TypeAlias = str | int | float | bool | None
Plain: TypeAlias = "Scalar | list[Plain] | dict[str, Plain]"


@dataclass(slots=True, eq=False)
class Located:
    """A value and its place; a map's values and a list's items are Nodes themselves.

    Nodes are never changed after they were made. They are not `frozen` because a frozen dataclass
    takes three times as long to make, and a thousand pools make a hundred thousand.
    """

    value: Scalar | list[Located] | dict[str, Located]
    """The scalar, or the Nodes inside."""

    at: Location
    """Where the value begins."""

    key: Location | None = None
    """Where its key stands, for a value in a map."""

    text: str | None = None
    """How a plain (unquoted) scalar that is not a string was written: `1.30`, `0o17`, `~`."""

    previous: Located | None = None
    """The value of an earlier file or layer that this one replaced."""

    note: str = ""
    """Why gpupool itself wrote this value, where no file says it."""


def plain(node: Located) -> Plain:
    """Return the value without its places."""
    value = node.value
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def plain_map(value: Plain) -> Mapping[str, Plain]:
    """Return a plain map; an empty one where there is none."""
    return value if isinstance(value, dict) else {}


def plain_list(value: Plain) -> list[Plain]:
    """Return a plain list; an empty one where there is none."""
    return value if isinstance(value, list) else []


def plain_text(value: Plain) -> str:
    """Return a plain text; the empty text where there is none."""
    return value if isinstance(value, str) else ""


def mapping(node: Located | None) -> dict[str, Located]:
    """Return the Nodes in a map by key; nothing where there is no map."""
    return node.value if node is not None and isinstance(node.value, dict) else {}


def items(node: Located | None) -> list[Located]:
    """Return the Nodes in a list; nothing where there is no list."""
    return node.value if node is not None and isinstance(node.value, list) else []


def find(node: Located | None, *path: str) -> Located | None:
    """Follow keys into maps; None where one is missing."""
    for key in path:
        node = mapping(node).get(key)
    return node


def text_at(node: Located | None, *path: str) -> str:
    """Return the text at a path of keys; the empty text where there is none."""
    found = find(node, *path)
    return found.value if found is not None and isinstance(found.value, str) else ""


def place(node: Located) -> Location:
    """Return where to point: at a scalar itself, but at the key of a map, a list or a null.

    What a map or list holds may begin a line below its key.
    """
    whole = isinstance(node.value, dict | list) or node.value is None
    return node.key if whole and node.key is not None else node.at


def leaf(value: Scalar, cause: Located, note: str = "") -> Located:
    """Make a scalar that is there because of `cause`, and keep its place and history."""
    return Located(value, cause.at, cause.key, None, cause.previous, note or cause.note)


def listing(nodes: list[Located], cause: Located) -> Located:
    """Make a list that is there because of `cause`."""
    return Located(nodes, cause.at, cause.key, note=cause.note)


def replace_value(upper: Located, lower: Located) -> Located:
    """Return `upper` with the value that it replaced."""
    return Located(upper.value, upper.at, upper.key, upper.text, lower, upper.note)


def tree(parts: dict[str, Located | None], cause: Located) -> Located:
    """Make a map of the parts that are there, because of `cause`."""
    return Located({key: part for key, part in parts.items() if part is not None}, cause.at, cause.key)


def leaves(
    node: Located, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], Located]]:
    """Yield each leaf of a body with its path; an empty list or map is a leaf too."""
    if isinstance(node.value, dict) and node.value:
        for key, item in node.value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(node.value, list) and node.value:
        for index, item in enumerate(node.value):
            yield from leaves(item, (*path, index))
    else:
        yield path, node
