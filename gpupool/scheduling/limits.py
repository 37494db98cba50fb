"""What a pool's limits admit: which types at all, and how many nodes of each.

Source: filterByRemainingResources and addToNewNodeClaim of Karpenter v1.14.1. Karpenter counts a node by its
capacity: vCPUs, pieces, and memory as it expects it, until the node has registered and says how much it has.
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
    """How many nodes of one type the limits admit, if all are of that type."""

    nodes: int | None
    """None where no limit counts anything that the type has."""

    by: str
    """The resource whose limit says so; empty where none does."""

    registered: int | None
    """The same where registered nodes have all the memory that EC2 names; no fewer than so many fit."""


def read_limits(node_pool: Mapping[str, Plain]) -> dict[str, Amount]:
    """Return a NodePool's limits; `nodes` counts nodes, the others are resources in their base units."""
    spec = node_pool.get("spec")
    said = spec.get("limits") if isinstance(spec, dict) else None
    return {key: parse_amount(str(value)) for key, value in said.items()} if isinstance(said, dict) else {}


def format_limit(name: str, value: Amount) -> str:
    """Return an amount of a resource as limits are written: memory in Gi, the rest in pieces."""
    return f"{int(value) / _GIB:g}Gi" if name in (MEMORY, STORAGE) else f"{value}"


def find_types_in_limits(market: Market, types: Mask, remaining: TypeResources) -> Mask:
    """Return the types of which one more node fits in what the limits leave."""
    if NODES in remaining and remaining[NODES] == 0:
        return 0
    return sum(
        1 << place
        for place in positions(types)
        if not find_exceeded_limits(market.capacity(place), remaining)
    )


def find_exceeded_limits(capacity: TypeResources, limits: TypeResources) -> list[str]:
    """Return the limits that a single node goes over; `nodes` is none of a node's resources."""
    return [name for name, limit in limits.items() if capacity.get(name, 0) > limit]


def count_admitted_nodes(market: Market, position: int, limits: TypeResources) -> AdmittedNodes:
    """Return how many nodes of one type the limits admit."""
    room = {**market.capacity(position), NODES: 1}
    counts = _counts(room, limits)
    if not counts:
        return AdmittedNodes(None, "", None)
    nodes, by = min((count, name) for name, count in counts.items())
    whole = {**room, MEMORY: market.kind(position).memory * _MIB}
    return AdmittedNodes(nodes, by, min(_counts(whole, limits).values()))


def _counts(room: TypeResources, limits: TypeResources) -> dict[str, int]:
    return {name: int(limit // room[name]) for name, limit in limits.items() if room.get(name, 0) > 0}
