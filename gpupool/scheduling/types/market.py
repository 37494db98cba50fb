"""Market: the instance types that a node class may launch in a region, with zones and prices."""

from collections.abc import Mapping
from functools import cached_property
from typing import Final, NamedTuple

from gpupool.catalogue.model import FALLBACK_REGION, Catalogue, Column, Prices, Zone
from gpupool.karpenter import labels
from gpupool.karpenter.quantities import Amount
from gpupool.karpenter.requirements import Requirement, build_requirement
from gpupool.scheduling.types.capacity import (
    TypeResources,
    calculate_allocatable,
    calculate_capacity,
    calculate_overhead,
)
from gpupool.scheduling.types.classfilter import find_class_conflict, has_type_filters
from gpupool.scheduling.types.instancetype import InstanceType, read_instance_type
from gpupool.scheduling.types.nodeclass import ScheduledNodeClass
from gpupool.scheduling.types.typemasks import Mask, MaskValues, TypeMasks, build_mask, positions

RESERVATION_LABELS: Final = (
    labels.CAPACITY_RESERVATION_ID,
    labels.CAPACITY_RESERVATION_TYPE,
    labels.CAPACITY_RESERVATION_INTERRUPTIBLE,
)
CAPACITY_TYPES: Final = ("on-demand", "spot")
"""Capacity types that every node class may launch; `reserved` requires a capacity reservation."""

_LOCATION_LABELS: Final = (labels.ZONE, labels.ZONE_ID, labels.REGION)


class OverlaidTypes(NamedTuple):
    """The changes by NodeOverlays, by the positions of types."""

    capacity: Mapping[int, TypeResources] = {}
    prices: Mapping[int, float] = {}
    """On-demand prices that apply in all zones of a type."""

    partly: Mapping[str, Mask] = {}
    """Overlays whose price applies only to some offerings, with these types."""

    ignored: tuple[str, ...] = ()
    """Overlays that are ignored because they conflict with another one of the same weight."""


class Market:
    """The types that a node class and a region offer, with cached results.

    Without a region, or for one that is not in the catalogue, `is_judged` is False: zones are ignored then,
    and every type counts as offered.
    """

    def __init__(
        self, masks: TypeMasks, node_class: ScheduledNodeClass | None = None, region: str | None = None
    ) -> None:
        """Store the types, a node class (default: AL2023 with default settings) and a region."""
        self.masks = masks
        self.catalogue: Catalogue = masks.catalogue
        self.node_class = node_class or ScheduledNodeClass()
        self.region = region
        offered = self.catalogue.offered(region) if region else None
        self.is_judged = offered is not None
        self._offered = offered or Column((0,), bytes(len(self.catalogue.names)))
        self.overlaid = OverlaidTypes()
        self._kinds: dict[int, InstanceType] = {}
        self._capacity: dict[int, dict[str, Amount]] = {}
        self._allocatable: dict[int, dict[str, Amount]] = {}

    @cached_property
    def zones(self) -> tuple[Zone, ...]:
        """Return the region's zones in which the class has subnets; all zones if that is not known."""
        region_zones, class_zones = self.catalogue.regions.get(self.region or "", ()), self.node_class.zones
        return (
            region_zones
            if class_zones is None
            else tuple(zone for zone in region_zones if zone.name in class_zones)
        )

    @cached_property
    def zone_masks(self) -> dict[Zone, Mask]:
        """Return the types that each zone offers."""
        bits = {
            zone: 1 << index for index, zone in enumerate(self.catalogue.regions.get(self.region or "", ()))
        }
        return {
            zone: build_mask(self._offered, [bool(value & bits[zone]) for value in self._zone_bits])
            for zone in self.zones
        }  # fmt: skip

    @cached_property
    def price_list(self) -> Prices:
        """Return Karpenter's initial prices: the region's own, or those of us-east-1."""
        prices = self.catalogue.prices(self.region or FALLBACK_REGION) or self.catalogue.prices(
            FALLBACK_REGION
        )
        return prices or Prices("", "USD", "", (None,) * len(self.catalogue.names))

    @cached_property
    def priced(self) -> Mask:
        """Return the types with a price; without one there is no on-demand or spot offering."""
        listed = enumerate(self.price_list.amounts)
        listed_types = sum(1 << position for position, price in listed if price is not None)
        return listed_types | sum(
            1 << position for position in self.overlaid.prices if not listed_types >> position & 1
        )

    @cached_property
    def types_of_class(self) -> Mask:
        """Return the types that the class can be used with."""
        candidates = (
            self.masks.all
            if has_type_filters(self.node_class)
            else self.masks.find_types_by_fact("family", _is_a1)
        )
        return self.masks.all & ~sum(
            1 << position
            for position in positions(candidates)
            if find_class_conflict(self.kind(position), self.node_class)
        )

    @cached_property
    def launchable_by_type(self) -> dict[str, Mask]:
        """Return the types that support each capacity type."""
        return {
            name: self.masks.find_types(build_requirement(labels.CAPACITY_TYPE, "In", (name,)))
            for name in CAPACITY_TYPES
        }

    def with_overlays(self, overlaid: OverlaidTypes) -> "Market":
        """Return the market with the changes by NodeOverlays."""
        changed = Market(self.masks, self.node_class, self.region)
        changed.overlaid = overlaid
        return changed

    def has_label(self, key: str) -> bool:
        """Return whether the label is one of instance types, even if some types lack it."""
        market_labels = (labels.OS, labels.WINDOWS_BUILD, *_LOCATION_LABELS, *RESERVATION_LABELS)
        return self.masks.has_label(key) or key in market_labels

    def find_types(self, requirement: Requirement) -> Mask:
        """Find the types that match a requirement; a label that is not of instance types excludes none."""
        key = requirement.key
        if self.masks.has_label(key):
            return self.masks.find_types(requirement)
        if key in _LOCATION_LABELS:
            return self._find_types_in_location(requirement) if self.is_judged else self.masks.all
        if key == labels.OS:
            return self._find_types_by_system(requirement)
        if key == labels.WINDOWS_BUILD:
            build = self.node_class.family.windows_build
            return self._all_or_none(requirement.matches((build,) if build else ()))
        return self._all_or_none(key not in RESERVATION_LABELS or requirement.matches(()))

    def values(self, key: str, position: int) -> MaskValues:
        """Return the possible values of a type's label, as `minValues` counts them."""
        if self.masks.has_label(key):
            return self.masks.values(key, position)
        offering_zones = [zone for zone, mask in self.zone_masks.items() if mask >> position & 1]
        if key == labels.ZONE:
            return tuple(zone.name for zone in offering_zones)
        if key == labels.ZONE_ID:
            return tuple(zone.id for zone in offering_zones)
        if key == labels.REGION:
            return (self.region,) if self.region else ()
        if key == labels.OS:
            return self._get_systems(self.kind(position).arch)
        build = self.node_class.family.windows_build
        return (build,) if key == labels.WINDOWS_BUILD and build else ()

    def kind(self, position: int) -> InstanceType:
        """Return the record of a type."""
        record = self._kinds.get(position)
        if record is None:
            record = self._kinds[position] = read_instance_type(self.catalogue, position)
        return record

    def price(self, position: int) -> float | None:
        """Return the on-demand price of a type per hour."""
        return self.overlaid.prices.get(position, self.price_list.amounts[position])

    def capacity(self, position: int) -> dict[str, Amount]:
        """Return the capacity that Karpenter expects of a type's node."""
        amounts = self._capacity.get(position)
        if amounts is None:
            base = calculate_capacity(self.kind(position), self.node_class)
            amounts = self._capacity[position] = {**base, **self.overlaid.capacity.get(position, {})}
        return amounts

    def allocatable(self, position: int) -> dict[str, Amount]:
        """Return the part of a type's capacity that pods may use."""
        amounts = self._allocatable.get(position)
        if amounts is None:
            reserved = calculate_overhead(self.kind(position), self.node_class)
            amounts = self._allocatable[position] = calculate_allocatable(self.capacity(position), reserved)
        return amounts

    @property
    def _zone_bits(self) -> list[int]:
        return [value if isinstance(value, int) else 0 for value in self._offered.values]

    def _all_or_none(self, is_match: bool) -> Mask:
        return self.masks.all if is_match else 0

    def _find_types_in_location(self, requirement: Requirement) -> Mask:
        if requirement.key == labels.REGION:
            return self._all_or_none(requirement.matches((self.region or "",)))
        matching = offered = 0
        for zone, mask in self.zone_masks.items():
            offered |= mask
            if requirement.has(zone.id if requirement.key == labels.ZONE_ID else zone.name):
                matching |= mask
        # A type that no zone offers has no zone, and no label for the zone's ID at all.
        matches_absence = requirement.key == labels.ZONE_ID or requirement.matches(())
        return matching | (self.masks.all & ~offered if matches_absence else 0)

    def _find_types_by_system(self, requirement: Requirement) -> Mask:
        return self.masks.find_types_by_fact(
            "arch", lambda arch: requirement.matches(self._get_systems(arch))
        )

    def _get_systems(self, arch: str) -> MaskValues:
        if not self.node_class.family.windows_build:
            return ("linux",)
        return ("windows",) if arch == "amd64" else ()


def _is_a1(family: object) -> bool:
    return family == "a1"
