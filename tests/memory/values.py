"""Two values of one type: what differs between them, how they merge, and what is left without some fields."""

from __future__ import annotations

import marshal
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tests.memory.fieldsets import item_step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.memory.fieldsets import FieldSet, Path
    from tests.memory.schemas import Type

ABSENT: Final = object()
_WITHOUT_REFERENCES: Final = 2
"""Later versions of marshal write what is one object only once."""

Value = Any


class Difference(NamedTuple):
    """What differs between two values, as paths of fields."""

    removed: FieldSet
    changed: FieldSet
    """What was added, or has another value."""


def copy(value: Value) -> Value:
    """Return a copy of a JSON value; what Python writes bytecode with is ten times as fast as `deepcopy`."""
    if not isinstance(value, dict | list):
        return value
    return marshal.loads(marshal.dumps(value))  # noqa: S302 - written in the same line


def _bytes(value: Value) -> bytes:
    """Equal bytes are equal values, by far the most frequent case; of unequal ones nothing is said."""
    return marshal.dumps(value, _WITHOUT_REFERENCES)


def is_same(one: Value, other: Value) -> bool:
    """Compare as JSON does: `true` is not 1, and 1 is 1.0."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(item, other[key]) for key, item in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def problems(value: Value, type_: Type, path: str = "") -> Iterator[str]:
    """Find what keeps a value from being of a type at all, each with its path."""
    if value is None:
        return
    if not _fits(value, type_):
        yield f"{path}: expected {type_.scalar or type_.form}, got {value!r}"
    elif type_.form == "list":
        for index, item in enumerate(value if type_.element is not None else ()):
            yield from problems(item, type_.element or type_, f"{path}[{index}]")
    elif type_.form == "map":
        for key, item in value.items():
            inner = type_.of(key)
            if inner is None:
                yield f"{path}.{key}: field not declared in schema"
            else:
                yield from problems(item, inner, f"{path}.{key}")


def _fits(value: Value, type_: Type) -> bool:
    if type_.form != "scalar":
        return isinstance(value, dict if type_.form == "map" else list)
    if isinstance(value, bool):
        return type_.scalar in {"", "boolean"}
    if isinstance(value, int | float):
        return type_.scalar in {"", "numeric"}
    return isinstance(value, str) and type_.scalar in {"", "string"}


def fields_of(value: Value, type_: Type) -> FieldSet:
    """Return the fields that a manager owns who applies a value."""
    return frozenset(_fields(value, type_, ()))


def _fields(value: Value, type_: Type, path: Path) -> Iterator[Path]:
    if type_.is_atomic or type_.form == "scalar":
        yield path
        return
    for step, item, inner in _children(value, type_):
        at = (*path, step)
        yield from _fields(item, inner, at)
        is_named = type_.form == "map" and step[2:] in type_.fields
        if not is_named or item is None or item == {}:
            yield at


def _children(value: Value, type_: Type) -> Iterator[tuple[str, Value, Type]]:
    """Return step, value and type of each key or item of what merges."""
    if type_.form == "map" and isinstance(value, dict):
        for key, item in value.items():
            inner = type_.of(key)
            if inner is not None:
                yield f"f:{key}", item, inner
    elif type_.form == "list" and isinstance(value, list) and type_.element is not None:
        for item in value:
            yield item_step(type_, item), item, type_.element


def compare(before: Value, after: Value, type_: Type) -> Difference:
    """Find the fields that differ between two values."""
    removed: set[Path] = set()
    changed: set[Path] = set()
    _compare(before, after, type_, (), (removed, changed))
    return Difference(frozenset(removed), frozenset(changed))


def _compare(
    before: Value, after: Value, type_: Type, path: Path, found: tuple[set[Path], set[Path]]
) -> None:
    removed, changed = found
    if before is not ABSENT and after is not ABSENT and _bytes(before) == _bytes(after):
        return
    if _is_leaf(before, after, type_):
        if before is ABSENT or (after is not ABSENT and not is_same(before, after)):
            changed.add(path)
        elif after is ABSENT:
            removed.add(path)
        return
    old = {step: (item, inner) for step, item, inner in _children(before, type_)}
    new = {step: (item, inner) for step, item, inner in _children(after, type_)}
    for step in old.keys() | new.keys():
        inner = (new.get(step) or old[step])[1]
        one, other = old.get(step, (ABSENT, inner))[0], new.get(step, (ABSENT, inner))[0]
        _compare(one, other, inner, (*path, step), found)
    if before is ABSENT:
        changed.add(path)
    elif after is ABSENT:
        removed.add(path)


def _is_leaf(before: Value, after: Value, type_: Type) -> bool:
    return type_.form == "scalar" or type_.is_atomic or (_is_empty(before) and _is_empty(after))


def _is_empty(value: Value) -> bool:
    return value is ABSENT or value is None or value in ({}, [])


def merge(live: Value, config: Value, type_: Type) -> Value:
    """Return a live value with what is applied over it."""
    if _is_leaf(live, config, type_):
        return copy(live if config is ABSENT else config)
    if type_.form == "list":
        return _merge_lists(live, config, type_)
    old, new = ({} if _is_empty(value) else value for value in (live, config))
    found = {}
    for key in old | new:
        inner = type_.of(key)
        if inner is not None:
            found[key] = merge(old.get(key, ABSENT), new.get(key, ABSENT), inner)
    return found


def _merge_lists(live: Value, config: Value, type_: Type) -> Value:
    """Merge items by their keys; those of `config` come in its order, the others stay where they are."""
    assert type_.element is not None
    old = {step: item for step, item, _ in _children(live, type_)}
    new = {step: item for step, item, _ in _children(config, type_)}
    order: list[str] = []
    left, right = [*old], [*new]
    shared = [step for step in new if step in old]
    while left or right:
        if left and right and left[0] != right[0] and left[0] in shared[1:]:
            # An item of both whose turn has not come.
            left.pop(0)
        elif left and left[0] not in new:
            order.append(left.pop(0))
        elif left and left[0] in order:
            left.pop(0)
        else:
            step = right.pop(0)
            order.append(step)
            left = left[left[:1] == [step] :]
            shared = [each for each in shared if each != step]
    return [merge(old.get(step, ABSENT), new.get(step, ABSENT), type_.element) for step in order]


def without(value: Value, fields: FieldSet, type_: Type) -> Value:
    """Return a value without some fields; a map or list of which nothing is left is None."""
    on_the_way = {path[:depth] for path in fields for depth in range(1, len(path))}
    return _without(value, type_, (), (fields, on_the_way))


def _without(value: Value, type_: Type, path: Path, sets: tuple[FieldSet, set[Path]]) -> Value:
    fields, on_the_way = sets
    if type_.form == "scalar":
        return value
    if type_.is_atomic or _is_empty(value):
        return None
    kept: dict[str, Value] = {}
    for step, item, inner in _children(value, type_):
        at = (*path, step)
        if at not in fields:
            kept[step] = _without(item, inner, at, sets) if at in on_the_way else item
    if not kept:
        return None
    return {step[2:]: item for step, item in kept.items()} if type_.form == "map" else [*kept.values()]
