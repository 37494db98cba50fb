"""Time-slicing: what the scheduler has to be told so that it counts slices and not GPUs."""

from gpupool.expansion import constraints
from gpupool.expansion.expanded import ExpandedOverlay, ExpandedPool
from gpupool.expansion.limits import gpu_resource
from gpupool.karpenter import labels
from gpupool.yamlio.located import Located, find, leaf, listing, tree


def count_slices(words: Located) -> int:
    """Return how many pods take turns on one GPU; 1 without sharing."""
    node = find(words, "sharing", "timeSlicing")
    return node.value if node is not None and isinstance(node.value, int) else 1


def config_name(replicas: int) -> str:
    """Return the name of the device plugin's configuration for so many pods a GPU."""
    return f"time-slicing-{replicas}"


def build_overlays(pool: ExpandedPool, cause: Located) -> list[ExpandedOverlay]:
    """Return one NodeOverlay for each GPU count of a pool that shares its GPUs."""
    return [_overlay(pool, count, cause) for count in pool.gpu_counts] if pool.slices > 1 else []


def _overlay(pool: ExpandedPool, count: int, cause: Located) -> ExpandedOverlay:
    on = [
        constraints.build_requirement(labels.INSTANCE_GPU_COUNT, "In", cause, [leaf(str(count), cause)]),
        constraints.build_requirement(labels.NODEPOOL, "In", cause, [leaf(pool.name, cause)]),
    ]
    capacity = {gpu_resource(pool.maker, cause): leaf(str(count * pool.slices), cause)}
    spec = tree({"requirements": listing(on, cause), "capacity": tree(dict(capacity), cause)}, cause)
    return ExpandedOverlay(f"{pool.name}-gpus-{count}", pool.path, None, spec)
