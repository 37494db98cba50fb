"""Fields with two forms: requirements and taints as a map by key or Karpenter's list, and constraints."""

from __future__ import annotations

from dataclasses import replace

from gpupool.shapes.fields import Row
from gpupool.yamlio.located import Located, mapping


class LocatedByKey:
    """Requirements or taints by key, with the field's own place."""

    __slots__ = ("by_key", "node")

    def __init__(self, node: Located | None) -> None:
        self.node = node
        self.by_key = map_by_key(node)


class Keyed(Row[LocatedByKey]):
    """A field with a map by key, or with Karpenter's list, whose items name their keys."""

    def _read(self, node: Located | None) -> LocatedByKey:
        return LocatedByKey(node)


class Constraint(Row["Located | None"]):
    """A field with a constraint on a label: a value, a list, or a map as in `constraint`."""

    is_atomic = True

    def _read(self, node: Located | None) -> Located | None:
        return node


def map_by_key(node: Located | None) -> dict[str, Located]:
    """Return requirements or taints by key, from a map or from Karpenter's list."""
    return {} if node is None else mapping(group_by_key(node))


def group_by_key(node: Located) -> Located:
    """Convert Karpenter's list of requirements or taints to a map by key, with a list for each key."""
    if not isinstance(node.value, list) or not node.value:
        return node
    grouped: dict[str, list[Located]] = {}
    for item in node.value:
        key = item.value.get("key") if isinstance(item.value, dict) else None
        if key is not None and isinstance(key.value, str):
            grouped.setdefault(key.value, []).append(item)
    return replace(
        node, value={key: Located(items, items[0].at, items[0].at) for key, items in grouped.items()}
    )
