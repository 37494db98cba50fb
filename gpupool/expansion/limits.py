"""Limits in the units people think in become Karpenter's."""

from gpupool.catalogue.accelerators import RESOURCES, Maker
from gpupool.codes import Code
from gpupool.expansion.problem import Problem
from gpupool.yamlio.nodes import Node, find, leaf, mapping


def shared_out(limits: Node, share: Node) -> Node:
    """Give a tier its share (`25%`) of the pool's limits, rounded down, at least 1.

    Raises:
        Problem: where the pool has no limits, or one that is no plain number.
    """
    said = mapping(limits)
    if not said:
        raise Problem(
            Code.LIMIT_SHARE,
            f"`limits: {share.value}` is a share of the pool's limits, but it has none",
            share,
        )
    percent = int(str(share.value).removesuffix("%"))
    return Node({key: _part(key, node, percent, share) for key, node in said.items()}, share.at, share.key)


def _part(key: str, node: Node, percent: int, share: Node) -> Node:
    if node.value is None:
        return node
    digits = str(node.value).rstrip("GKMTPEik")
    if not digits.isdigit():
        raise Problem(
            Code.LIMIT_SHARE,
            f"can't take {percent}% of `{key}: {node.value}`",
            share,
            "write the tier's limits out",
        )
    amount = max(1, int(digits) * percent // 100)
    unit = str(node.value)[len(digits) :]
    return leaf(f"{amount}{unit}" if isinstance(node.value, str) else amount, share)


def karpenters(limits: Node, maker: Maker | None, replicas: int) -> Node:
    """Give Karpenter's limits; `gpus` counts physical GPUs, of which sharing shows `replicas` each.

    Raises:
        Problem: for `gpus` where the pool's accelerators are no GPUs.
    """
    made: dict[str, Node] = {}
    for key, node in mapping(limits).items():
        if key == "gpus" and node.value is not None:
            count = int(str(node.value)) * replicas
            note = f"{node.value} GPUs, {replicas} pods on each" if replicas > 1 else ""
            made[gpu_resource(maker, node)] = leaf(count, node, note)
        else:
            made[key] = node
    return Node(dict(sorted(made.items())), limits.at, limits.key)


def gpu_resource(maker: Maker | None, node: Node) -> str:
    """Give the resource that `gpus` counts on a pool with this maker's accelerators."""
    resource = RESOURCES[maker or Maker.NVIDIA]
    if maker in (Maker.NEURON, Maker.HABANA):
        fix = f"write `{resource}: {node.value}`"
        raise Problem(
            Code.LIMIT_UNIT,
            f"`gpus` counts GPUs, but this pool's chips are counted as `{resource}`",
            node,
            fix,
        )
    return resource


def only_nodes(limits: Node | None) -> Node | None:
    """Give the `nodes` limit where it stands alone."""
    said = {key: node for key, node in mapping(limits).items() if node.value is not None}
    return find(limits, "nodes") if set(said) == {"nodes"} else None
