"""Fields of a blueprint that the values of a rendered object can follow from, by the tables of fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpupool.blueprint.model import Blueprint, BlueprintCluster
from gpupool.blueprint.nodeclass import NodeClassFields
from gpupool.blueprint.pool import (
    PLUGIN_CONFIG_LABEL,
    BlueprintDisruption,
    BlueprintLimits,
    BlueprintPool,
    Instances,
    PoolFields,
    Sharing,
)
from gpupool.blueprint.targets import MANUFACTURER_LABELS, NAME_LABELS
from gpupool.karpenter import labels
from gpupool.planning.blueprint_index import NODE_CLASS, find_effective
from gpupool.planning.compare import cut_at_list
from gpupool.yamlio.located import find, mapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gpupool.planning.blueprint_index import FieldPath, Layer, Owner
    from gpupool.planning.compare import LeafPath

PROFILE: Final = (BlueprintPool.profile.key,)
TIMEZONE: Final = (Blueprint.cluster.key, BlueprintCluster.timezone.key)
WEIGHT: Final = (PoolFields.weight.key,)
LIMITS: Final = (PoolFields.limits.key,)
_ACCELERATOR, _ZONES = (PoolFields.accelerator.key,), (PoolFields.zones.key,)
_CLUSTER_ZONES: Final = (Blueprint.cluster.key, BlueprintCluster.zones.key)
_SLICES: Final = (PoolFields.sharing.key, Sharing.time_slicing.key)
_BUDGETS: Final = tuple(
    (PoolFields.disruption.key, row.key)
    for row in (BlueprintDisruption.maintenance, BlueprintDisruption.protect, BlueprintDisruption.budgets)
)
"""The fields that budgets follow from, the likeliest first."""

_POOL_INPUTS: Final = tuple(
    row.key
    for row in (
        BlueprintPool.profile, PoolFields.accelerator, PoolFields.capacity, PoolFields.zones,
        PoolFields.arch, PoolFields.os, PoolFields.weight, PoolFields.requirements, PoolFields.node_class,
    )
)  # fmt: skip
_POOL_MAPS: Final = (PoolFields.instances.key, *LIMITS)
_CLASS_INPUTS: Final = tuple(
    row.key for row in (NodeClassFields.ami, NodeClassFields.ami_family, NodeClassFields.ami_selector_terms)
)
_CLUSTER_INPUTS: Final = tuple(
    (Blueprint.cluster.key, row.key)
    for row in (
        BlueprintCluster.name, BlueprintCluster.region, BlueprintCluster.timezone, BlueprintCluster.zones,
        BlueprintCluster.karpenter, BlueprintCluster.catalogue,
    )
)  # fmt: skip
_OVERLAY_INPUTS: Final = frozenset({
    *PROFILE, *_ACCELERATOR, PoolFields.requirements.key, PoolFields.instances.key, PoolFields.sharing.key,
})  # fmt: skip
"""The inputs of the overlays that a pool with sharing has."""

_REQUIREMENT_FIELDS: Final[Mapping[str, tuple[FieldPath, ...]]] = {
    **{row.label: ((key,),) for key, row in PoolFields.rows.items() if row.label},
    **{row.label: ((PoolFields.instances.key, key),) for key, row in Instances.rows.items()},
    **dict.fromkeys((labels.ZONE, labels.ZONE_ID), (_ZONES, _CLUSTER_ZONES)),
    **dict.fromkeys((*NAME_LABELS, *MANUFACTURER_LABELS), (_ACCELERATOR,)),
    labels.INSTANCE_GPU_COUNT: ((PoolFields.instances.key, Instances.gpus.key), _ACCELERATOR),
    labels.INSTANCE_ACCELERATOR_COUNT: (_ACCELERATOR,),
}
"""The fields that set a requirement, by its label."""

_RENDERED: Final = {tuple(row.to.split(".")): key for key, row in PoolFields.rows.items() if row.to}
"""The field that sets a part of a NodePool, by the part's path."""

_LABELS_PATH, _ANNOTATIONS_PATH, REQUIREMENTS_PATH, CLASS_PATH, DISRUPTION_PATH, LIMITS_PATH = (
    tuple(row.to.split("."))
    for row in (
        PoolFields.labels, PoolFields.annotations, PoolFields.requirements, PoolFields.node_class_ref,
        PoolFields.disruption, PoolFields.limits,
    )
)  # fmt: skip
BUDGETS_PATH: Final = (*DISRUPTION_PATH, BlueprintDisruption.budgets.key)
_SPEC: Final = "spec"


def _map_class_fields() -> dict[str, list[str]]:
    """Return the short fields of a node class by the field of EC2NodeClass that they set."""
    fields: dict[str, list[str]] = {}
    for key, row in NodeClassFields.rows.items():
        targets = [*row.sets, row.to] if isinstance(row.sets, tuple) and not row.is_inherited else []
        for target in filter(None, targets):
            fields.setdefault(target.partition(" ")[0].partition(".")[0], []).append(key)
    return fields


_CLASS_FIELDS: Final = _map_class_fields()


def list_inputs(kind: str, owner: Owner, layers: Sequence[Layer]) -> Iterator[FieldPath]:
    """Yield the fields that the calculated values of an object follow from."""
    yield from _CLUSTER_INPUTS
    if owner.section == Blueprint.pools.key and not owner.is_class:
        yield from _list_pool_inputs(kind, layers)
    elif owner.section != Blueprint.node_overlays.key:
        prefix = (NODE_CLASS,) if owner.is_class else ()
        yield PROFILE
        yield from ((*prefix, name) for name in _CLASS_INPUTS)


def _list_pool_inputs(kind: str, layers: Sequence[Layer]) -> Iterator[FieldPath]:
    is_overlay = kind == "NodeOverlay"
    maps = {
        name: dict.fromkeys(key for layer in layers for key in mapping(find(layer.node, name)))
        for name in _POOL_MAPS
    }
    paths = [
        *((name,) for name in _POOL_INPUTS),
        *((name, key) for name, keys in maps.items() for key in keys),
        _SLICES,
        *_BUDGETS,
    ]
    yield from (path for path in paths if not is_overlay or path[0] in _OVERLAY_INPUTS)
    if not is_overlay and _is_share(layers):
        yield LIMITS


def find_fields(kind: str, owner: Owner, layers: Sequence[Layer], keys: LeafPath) -> Iterator[FieldPath]:
    """Yield the fields that can set a value of an object, the likeliest first."""
    if kind == "EC2NodeClass":
        prefix = (NODE_CLASS,) if owner.is_class else ()
        names = _CLASS_FIELDS.get(str(keys[1]), ()) if len(keys) > 1 else ()
        yield from ((*prefix, name) for name in names)
        if keys[:1] == (_SPEC,):
            yield (*prefix, *cut_at_list(keys[1:]))
    elif kind == "NodeOverlay":
        is_own = owner.section == Blueprint.node_overlays.key
        yield cut_at_list(keys[1:]) if is_own else _SLICES
    else:
        yield from _find_pool_fields(layers, keys)


def _find_pool_fields(layers: Sequence[Layer], keys: LeafPath) -> Iterator[FieldPath]:
    if _is_below(keys, REQUIREMENTS_PATH):
        label = str(keys[len(REQUIREMENTS_PATH)]) if len(keys) > len(REQUIREMENTS_PATH) else ""
        own = PoolFields.requirements.key
        yield from (*_REQUIREMENT_FIELDS.get(label, ()), (own, label), (own,))
    elif _is_below(keys, CLASS_PATH):
        yield from (_rendered_field(keys), (NODE_CLASS,))
    elif _is_below(keys, BUDGETS_PATH):
        yield from _BUDGETS
    elif _is_below(keys, LIMITS_PATH):
        yield from [LIMITS] if _is_share(layers) else []
        own_limits = (BlueprintLimits.gpus.key, BlueprintLimits.usd_per_hour.key)
        yield from ((*LIMITS, name) for name in (*cut_at_list(keys[len(LIMITS_PATH) :]), *own_limits))
    else:
        yield _rendered_field(keys)
        if _is_below(keys, _ANNOTATIONS_PATH) and labels.DO_NOT_DISRUPT in keys:
            yield (PoolFields.do_not_disrupt.key,)
        if _is_below(keys, _LABELS_PATH) and PLUGIN_CONFIG_LABEL in keys:
            yield _SLICES


def _is_below(keys: LeafPath, path: FieldPath) -> bool:
    return keys[: len(path)] == path


def _rendered_field(keys: LeafPath) -> FieldPath:
    """Return the field that a NodePool's value is copied from."""
    for path, key in _RENDERED.items():
        if _is_below(keys, path):
            return (key, *cut_at_list(keys[len(path) :]))
    return cut_at_list(keys[1:] if keys[:1] == (_SPEC,) else keys)


def is_relevant(name: str, keys: LeafPath) -> bool:
    """Return whether a value of an object can follow from an input."""
    is_of_disruption = name.startswith(f"{PoolFields.disruption.key}.") or name == ".".join(TIMEZONE)
    if name == ".".join(PROFILE):
        return True
    if _is_below(keys, DISRUPTION_PATH):
        return is_of_disruption
    if _is_below(keys, tuple(PoolFields.weight.to.split("."))):
        return name == ".".join(WEIGHT)
    if name.startswith(".".join(LIMITS)):
        return _is_below(keys, LIMITS_PATH)
    return name != ".".join(WEIGHT) and not is_of_disruption


def _is_share(layers: Sequence[Layer]) -> bool:
    limits = find_effective(layers, LIMITS)
    return limits is not None and isinstance(limits[1].value, str)
