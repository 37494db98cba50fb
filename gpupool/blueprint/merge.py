"""Merging of blueprint layers: maps merge, other values are replaced, `null` removes a value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpupool.yamlio.located import Located, mapping, replace_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gpupool.shapes.fields import TargetFinder


@dataclass(frozen=True, slots=True)
class MergeKind:
    """How maps of one kind are merged."""

    fields: Mapping[str, MergeKind] = field(default_factory=dict)
    """The kinds of nested maps, by key."""

    entries: MergeKind | None = None
    """The kind of every nested map, where the keys are names."""

    atomic: frozenset[str] = frozenset()
    """Keys whose value is replaced as a whole even where it is a map: a constraint, a selector."""

    all_atomic: bool = False
    """Whether every nested value is replaced as a whole."""

    group: Callable[[Located], Located] | None = None
    """Converts Karpenter's list to a map by key, so that it can be merged."""

    find_targets: TargetFinder | None = None
    """Yields the rendered fields and label keys that the fields of a map set; in a higher layer, a field
    replaces any field that sets the same target."""


ANY = MergeKind()


def merge(lower: Located, upper: Located, kind: MergeKind = ANY) -> Located:
    """Merge `upper` over `lower`; each leaf of the result keeps its location.

    A `null` is kept: it still has to remove a value of lower layers that are merged later.
    """
    lower, upper = as_map(lower, kind), as_map(upper, kind)
    if not isinstance(lower.value, dict) or not isinstance(upper.value, dict):
        return replace_value(upper, lower)
    merged = dict(mapping(_without_replaced(lower, upper, kind)))
    for key, node in upper.value.items():
        below = merged.get(key)
        merged[key] = node if below is None else _merge_value(below, node, key, kind)
    return Located(merged, upper.at, upper.key)


def merge_all(layers: list[Located], kind: MergeKind = ANY) -> Located:
    """Merge layers, the lowest first; at least one is required."""
    result = as_map(layers[0], kind)
    for layer in layers[1:]:
        result = merge(result, layer, kind)
    return result


def as_map(node: Located, kind: MergeKind) -> Located:
    """Convert a list to a map by key; an empty list is a value of its own and stays."""
    return kind.group(node) if kind.group and isinstance(node.value, list) and node.value else node


def remove_nulls(node: Located) -> Located:
    """Remove every `null` of a map, and maps that become empty by that, except items of a list.

    An explicit empty list or map is a value and stays.
    """
    value = node.value
    if isinstance(value, list):
        cleaned = [_remove_item_nulls(item) for item in value]
        return Located(cleaned, node.at, node.key, None, node.previous, node.note, node.also)
    if not isinstance(value, dict) or not value:
        return node
    kept = {key: remove_nulls(item) for key, item in value.items()}
    kept = {key: item for key, item in kept.items() if item.value is not None}
    return Located(kept or None, node.at, node.key, None, node.previous, node.note, node.also)


def _remove_item_nulls(item: Located) -> Located:
    cleaned = remove_nulls(item)
    is_emptied = cleaned.value is None and item.value is not None
    return Located({}, item.at, item.key) if is_emptied else cleaned


def find_conflicts(
    node: Located, find_targets: TargetFinder
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], str]]:
    """Yield each pair of fields in one map that set the same target, and that target."""
    seen: dict[str, tuple[str, ...]] = {}
    for path, target in find_targets(node):
        first = seen.setdefault(target, path)
        if first != path:
            yield first, path, target


def _merge_value(lower: Located, upper: Located, key: str, kind: MergeKind) -> Located:
    if kind.all_atomic or key in kind.atomic:
        return replace_value(upper, lower)
    return merge(lower, upper, kind.fields.get(key) or kind.entries or ANY)


def _without_replaced(lower: Located, upper: Located, kind: MergeKind) -> Located:
    if kind.find_targets is None:
        return lower
    targets = {target: path for path, target in kind.find_targets(upper)}
    replaced = {
        path for path, target in kind.find_targets(lower) if target in targets and targets[target] != path
    }
    return _without(lower, replaced, kind) if replaced else lower


def _without(node: Located, paths: set[tuple[str, ...]], kind: MergeKind) -> Located:
    """Return a map without the fields at `paths`, each one or two keys long."""
    kept = {}
    for key, item in mapping(node).items():
        inner = {path[1:] for path in paths if path[0] == key and len(path) > 1}
        if inner:
            kept[key] = _without(as_map(item, kind.fields.get(key, ANY)), inner, ANY)
        elif (key,) not in paths:
            kept[key] = item
    return Located(kept, node.at, node.key)
