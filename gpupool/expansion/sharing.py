"""Time-slicing: what the scheduler has to be told so that it counts slices and not GPUs."""

from gpupool.blueprint.kinds import by_key
from gpupool.expansion import constraints
from gpupool.expansion.expanded import ExpandedOverlay, ExpandedPool
from gpupool.expansion.limits import gpu_resource
from gpupool.karpenter import labels
from gpupool.yamlio.nodes import Node, find, items, leaf, listing, tree

GPU_COUNTS = (1, 2, 4, 8)
"""How many whole GPUs one EC2 machine has, of all types that are still offered (2026-10)."""


def slices(words: Node) -> int:
    """Give how many pods take turns on one GPU; 1 without sharing."""
    node = find(words, "sharing", "timeSlicing")
    return node.value if node is not None and isinstance(node.value, int) else 1


def config_name(replicas: int) -> str:
    """Give the name of the device plugin's configuration for so many pods a GPU."""
    return f"time-slicing-{replicas}"


def gpu_counts(words: Node) -> tuple[int, ...]:
    """Give the GPU counts that a pool's `gpus` word, or requirement on the count, admits."""
    own = by_key(find(words, "requirements"))
    node = find(words, "instances", "gpus") or own.get(labels.INSTANCE_GPU_COUNT)
    if node is None:
        return GPU_COUNTS
    made = list(constraints.requirements(labels.INSTANCE_GPU_COUNT, node))
    return tuple(count for count in GPU_COUNTS if all(_admits(requirement, count) for requirement in made))


def _admits(requirement: Node, count: int) -> bool:
    values = [int(str(item.value)) for item in items(find(requirement, "values"))]
    operator = str(getattr(find(requirement, "operator"), "value", ""))
    first = values[0] if values else 0
    return {
        "In": count in values,
        "NotIn": count not in values,
        "Exists": True,
        "DoesNotExist": False,
        "Gt": count > first,
        "Gte": count >= first,
        "Lt": count < first,
        "Lte": count <= first,
    }[operator]


def overlays(pool: ExpandedPool, cause: Node) -> list[ExpandedOverlay]:
    """Give one NodeOverlay for each GPU count of a pool that shares its GPUs."""
    return [_overlay(pool, count, cause) for count in pool.gpu_counts] if pool.slices > 1 else []


def _overlay(pool: ExpandedPool, count: int, cause: Node) -> ExpandedOverlay:
    on = [
        constraints.requirement(labels.INSTANCE_GPU_COUNT, "In", cause, [leaf(str(count), cause)]),
        constraints.requirement(labels.NODEPOOL, "In", cause, [leaf(pool.name, cause)]),
    ]
    capacity = {gpu_resource(pool.maker, cause): leaf(str(count * pool.slices), cause)}
    spec = tree({"requirements": listing(on, cause), "capacity": tree(dict(capacity), cause)}, cause)
    return ExpandedOverlay(f"{pool.name}-gpus-{count}", pool.path, None, spec)
