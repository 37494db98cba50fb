"""Taints in short words become Karpenter's."""

from collections.abc import Iterator

from gpupool.blueprint.kinds import taints_by_key
from gpupool.codes import Code
from gpupool.expansion.problem import Problem
from gpupool.shapes.words import nearest
from gpupool.yamlio.nodes import Node, items, leaf, listing, mapping, tree

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def taints(word: Node) -> Node:
    """Give Karpenter's list for a `taints` word; an empty list stays one, and is rendered.

    Raises:
        Problem: for a taint that is neither `value:Effect` nor `Effect`.
    """
    by_key = taints_by_key(word)
    made = [
        taint for key, said in mapping(by_key).items() if said.value is not None for taint in _each(key, said)
    ]
    return listing(made, word)


def _each(key: str, said: Node) -> Iterator[Node]:
    for item in items(said) or [said]:
        if isinstance(item.value, dict):
            parts = mapping(item)
            yield tree({name: parts.get(name) for name in ("key", "value", "effect")}, item)
        else:
            yield _taint(key, item)


def _taint(key: str, item: Node) -> Node:
    value, colon, effect = str(item.value).rpartition(":")
    if effect not in EFFECTS:
        near = nearest(effect, EFFECTS)
        fix = f"did you mean `{near}`?" if near else f"write `{key}: true:NoSchedule`, or the effect alone"
        raise Problem(Code.TAINT, f"taint `{key}`: `{effect}` is no effect ({', '.join(EFFECTS)})", item, fix)
    if colon and not value:
        raise Problem(
            Code.TAINT, f"taint `{key}` has an empty value", item, f"for no value write `{effect}` alone"
        )
    parts = {
        "key": leaf(key, item),
        "value": leaf(value, item) if value else None,
        "effect": leaf(effect, item),
    }
    return tree(parts, item)
