"""YAML values with their locations, and functions to read and build them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from typing_extensions import TypeVar

    from gpupool.findings import Location

    ValueT_co = TypeVar("ValueT_co", covariant=True, default="YamlValue")
else:
    from typing import TypeVar

    ValueT_co = TypeVar("ValueT_co", covariant=True)

Scalar: TypeAlias = str | int | float | bool | None
Plain: TypeAlias = "Scalar | list[Plain] | dict[str, Plain]"
YamlValue: TypeAlias = "Scalar | list[Located] | dict[str, Located]"
"""A scalar, or the located values inside a list or a map."""


@dataclass(slots=True, eq=False)
class Located(Generic[ValueT_co]):
    """A value and its location; the values in a map and the items of a list are located too.

    Located values are never changed. They are not `frozen` because a frozen dataclass takes three times as
    long to create, and a thousand pools have a hundred thousand values.
    """

    value: ValueT_co
    """The scalar, or the located values inside; `Located[str]` where the type is known."""

    at: Location
    """The location where the value begins."""

    key: Location | None = None
    """The location of its key, for a value in a map."""

    text: str | None = None
    """The text of an unquoted scalar that is not a string: `1.30`, `0o17`, `~`."""

    previous: Located | None = None
    """The value from an earlier file or layer that this one replaced."""

    note: str = ""
    """The reason why gpupool set this value, where no file sets it."""

    also: tuple[Located, ...] = ()
    """Further values of the blueprint that this one is calculated from, besides the one at `at`."""


def plain(node: Located) -> Plain:
    """Return the value without locations."""
    value = node.value
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def plain_map(value: Plain) -> Mapping[str, Plain]:
    """Return a value if it is a map, and an empty map otherwise."""
    return value if isinstance(value, dict) else {}


def plain_list(value: Plain) -> list[Plain]:
    """Return a value if it is a list, and an empty list otherwise."""
    return value if isinstance(value, list) else []


def plain_text(value: Plain) -> str:
    """Return a value if it is a string, and an empty string otherwise."""
    return value if isinstance(value, str) else ""


def mapping(node: Located | None) -> dict[str, Located]:
    """Return the located values of a map by key; an empty map for anything else."""
    return node.value if node is not None and isinstance(node.value, dict) else {}


def items(node: Located | None) -> list[Located]:
    """Return the located items of a list; an empty list for anything else."""
    return node.value if node is not None and isinstance(node.value, list) else []


def find(node: Located | None, *path: str) -> Located | None:
    """Find the value at a path of keys; None where a key is missing."""
    for key in path:
        node = mapping(node).get(key)
    return node


def text_at(node: Located | None, *path: str) -> str:
    """Return the string at a path of keys; an empty string where there is none."""
    target = find(node, *path)
    return target.value if target is not None and isinstance(target.value, str) else ""


def text_of(node: Located | None) -> str:
    """Return a string, or an empty one for None and for any other value."""
    return node.value if node is not None and isinstance(node.value, str) else ""


def place(node: Located) -> Location:
    """Return the location to report: that of a scalar itself, but of the key for a map, a list or a null.

    The first value of a map or list may begin a line below its key.
    """
    is_at_key = isinstance(node.value, dict | list) or node.value is None
    return node.key if is_at_key and node.key is not None else node.at


def leaf(value: Scalar, cause: Located, note: str = "", also: tuple[Located, ...] = ()) -> Located:
    """Build a scalar that follows from `cause`, with the location and history of `cause`.

    `also` are further values that it is calculated from.
    """
    return Located(value, cause.at, cause.key, None, cause.previous, note or cause.note, also or cause.also)


def listing(nodes: list[Located], cause: Located) -> Located:
    """Build a list that follows from `cause`, with its location."""
    return Located(nodes, cause.at, cause.key, note=cause.note, also=cause.also)


def replace_value(upper: Located, lower: Located) -> Located:
    """Return `upper` with `lower` as the value that it replaced."""
    return Located(upper.value, upper.at, upper.key, upper.text, lower, upper.note)


def tree(entries: dict[str, Located | None], cause: Located) -> Located:
    """Build a map of the entries that are not None, with the location of `cause`."""
    return Located({key: entry for key, entry in entries.items() if entry is not None}, cause.at, cause.key)


def leaves(
    node: Located, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], Located]]:
    """Yield each leaf of a value with its path; an empty list or map is a leaf too."""
    if isinstance(node.value, dict) and node.value:
        for key, item in node.value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(node.value, list) and node.value:
        for index, item in enumerate(node.value):
            yield from leaves(item, (*path, index))
    else:
        yield path, node
