"""GPU sharing by time-slicing: NodeOverlays that make Karpenter count slices instead of GPUs."""

from gpupool.blueprint.pool import PoolFields
from gpupool.expansion import constraints
from gpupool.expansion.expanded import ExpandedOverlay, ExpandedPool
from gpupool.expansion.limits import gpu_resource
from gpupool.karpenter import labels
from gpupool.yamlio.located import Located, leaf, listing, tree


def count_slices(fields: PoolFields) -> int:
    """Return the number of pods that share one GPU; 1 without sharing."""
    return fields.sharing.time_slicing.value if fields.sharing.time_slicing is not None else 1


def config_name(replicas: int) -> str:
    """Return the name of the device plugin's configuration for a number of pods on each GPU."""
    return f"time-slicing-{replicas}"


def build_overlays(
    pool: ExpandedPool, cause: Located, selection: tuple[Located, ...]
) -> list[ExpandedOverlay]:
    """Build one NodeOverlay for each GPU count of a pool with sharing.

    `selection` is what determines the pool's instance types, and so the counts.
    """
    if pool.slices <= 1:
        return []
    return [_build_overlay(pool, count, cause, selection) for count in pool.gpu_counts]


def _build_overlay(
    pool: ExpandedPool, count: int, cause: Located, selection: tuple[Located, ...]
) -> ExpandedOverlay:
    number = leaf(str(count), cause, also=selection)
    requirements = [
        constraints.build_requirement(labels.INSTANCE_GPU_COUNT, "In", cause, [number], also=selection),
        constraints.build_requirement(labels.NODEPOOL, "In", cause, [leaf(pool.name, cause)]),
    ]
    capacity = {gpu_resource(pool.maker, cause): leaf(str(count * pool.slices), cause, also=selection)}
    spec = tree(
        {"requirements": listing(requirements, cause), "capacity": tree(dict(capacity), cause)}, cause
    )
    return ExpandedOverlay(f"{pool.name}-gpus-{count}", pool.path, None, spec)
