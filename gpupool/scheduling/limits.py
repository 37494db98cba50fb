"""Resource limits of a pool: which instance types fit, and how many nodes of each.

Source: filterByRemainingResources and addToNewNodeClaim of Karpenter v1.14.1. Karpenter counts a node by its
capacity: vCPUs, devices, and the expected memory until the node has registered with its real memory.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from gpupool.karpenter.quantities import Amount, parse_amount
from gpupool.scheduling.types.capacity import MEMORY, STORAGE, TypeResources
from gpupool.scheduling.types.market import Market
from gpupool.scheduling.types.typemasks import Mask, positions
from gpupool.yamlio.located import Plain

NODES: Final = "nodes"
_MIB: Final = 1 << 20
_GIB: Final = 1 << 30


class AdmittedNodes(NamedTuple):
    """How many nodes of one type the limits allow, if all nodes are of that type."""

    nodes: int | None
    """None if no limit is on a resource of the type."""

    by: str
    """The resource whose limit is the tightest; empty if there is none."""

    registered: int | None
    """The same with all memory that EC2 reports for registered nodes; at least this many fit."""


def read_limits(node_pool: Mapping[str, Plain]) -> dict[str, Amount]:
    """Read a NodePool's limits; `nodes` counts nodes, the others are resources in their base units."""
    spec = node_pool.get("spec")
    entries = spec.get("limits") if isinstance(spec, dict) else None
    return (
        {key: parse_amount(str(value)) for key, value in entries.items()} if isinstance(entries, dict) else {}
    )


def format_limit(name: str, value: Amount) -> str:
    """Return an amount of a resource as limits are written: memory in Gi, the rest as a number."""
    return f"{int(value) / _GIB:g}Gi" if name in (MEMORY, STORAGE) else f"{value}"


def find_types_in_limits(market: Market, types: Mask, remaining: TypeResources) -> Mask:
    """Find the types of which one more node fits into the remaining limits."""
    if NODES in remaining and remaining[NODES] == 0:
        return 0
    return sum(
        1 << position
        for position in positions(types)
        if not find_exceeded_limits(market.capacity(position), remaining)
    )


def find_exceeded_limits(capacity: TypeResources, limits: TypeResources) -> list[str]:
    """Find the limits that a single node exceeds; `nodes` is not a resource of a node."""
    return [name for name, limit in limits.items() if capacity.get(name, 0) > limit]


def count_admitted_nodes(market: Market, position: int, limits: TypeResources) -> AdmittedNodes:
    """Count the nodes of one type that the limits allow."""
    capacity = {**market.capacity(position), NODES: 1}
    counts = _count_by_limit(capacity, limits)
    if not counts:
        return AdmittedNodes(None, "", None)
    nodes, by = min((count, name) for name, count in counts.items())
    registered_capacity = {**capacity, MEMORY: market.kind(position).memory * _MIB}
    return AdmittedNodes(nodes, by, min(_count_by_limit(registered_capacity, limits).values()))


def _count_by_limit(capacity: TypeResources, limits: TypeResources) -> dict[str, int]:
    return {name: int(limit // capacity[name]) for name, limit in limits.items() if capacity.get(name, 0) > 0}
