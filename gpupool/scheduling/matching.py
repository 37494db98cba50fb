"""Which types a pool may launch, as Karpenter's scheduler finds them before it looks at any pod.

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
"""Labels that a node has later; Karpenter adds them so that DaemonSets that wait for them are counted."""

_ROOMY_DISK: Final = 2 << 30
"""From so many bytes on, less than the disk is kept for the kubelet and against eviction."""


class MatchedTypes(NamedTuple):
    """The types that a pool's requirements leave, narrower from field to field."""

    candidates: Mask
    """Pass the requirements, and the class can be used with them."""

    offered: Mask
    """Are in one of the pool's zones with one of its capacity types besides."""

    launchable: Mask
    """Have a price and room for pods besides; empty where they are too few for `minValues`."""

    too_few: dict[str, tuple[int, int]]
    """For each label with too few values: how many the launchable types have, and `minValues`."""


def read_template_requirements(node_pool: Mapping[str, Plain]) -> Requirements:
    """Return all that a NodePool's nodes have to be: its requirements and labels, and what Karpenter adds."""
    template = plain_map(plain_map(node_pool.get("spec")).get("template"))
    spec, metadata = plain_map(template.get("spec")), plain_map(template.get("metadata"))
    own = plain_map(metadata.get("labels"))
    name = str(plain_map(node_pool.get("metadata")).get("name", ""))
    node_class = str(plain_map(spec.get("nodeClassRef")).get("name", ""))
    said = {key: str(value) for key, value in own.items()}
    return combine_requirements(
        [
            *read_requirements(spec.get("requirements")),
            *labels_to_requirements({**said, labels.NODEPOOL: name, labels.EC2NODECLASS: node_class}),
            *(build_requirement(key, "In", ("true",)) for key in _SIMULATED),
        ]
    )


def read_requirements(entries: Plain) -> list[Requirement]:
    """Read the entries of a `requirements` list as they stand."""
    found = []
    for entry in map(plain_map, entries if isinstance(entries, list) else ()):
        values = entry.get("values")
        texts = [str(value) for value in values] if isinstance(values, list) else []
        least = entry.get("minValues")
        found.append(
            build_requirement(
                str(entry.get("key", "")),
                str(entry.get("operator", "")),
                texts,
                int(least) if isinstance(least, (int, float)) else None,
            )
        )
    return found


def match_types(market: Market, wanted: Requirements, policy: MinValuesPolicy = "Strict") -> MatchedTypes:
    """Return the types that a pool with these requirements may launch in a market."""
    candidates = market.of_class
    for each in wanted.values():
        candidates &= market.taken(each)
    offered = candidates & find_offered_types(market, wanted)
    launchable = drop_types_without_room(
        market, offered & (market.priced if market.judged else market.masks.all)
    )
    too_few = find_lacking_values(market, launchable, wanted)
    return MatchedTypes(candidates, offered, 0 if too_few and policy == "Strict" else launchable, too_few)


def find_offered_types(market: Market, wanted: Requirements) -> Mask:
    """Return the types of which some zone and capacity type suits, whatever they cost."""
    if not all(wanted[key].matches(()) for key in RESERVATION_LABELS if key in wanted):
        return 0
    if not market.judged:
        return market.masks.all
    zones = find_types_in_zones(market, wanted)
    return zones & unite_masks(market.launchable_by_type[each] for each in find_capacity_types(wanted))


def find_capacity_types(wanted: Requirements) -> list[str]:
    """Return the capacity types, of those that every class may launch, that a pool allows."""
    said = wanted.get(labels.CAPACITY_TYPE)
    return [each for each in CAPACITY_TYPES if said is None or said.has(each)]


def find_types_in_zones(market: Market, wanted: Requirements) -> Mask:
    """Return the types that some zone has which suits."""
    names, ids = wanted.get(labels.ZONE), wanted.get(labels.ZONE_ID)
    return unite_masks(
        mask
        for zone, mask in market.zone_masks.items()
        if (names is None or names.has(zone.name)) and (ids is None or ids.has(zone.id))
    )


def find_lacking_values(market: Market, types: Mask, wanted: Requirements) -> dict[str, tuple[int, int]]:
    """Return the labels of which the types have fewer values than `minValues`: how many, and the least."""
    found = {}
    for key, each in wanted.items():
        if each.min_values is not None:
            count = len({value for place in positions(types) for value in market.values(key, place)})
            if count < each.min_values:
                found[key] = count, each.min_values
    return found


def drop_types_without_room(market: Market, types: Mask) -> Mask:
    """Leave out types of which the kubelet and the system would keep more than there is."""
    if not _reserves(market.node_class):
        return types
    full = (place for place in positions(types) if min(market.allocatable(place).values()) < 0)
    return types & ~sum(1 << place for place in full)


def unite_masks(masks: Iterable[Mask]) -> Mask:
    """Return the types that are in any of the sets."""
    found = 0
    for mask in masks:
        found |= mask
    return found


def _reserves(node_class: ScheduledNodeClass) -> bool:
    """Return whether a class may keep more on a node than it has; as Linux comes, every type has room."""
    family, disks = node_class.family, node_class.block_devices
    return bool(
        not family.eni_limited_pods
        or node_class.kube_reserved
        or node_class.system_reserved
        or node_class.eviction_hard
        or any(each.size is not None and each.size < _ROOMY_DISK for each in disks)
        or (node_class.max_pods is not None and not family.eni_limited_memory)
    )
