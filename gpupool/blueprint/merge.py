"""The one merge rule: maps merge, everything else is replaced, `null` removes."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from gpupool.yamlio.located import Located, mapping, replace_value

FieldReach: TypeAlias = Callable[[Located], Iterator[tuple[tuple[str, ...], str]]]


@dataclass(frozen=True, slots=True)
class MergeKind:
    """How the maps of one kind merge."""

    below: Mapping[str, "MergeKind"] = field(default_factory=dict)
    """The kinds of the maps inside, by key."""

    each: "MergeKind | None" = None
    """The kind of every map inside, where the keys are names."""

    whole: frozenset[str] = frozenset()
    """Keys whose value is one value even where it is a map: a constraint, a selector."""

    all_whole: bool = False
    """Every value inside is one value."""

    keyed: Callable[[Located], Located] | None = None
    """Turns Karpenter's own list into a map by key, so that it can merge."""

    reach: FieldReach | None = None
    """Which fields and label keys the words in a map reach; a later word replaces an earlier one there."""


ANY = MergeKind()


def merge(lower: Located, upper: Located, kind: MergeKind = ANY) -> Located:
    """Lay `upper` over `lower`; each leaf of the result is one of theirs, with its place.

    A `null` stays as it is: it still has to work against the layers below that come later.
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
    """Lay each of `layers` over the ones before it; at least one."""
    result = as_map(layers[0], kind)
    for layer in layers[1:]:
        result = merge(result, layer, kind)
    return result


def as_map(node: Located, kind: MergeKind) -> Located:
    """Return a list as a map by key; an empty one is a value, which replaces."""
    return kind.keyed(node) if kind.keyed and isinstance(node.value, list) and node.value else node


def settled(node: Located) -> Located:
    """Take out every `null` in a map; a map that held nothing else goes with it, but not from a list.

    An empty list or map that somebody wrote stays: it is a value.
    """
    value = node.value
    if isinstance(value, list):
        settled_items = [_settled_item(item) for item in value]
        return Located(settled_items, node.at, node.key, None, node.previous, node.note)
    if not isinstance(value, dict) or not value:
        return node
    kept = {key: settled(item) for key, item in value.items()}
    kept = {key: item for key, item in kept.items() if item.value is not None}
    return Located(kept or None, node.at, node.key, None, node.previous, node.note)


def _settled_item(item: Located) -> Located:
    found = settled(item)
    is_emptied = found.value is None and item.value is not None
    return Located({}, item.at, item.key) if is_emptied else found


def conflicts(node: Located, reach: FieldReach) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], str]]:
    """Yield each pair of words in one map that reach the same field, and that field."""
    seen: dict[str, tuple[str, ...]] = {}
    for path, target in reach(node):
        first = seen.setdefault(target, path)
        if first != path:
            yield first, path, target


def _merge_value(lower: Located, upper: Located, key: str, kind: MergeKind) -> Located:
    if kind.all_whole or key in kind.whole:
        return replace_value(upper, lower)
    return merge(lower, upper, kind.below.get(key) or kind.each or ANY)


def _without_replaced(lower: Located, upper: Located, kind: MergeKind) -> Located:
    if kind.reach is None:
        return lower
    taken = {target: path for path, target in kind.reach(upper)}
    gone = {path for path, target in kind.reach(lower) if target in taken and taken[target] != path}
    return _without(lower, gone, kind) if gone else lower


def _without(node: Located, gone: set[tuple[str, ...]], kind: MergeKind) -> Located:
    """Return a map without the words at the paths in `gone`, which are one or two keys long."""
    kept = {}
    for key, item in mapping(node).items():
        inner = {path[1:] for path in gone if path[0] == key and len(path) > 1}
        if inner:
            kept[key] = _without(as_map(item, kind.below.get(key, ANY)), inner, ANY)
        elif (key,) not in gone:
            kept[key] = item
    return Located(kept, node.at, node.key)
