"""Causes of calculated values: the scalars of the blueprint that they follow from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpupool.blueprint.pool import PoolFields
from gpupool.expansion.layers import BUILT_IN
from gpupool.yamlio.located import Located, find

if TYPE_CHECKING:
    from gpupool.blueprint.model import BlueprintCluster
    from gpupool.findings import Location

_SELECTING = (
    PoolFields.accelerator, PoolFields.instances, PoolFields.requirements, PoolFields.capacity,
    PoolFields.zones, PoolFields.arch, PoolFields.os, PoolFields.labels,
)  # fmt: skip
"""The fields of a pool that determine its instance types."""

_SELECTING_IN_CLASS = (
    "amiFamily", "amiSelectorTerms", "blockDeviceMappings", "instanceStorePolicy", "kubelet", "cpuOptions",
    "networkInterfaces", "connectionTracking", "placementGroupSelector", "capacityReservationSelectorTerms",
)  # fmt: skip
"""The fields of an EC2NodeClass that the instance types depend on."""


def collect_causes(*nodes: Located | None) -> tuple[Located, ...]:
    """Return the scalars inside values, and what those are calculated from; each location once.

    gpupool's own defaults are in no file, so they are left out.
    """
    causes: dict[Location, Located] = {}
    for node in nodes:
        if node is not None:
            _add_scalars(node, causes)
    return tuple(causes.values())


def add_causes(node: Located, causes: tuple[Located, ...]) -> Located:
    """Return a value with further causes of each leaf."""
    value = node.value
    if isinstance(value, dict):
        value = {key: add_causes(item, causes) for key, item in value.items()}
    elif isinstance(value, list):
        value = [add_causes(item, causes) for item in value]
    also = (*node.also, *causes)
    return Located(value, node.at, node.key, node.text, node.previous, node.note, also)


def collect_selection(
    fields: PoolFields, node_class: Located | None, cluster: BlueprintCluster
) -> tuple[Located, ...]:
    """Return what determines a pool's instance types: its fields, its EC2NodeClass spec and the cluster."""
    return collect_causes(
        *(fields.get(row.key) for row in _SELECTING),
        *(find(node_class, key) for key in _SELECTING_IN_CLASS),
        cluster.region,
        cluster.catalogue,
    )


def _add_scalars(node: Located, causes: dict[Location, Located]) -> None:
    value = node.value
    if value and isinstance(value, dict | list):
        for item in value if isinstance(value, list) else value.values():
            _add_scalars(item, causes)
        return
    for cause in (node, *node.also) if node.also else (node,):
        if cause.at is not BUILT_IN:
            causes.setdefault(cause.at, cause)
