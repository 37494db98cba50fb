"""Merge keys: the entries that `<<` brings into a map."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpupool.yamlio.nodes import Node

MERGE_TAG = "tag:yaml.org,2002:merge"


def sources(node: Node, *, is_alias: bool) -> list[dict[str, Node]]:
    """Give the maps to merge, the one that counts most last; nothing where `<<` can't take this value.

    As go-yaml does: a list of maps may be written out, but not stand for an alias.
    """
    if isinstance(node.value, dict):
        return [node.value]
    if not isinstance(node.value, list) or is_alias:
        return []
    maps = [item.value for item in reversed(node.value) if isinstance(item.value, dict)]
    return maps if len(maps) == len(node.value) else []


def is_mergeable(node: Node, *, is_alias: bool) -> bool:
    """Say whether `<<` can take this value."""
    return (node.value == [] and not is_alias) or bool(sources(node, is_alias=is_alias))
