"""Matching of a pool's requirements with instance types, before any pod is considered.

Source: NewNodeClaimTemplate and filterInstanceTypesByRequirements of Karpenter v1.14.1.
"""

from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from gpupool.karpenter import labels
from gpupool.karpenter.requirements import (
    Requirement,
    Requirements,
    build_requirement,
    combine_requirements,
    labels_to_requirements,
)
from gpupool.scheduling.types.market import CAPACITY_TYPES, RESERVATION_LABELS, Market
from gpupool.scheduling.types.nodeclass import ScheduledNodeClass
from gpupool.scheduling.types.typemasks import Mask, positions
from gpupool.yamlio.located import Plain, plain_map

MinValuesPolicy: TypeAlias = Literal["Strict", "BestEffort"]
_SIMULATED: Final = ("karpenter.sh/registered", "karpenter.sh/initialized")
"""Labels that a node gets later; Karpenter adds them so that DaemonSets which select them are counted."""

_ROOMY_DISK: Final = 2 << 30
"""From this many bytes on, the reserves for the kubelet and eviction are smaller than the disk."""


class MatchedTypes(NamedTuple):
    """The types that match a pool's requirements; each field is a subset of the one before."""

    candidates: Mask
    """The types that match the requirements and the node class."""

    offered: Mask
    """Those also offered in one of the pool's zones with one of its capacity types."""

    launchable: Mask
    """Those also with a price and room for pods; empty if they are too few for `minValues`."""

    too_few: dict[str, tuple[int, int]]
    """For each label with too few values: the number that the launchable types have, and `minValues`."""


def read_template_requirements(node_pool: Mapping[str, Plain]) -> Requirements:
    """Read all requirements on a NodePool's nodes: its own, its labels and Karpenter's labels."""
    template = plain_map(plain_map(node_pool.get("spec")).get("template"))
    spec, metadata = plain_map(template.get("spec")), plain_map(template.get("metadata"))
    own = plain_map(metadata.get("labels"))
    name = str(plain_map(node_pool.get("metadata")).get("name", ""))
    node_class = str(plain_map(spec.get("nodeClassRef")).get("name", ""))
    node_labels = {key: str(value) for key, value in own.items()}
    return combine_requirements(
        [
            *read_requirements(spec.get("requirements")),
            *labels_to_requirements({**node_labels, labels.NODEPOOL: name, labels.EC2NODECLASS: node_class}),
            *(build_requirement(key, "In", ("true",)) for key in _SIMULATED),
        ]
    )


def read_requirements(entries: Plain) -> list[Requirement]:
    """Read the entries of a `requirements` list one by one."""
    requirements = []
    for entry in map(plain_map, entries if isinstance(entries, list) else ()):
        values = entry.get("values")
        texts = [str(value) for value in values] if isinstance(values, list) else []
        least = entry.get("minValues")
        requirements.append(
            build_requirement(
                str(entry.get("key", "")),
                str(entry.get("operator", "")),
                texts,
                int(least) if isinstance(least, (int, float)) else None,
            )
        )
    return requirements


def match_types(
    market: Market, requirements: Requirements, policy: MinValuesPolicy = "Strict"
) -> MatchedTypes:
    """Match the types of a market with a pool's requirements."""
    candidates = market.types_of_class
    for entry in requirements.values():
        candidates &= market.find_types(entry)
    offered = candidates & find_offered_types(market, requirements)
    launchable = drop_types_without_room(
        market, offered & (market.priced if market.is_judged else market.masks.all)
    )
    too_few = find_lacking_values(market, launchable, requirements)
    return MatchedTypes(candidates, offered, 0 if too_few and policy == "Strict" else launchable, too_few)


def find_offered_types(market: Market, requirements: Requirements) -> Mask:
    """Find the types with a matching zone and capacity type, regardless of price."""
    if not all(requirements[key].matches(()) for key in RESERVATION_LABELS if key in requirements):
        return 0
    if not market.is_judged:
        return market.masks.all
    zones = find_types_in_zones(market, requirements)
    return zones & unite_masks(market.launchable_by_type[name] for name in find_capacity_types(requirements))


def find_capacity_types(requirements: Requirements) -> list[str]:
    """Find the capacity types that a pool allows, of those that every node class may launch."""
    capacity_type = requirements.get(labels.CAPACITY_TYPE)
    return [name for name in CAPACITY_TYPES if capacity_type is None or capacity_type.has(name)]


def find_types_in_zones(market: Market, requirements: Requirements) -> Mask:
    """Find the types that a matching zone offers."""
    names, ids = requirements.get(labels.ZONE), requirements.get(labels.ZONE_ID)
    return unite_masks(
        mask
        for zone, mask in market.zone_masks.items()
        if (names is None or names.has(zone.name)) and (ids is None or ids.has(zone.id))
    )


def find_lacking_values(
    market: Market, types: Mask, requirements: Requirements
) -> dict[str, tuple[int, int]]:
    """Find labels for which the types have fewer values than `minValues`: the number and the minimum."""
    lacking = {}
    for key, entry in requirements.items():
        if entry.min_values is not None:
            count = len({value for position in positions(types) for value in market.values(key, position)})
            if count < entry.min_values:
                lacking[key] = count, entry.min_values
    return lacking


def drop_types_without_room(market: Market, types: Mask) -> Mask:
    """Return the types without those whose reserves exceed their capacity."""
    if not _can_overuse(market.node_class):
        return types
    overused = (position for position in positions(types) if min(market.allocatable(position).values()) < 0)
    return types & ~sum(1 << position for position in overused)


def unite_masks(masks: Iterable[Mask]) -> Mask:
    """Return the union of sets of types."""
    united = 0
    for mask in masks:
        united |= mask
    return united


def _can_overuse(node_class: ScheduledNodeClass) -> bool:
    """Return whether a class can reserve more than a node has; with Linux defaults every type has room."""
    family, disks = node_class.family, node_class.block_devices
    return bool(
        not family.has_eni_limited_pods
        or node_class.kube_reserved
        or node_class.system_reserved
        or node_class.eviction_hard
        or any(disk.size is not None and disk.size < _ROOMY_DISK for disk in disks)
        or (node_class.max_pods is not None and not family.has_eni_limited_memory)
    )
