"""Sets of fields as managed fields hold them: paths whose steps are `f:KEY`, `k:{…}` or `v:…`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.memory.schemas import Body, Type

Path: TypeAlias = tuple[str, ...]
FieldSet: TypeAlias = frozenset[Path]


def decode(fields: Body) -> FieldSet:
    """Read `fieldsV1`."""
    return frozenset(_decode(fields, ()))


def _decode(fields: Body, path: Path) -> Iterator[Path]:
    for step, inner in fields.items():
        if step == ".":
            yield path
        elif inner:
            yield from _decode(inner, (*path, step))
        else:
            yield (*path, step)


def encode(fields: FieldSet) -> Body:
    """Write `fieldsV1`."""
    root: Body = {}
    for path in sorted(fields):
        at = root
        for step in path:
            at = at.setdefault(step, {})
        at["."] = {}
    return {step: _without_lone_dots(inner) for step, inner in root.items()}


def _without_lone_dots(fields: Body) -> Body:
    """A field that has nothing below it is `{}`."""
    if fields.keys() == {"."}:
        return {}
    return {step: inner if step == "." else _without_lone_dots(inner) for step, inner in fields.items()}


def without_below(fields: Iterable[Path], roots: Iterable[Path]) -> FieldSet:
    """Return the paths that are neither one of `roots` nor below it."""
    return frozenset(path for path in fields if not any(path[: len(root)] == root for root in roots))


def with_parents(fields: FieldSet, type_: Type) -> FieldSet:
    """Return a set with each named field on the way to one of its paths."""
    found = set(fields)
    for path in fields:
        at: Type | None = type_
        for depth, step in enumerate(path[:-1]):
            if at is None:
                break
            name = step[2:]
            if step.startswith("f:"):
                if at.form == "map" and name in at.fields:
                    found.add(path[: depth + 1])
                at = at.of(name)
            else:
                at = at.element
    return frozenset(found)


def as_whole(fields: FieldSet, type_: Type) -> FieldSet:
    """Return a set in which what has one owner as a whole is owned as that, whatever it was in an older schema."""
    return frozenset(_as_whole(path, type_) for path in fields)


def _as_whole(path: Path, type_: Type) -> Path:
    at: Type | None = type_
    for depth, step in enumerate(path):
        if at is None or at.is_atomic:
            return path if at is None else path[:depth]
        at = at.of(step[2:]) if step.startswith("f:") else at.element
    return path


def item_step(type_: Type, item: Any) -> str:  # noqa: ANN401 - any part of an object
    """Return the step to an item of a list that merges."""
    if type_.keys:
        return f"k:{_compact({key: item[key] for key in sorted(type_.keys)})}"
    return f"v:{_compact(item)}"


def _compact(value: Any) -> str:  # noqa: ANN401 - any part of an object
    return json.dumps(value, separators=(",", ":"))


def show(path: Path) -> str:
    """Return a path as the API server writes it in its messages."""
    return "".join(map(_show, path))


def _show(step: str) -> str:
    kind, rest = step[0], step[2:]
    if kind == "f":
        return f".{rest}"
    if kind == "v":
        return f"[={rest}]"
    keys = json.loads(rest)
    return "[" + ",".join(f"{key}={_compact(value)}" for key, value in keys.items()) + "]"
