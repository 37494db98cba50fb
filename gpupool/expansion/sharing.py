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


def build_overlays(pool: ExpandedPool, cause: Located) -> list[ExpandedOverlay]:
    """Build one NodeOverlay for each GPU count of a pool with sharing."""
    return [_build_overlay(pool, count, cause) for count in pool.gpu_counts] if pool.slices > 1 else []


def _build_overlay(pool: ExpandedPool, count: int, cause: Located) -> ExpandedOverlay:
    requirements = [
        constraints.build_requirement(labels.INSTANCE_GPU_COUNT, "In", cause, [leaf(str(count), cause)]),
        constraints.build_requirement(labels.NODEPOOL, "In", cause, [leaf(pool.name, cause)]),
    ]
    capacity = {gpu_resource(pool.maker, cause): leaf(str(count * pool.slices), cause)}
    spec = tree(
        {"requirements": listing(requirements, cause), "capacity": tree(dict(capacity), cause)}, cause
    )
    return ExpandedOverlay(f"{pool.name}-gpus-{count}", pool.path, None, spec)
