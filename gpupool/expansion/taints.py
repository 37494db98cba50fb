"""Taints in short words become Karpenter's."""

from functools import partial

from gpupool.blueprint.kinds import by_key
from gpupool.codes import Code
from gpupool.expansion.problem import Problem, told
from gpupool.findings import Finding
from gpupool.shapes.words import nearest
from gpupool.yamlio.nodes import Node, items, leaf, listing, mapping, tree

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def taints(word: Node, found: list[Finding]) -> Node | None:
    """Give Karpenter's list for a `taints` word.

    An empty list stays one, and is rendered; an empty map says nothing. A taint that is neither
    `value:Effect` nor `Effect` goes to `found`.
    """
    if word.value == {}:
        return None
    made: list[Node] = []
    for key, said in by_key(word).items():
        for item in items(said) or [said]:
            made += told(found, partial(_taint, key, item))
    return listing(made, word)


def _taint(key: str, item: Node) -> list[Node]:
    if isinstance(item.value, dict):
        parts = mapping(item)
        return [tree({name: parts.get(name) for name in ("key", "value", "effect")}, item)]
    value, colon, effect = str(item.value).rpartition(":")
    if effect not in EFFECTS:
        near = nearest(effect, EFFECTS)
        fix = f"did you mean `{near}`?" if near else f"set `{key}: true:NoSchedule`, or only the effect"
        raise Problem(
            Code.TAINT, f"taint `{key}`: unknown effect `{effect}` ({', '.join(EFFECTS)})", item, fix
        )
    if colon and not value:
        raise Problem(
            Code.TAINT,
            f"taint `{key}` has an empty value",
            item,
            f"set `{effect}` for a taint without a value",
        )
    said = {
        "key": leaf(key, item),
        "value": leaf(value, item) if value else None,
        "effect": leaf(effect, item),
    }
    return [tree(said, item)]
