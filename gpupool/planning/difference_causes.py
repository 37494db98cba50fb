"""Causes of all differences of one object: an item of a list that replaces another is compared with it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from gpupool.planning.causes import ChangedValue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpupool.planning.causes import LeafCauses, ObjectCauses
    from gpupool.planning.compare import Difference, LeafPath

_NAMED_ITEM: Final = re.compile(r"(?:requirements|aints)\[key=([^,\]]+)")


def find_all_causes(causes: ObjectCauses, changed: Sequence[Difference]) -> list[LeafCauses]:
    """Return the causes of each difference; an item of a list that replaces another is compared with it."""
    pairs = _pair_items(changed)
    found: dict[int, LeafCauses] = {}
    for index, leaf in enumerate(changed):
        if leaf.op != "remove":
            other = pairs.get(index)
            paired = None if other is None else changed[other].before
            found[index] = causes.find_causes(ChangedValue(leaf.keys, name_keys(leaf), paired=paired))
    for index, leaf in enumerate(changed):
        if index not in found:
            other = pairs.get(index)
            found[index] = (
                causes.find_causes(ChangedValue(leaf.keys, name_keys(leaf), is_removed=True))
                if other is None
                else found[other]
            )
    return [found[index] for index in range(len(changed))]


def _pair_items(changed: Sequence[Difference]) -> dict[int, int]:
    """Return which removed item of a list is replaced by which added one, and the other way round."""
    lists: dict[str, dict[str, list[int]]] = {}
    for index, leaf in enumerate(changed):
        if leaf.op != "replace" and leaf.path.endswith("]") and isinstance(leaf.keys[-1], int):
            by_op = lists.setdefault(leaf.path.rpartition("[")[0], {"add": [], "remove": []})
            by_op[leaf.op].append(index)
    pairs: dict[int, int] = {}
    for by_op in lists.values():
        for added, removed in zip(by_op["add"], by_op["remove"], strict=False):
            pairs[added], pairs[removed] = removed, added
    return pairs


def name_keys(leaf: Difference) -> LeafPath:
    """Return the path of a difference with the key of a requirement or taint in place of its number."""
    names = _NAMED_ITEM.findall(leaf.path)
    index = next((index for index, key in enumerate(leaf.keys) if isinstance(key, int)), None)
    if not names or index is None:
        return leaf.keys
    return (*leaf.keys[:index], names[0], *leaf.keys[index + 1 :])
