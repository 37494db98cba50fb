"""Limits in the units people think in become Karpenter's."""

from collections.abc import Callable
from decimal import Decimal
from difflib import get_close_matches

from gpupool.blueprint.foreign import foreign_answer
from gpupool.catalogue.accelerators import RESOURCES, Maker
from gpupool.codes import Code
from gpupool.expansion.problem import Problem
from gpupool.scheduling.types.capacity import ACCELERATORS, EFA, IPV4, POD_ENI
from gpupool.shapes.words import nearest
from gpupool.yamlio.nodes import Node, find, leaf, mapping

_GPUS = {
    None: RESOURCES[Maker.NVIDIA],
    Maker.NVIDIA: RESOURCES[Maker.NVIDIA],
    Maker.AMD: RESOURCES[Maker.AMD],
}
"""What `gpus` counts; where nothing tells the maker, it is NVIDIA."""

USD = "usdPerHour"
_COUNTED = ("nodes", "cpu", "memory", "pods", "ephemeral-storage")
_EXTENDED = (*ACCELERATORS, EFA, POD_ENI, IPV4)
_OTHERS = frozenset({"nvidia.com/pgpu"})
"""Real resources of other device plugins that differ from Karpenter's in one letter."""

_TYPO = 0.92
"""How similar a typo of an extended resource is; `nvidia.com/gpu.shared` and the like are less similar."""


def shared_out(limits: Node, share: Node) -> Node:
    """Give a tier its share (`25%`) of the pool's limits, rounded down, at least 1.

    Raises:
        Problem: where the pool has no limits, or one that is no plain number.
    """
    said = mapping(limits)
    if not said:
        raise Problem(
            Code.LIMIT_SHARE,
            f"`limits: {share.value}` is a share of the pool's limits, but the pool has none",
            share,
            "set the pool's `limits`, or an amount such as `limits: {gpus: 8}` here",
        )
    percent = int(str(share.value).removesuffix("%"))
    return Node({key: _part(key, node, percent, share) for key, node in said.items()}, share.at, share.key)


def dollars(node: Node) -> Decimal:
    """Give the amount that stands in a file, exactly as it is written there."""
    return Decimal(node.text if isinstance(node.value, float) and node.text else str(node.value))


def _part(key: str, node: Node, percent: int, share: Node) -> Node:
    if node.value is None:
        return node
    if key == USD:
        return leaf(f"{dollars(node) * percent / 100:f}", share)
    digits = str(node.value).rstrip("GKMTPEik")
    if not digits.isdigit():
        raise Problem(
            Code.LIMIT_SHARE,
            f"can't calculate {percent}% of `{key}: {node.value}`",
            share,
            "set the tier's limits one by one",
        )
    amount = max(1, int(digits) * percent // 100)
    unit = str(node.value)[len(digits) :]
    return leaf(f"{amount}{unit}" if isinstance(node.value, str) else amount, share)


def karpenters(
    limits: Node, maker: Maker | None, replicas: int, priced: Callable[[Node], tuple[str, Node] | None]
) -> Node:
    """Give Karpenter's limits; `gpus` counts physical GPUs, of which sharing shows `replicas` each.

    `priced` gives the resource and its limit for an amount of `usdPerHour`, or None where it can't tell yet.

    Raises:
        Problem: for `gpus` where the pool's accelerators are no GPUs, and for `usdPerHour` as `priced` does.
    """
    made: dict[str, Node] = {}
    for key, node in mapping(limits).items():
        if key == "gpus" and node.value is not None:
            count = int(str(node.value)) * replicas
            note = f"{node.value} GPUs, {replicas} pods on each" if replicas > 1 else ""
            made[gpu_resource(maker, node)] = leaf(count, node, note)
        elif key == USD and node.value is not None:
            made |= filter(None, (priced(node),))
        else:
            made[_known(key, node)] = node
    return Node(dict(sorted(made.items())), limits.at, limits.key)


def _known(key: str, node: Node) -> str:
    """Return a resource's name.

    Raises:
        Problem: for an unknown one.
    """
    if unknown := unknown_resource(key, node):
        raise unknown
    return key


def unknown_resource(key: str, node: Node) -> Problem | None:
    """Return the problem of a resource that limits nothing: a bare unknown one, or a typo of an extended one.

    Other extended resources are valid: a NodeOverlay can add them to instance types.
    """
    if key in (*_COUNTED, *_EXTENDED, *_OTHERS):
        return None
    if "/" in key:
        folded = {name.lower(): name for name in _EXTENDED}
        close = get_close_matches(key.lower(), folded, n=1, cutoff=_TYPO)
        if not close:
            return None
        near = folded[close[0]]
    else:
        near = nearest(key, ("gpus", USD, *_COUNTED))
    fix = foreign_answer(key) or (f"did you mean `{near}`?" if near else "set the resource's full name")
    message = f"unknown resource `{key}`: Karpenter does not count it, so it limits nothing"
    return Problem(Code.LIMIT_KEY, message, node, fix)


def gpu_resource(maker: Maker | None, node: Node) -> str:
    """Give the resource that `gpus` counts on a pool with this maker's accelerators."""
    if maker in _GPUS:
        return _GPUS[maker]
    resource = RESOURCES.get(maker) if maker else None
    counted = f"are counted as `{resource}`" if resource else "are not counted by Karpenter"
    fix = f"set `{resource}: {node.value}`" if resource else "set `nodes` or `cpu` instead"
    raise Problem(Code.LIMIT_UNIT, f"`gpus` counts GPUs, but this pool's chips {counted}", node, fix)


def only_nodes(limits: Node | None) -> Node | None:
    """Give the `nodes` limit where it stands alone."""
    said = {key: node for key, node in mapping(limits).items() if node.value is not None}
    return find(limits, "nodes") if set(said) == {"nodes"} else None
