"""Merge schema of blueprints: how each part is merged, and which fields set the same target.

Both follow from the tables of fields.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from gpupool.blueprint.keyed import Keyed, group_by_key
from gpupool.blueprint.merge import ANY, MergeKind
from gpupool.blueprint.model import Blueprint
from gpupool.blueprint.nodeclass import NodeClassFields
from gpupool.blueprint.pool import Tier, TieredPoolFields
from gpupool.shapes.fields import Named, Part
from gpupool.yamlio.located import mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from gpupool.shapes.fields import Fields, FieldTarget, Row
    from gpupool.yamlio.located import Located

_Finder: TypeAlias = "tuple[FieldTarget, ...] | Callable[[Located], Iterable[FieldTarget]]"
"""The targets of a field, which are the same for each value or depend on it."""

_KEYED = MergeKind(all_atomic=True, group=group_by_key)


def build_merge_kind(table: type[Fields]) -> MergeKind:
    """Return how maps with the fields of a table are merged."""
    parts = {key: kind for key, row in table.rows.items() if (kind := _find_part_kind(row)) is not ANY}
    atomic = frozenset(key for key, row in table.rows.items() if row.is_atomic)
    finder = partial(find_targets, table) if table.is_item else None
    if not (parts or atomic or finder):
        return ANY
    return MergeKind(fields=parts, atomic=atomic, find_targets=finder)


def _find_part_kind(row: Row[Any]) -> MergeKind:
    if isinstance(row, Keyed):
        return _KEYED
    if isinstance(row, Named):
        return MergeKind(entries=build_merge_kind(row.table))
    return build_merge_kind(row.table) if isinstance(row, Part) and not row.is_atomic else ANY


def find_targets(table: type[Fields], item: Located) -> Iterator[FieldTarget]:
    """Yield each field of an item with each target that it sets: a rendered field, a label, a requirement."""
    finders = _FINDERS.get(table) or _build_finders(table)
    for key, node in mapping(item).items():
        found = finders.get(key)
        if found is None:
            if table.inherits:
                yield from _find_passed_targets(table, key, node)
        else:
            yield from found(node) if callable(found) else found


_FINDERS: dict[type[Fields], dict[str, _Finder]] = {}
"""What each field of a table sets: worked out once, as a thousand pools are merged in several layers."""


def _build_finders(table: type[Fields]) -> dict[str, _Finder]:
    finders = {
        key: _build_finder(row)
        for key, row in table.rows.items()
        # A field of Karpenter's object is its own target, unless the table names another.
        if not table.inherits or row.sets
    }
    return _FINDERS.setdefault(table, finders)


def _build_finder(row: Row[Any]) -> _Finder:
    sets, key = row.sets, row.key
    if callable(sets):
        return lambda node: [((key, *path), target) for path, target in sets(node)]
    own = tuple(((key,), target) for target in sets)
    rows = row.table.rows if isinstance(row, Part) and not row.table.is_item else {}
    if not row.entries and not any(below.sets for below in rows.values()):
        return own
    return lambda node: [*own, *_find_entry_targets(row, rows, node)]


def _find_entry_targets(row: Row[Any], rows: Mapping[str, Row[Any]], node: Located) -> Iterator[FieldTarget]:
    """Yield the targets of the keys of a map."""
    for name in mapping(node):
        below = rows.get(name)
        if below is not None and isinstance(below.sets, tuple) and below.sets:
            for target in below.sets:
                yield (row.key, name), target
        elif row.entries:
            yield (row.key, name), f"{row.entries} {name}"


def _find_passed_targets(table: type[Fields], key: str, node: Located) -> Iterator[FieldTarget]:
    """Yield the targets of a field that Karpenter's object has; a short field can set a part of it."""
    row = table.rows.get(key)
    inside = [other.to for other in table.rows.values() if other.to.startswith(f"{key}.")]
    if row is not None and row.to:
        yield (key,), row.to
    elif not inside:
        yield (key,), key
    elif node.value is None:
        yield from (((key,), target) for target in inside)
    else:
        yield from (((key, name), f"{key}.{name}") for name in mapping(node))


CLASS = build_merge_kind(NodeClassFields)
TIER = build_merge_kind(Tier)
POOL = build_merge_kind(TieredPoolFields)
BLUEPRINT = build_merge_kind(Blueprint)
STACK = ANY
