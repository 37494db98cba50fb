"""What one node class may launch in one region: the types, their zones and their prices."""

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
"""What every class may launch; `reserved` needs a reservation that only AWS knows."""

_PLACES: Final = (labels.ZONE, labels.ZONE_ID, labels.REGION)


class OverlaidTypes(NamedTuple):
    """What NodeOverlays change, by the positions of types."""

    capacity: Mapping[int, TypeResources] = {}
    prices: Mapping[int, float] = {}
    """On demand, in all zones of a type."""

    partly: Mapping[str, Mask] = {}
    """Overlays, with the types that have their price for some offerings only."""

    refused: tuple[str, ...] = ()
    """Overlays that contradict another one of their weight, and count for nothing."""


class Market:
    """The types that a node class and a region offer; what is asked of it is worked out once.

    Without a region, or for one that the catalogue does not know, `judged` is False: zones don't count
    then, and every type counts as offered.
    """

    def __init__(
        self, masks: TypeMasks, node_class: ScheduledNodeClass | None = None, region: str | None = None
    ) -> None:
        """Take the types, a class (AL2023 as it comes where there is none) and a region."""
        self.masks = masks
        self.catalogue: Catalogue = masks.catalogue
        self.node_class = node_class or ScheduledNodeClass()
        self.region = region
        offered = self.catalogue.offered(region) if region else None
        self.judged = offered is not None
        self._offered = offered or Column((0,), bytes(len(self.catalogue.names)))
        self.overlaid = OverlaidTypes()
        self._kinds: dict[int, InstanceType] = {}
        self._capacity: dict[int, dict[str, Amount]] = {}
        self._allocatable: dict[int, dict[str, Amount]] = {}

    @cached_property
    def zones(self) -> tuple[Zone, ...]:
        """Return the region's zones that the class has subnets in; all of them where that is not known."""
        known, mine = self.catalogue.regions.get(self.region or "", ()), self.node_class.zones
        return known if mine is None else tuple(zone for zone in known if zone.name in mine)

    @cached_property
    def zone_masks(self) -> dict[Zone, Mask]:
        """Return the types that each zone offers."""
        bits = {
            zone: 1 << place for place, zone in enumerate(self.catalogue.regions.get(self.region or "", ()))
        }
        return {
            zone: build_mask(self._offered, [bool(value & bits[zone]) for value in self._zone_bits])
            for zone in self.zones
        }  # fmt: skip

    @cached_property
    def price_list(self) -> Prices:
        """Return the prices that Karpenter starts from here: the region's own, or those of us-east-1."""
        found = self.catalogue.prices(self.region or FALLBACK_REGION) or self.catalogue.prices(
            FALLBACK_REGION
        )
        return found or Prices("", "USD", "", (None,) * len(self.catalogue.names))

    @cached_property
    def priced(self) -> Mask:
        """Return the types with a price; without one there is no on-demand or spot offering."""
        listed = enumerate(self.price_list.amounts)
        found = sum(1 << place for place, price in listed if price is not None)
        return found | sum(1 << place for place in self.overlaid.prices if not found >> place & 1)

    @cached_property
    def of_class(self) -> Mask:
        """Return the types that the class can be used with."""
        suspects = (
            self.masks.all if has_type_filters(self.node_class) else self.masks.having("family", _is_a1)
        )
        return self.masks.all & ~sum(
            1 << place
            for place in positions(suspects)
            if find_class_conflict(self.kind(place), self.node_class)
        )

    @cached_property
    def launchable_by_type(self) -> dict[str, Mask]:
        """Return the types that EC2 launches in each capacity type."""
        return {
            name: self.masks.taken(build_requirement(labels.CAPACITY_TYPE, "In", (name,)))
            for name in CAPACITY_TYPES
        }

    def changed(self, overlaid: OverlaidTypes) -> "Market":
        """Return the same with what NodeOverlays change."""
        other = Market(self.masks, self.node_class, self.region)
        other.overlaid = overlaid
        return other

    def knows(self, key: str) -> bool:
        """Return whether types have a label of this key, or say that they lack it."""
        own = (labels.OS, labels.WINDOWS_BUILD, *_PLACES, *RESERVATION_LABELS)
        return self.masks.knows(key) or key in own

    def taken(self, requirement: Requirement) -> Mask:
        """Return the types that a requirement takes; a label that no type has keeps none out."""
        key = requirement.key
        if self.masks.knows(key):
            return self.masks.taken(requirement)
        if key in _PLACES:
            return self._in_place(requirement) if self.judged else self.masks.all
        if key == labels.OS:
            return self._running(requirement)
        if key == labels.WINDOWS_BUILD:
            build = self.node_class.family.windows_build
            return self._all_if(requirement.matches((build,) if build else ()))
        return self._all_if(key not in RESERVATION_LABELS or requirement.matches(()))

    def values(self, key: str, position: int) -> MaskValues:
        """Return the values that a type may have for a label, as `minValues` counts them."""
        if self.masks.knows(key):
            return self.masks.values(key, position)
        here = [zone for zone, mask in self.zone_masks.items() if mask >> position & 1]
        if key == labels.ZONE:
            return tuple(zone.name for zone in here)
        if key == labels.ZONE_ID:
            return tuple(zone.id for zone in here)
        if key == labels.REGION:
            return (self.region,) if self.region else ()
        if key == labels.OS:
            return self._systems(self.kind(position).arch)
        build = self.node_class.family.windows_build
        return (build,) if key == labels.WINDOWS_BUILD and build else ()

    def kind(self, position: int) -> InstanceType:
        """Return a type as a record."""
        found = self._kinds.get(position)
        if found is None:
            found = self._kinds[position] = read_instance_type(self.catalogue, position)
        return found

    def price(self, position: int) -> float | None:
        """Return what a type costs by the hour, on demand."""
        return self.overlaid.prices.get(position, self.price_list.amounts[position])

    def capacity(self, position: int) -> dict[str, Amount]:
        """Return what Karpenter expects a node of a type to have."""
        found = self._capacity.get(position)
        if found is None:
            made = calculate_capacity(self.kind(position), self.node_class)
            found = self._capacity[position] = {**made, **self.overlaid.capacity.get(position, {})}
        return found

    def allocatable(self, position: int) -> dict[str, Amount]:
        """Return what pods may use of it."""
        found = self._allocatable.get(position)
        if found is None:
            kept = calculate_overhead(self.kind(position), self.node_class)
            found = self._allocatable[position] = calculate_allocatable(self.capacity(position), kept)
        return found

    @property
    def _zone_bits(self) -> list[int]:
        return [value if isinstance(value, int) else 0 for value in self._offered.values]

    def _all_if(self, taken: bool) -> Mask:
        return self.masks.all if taken else 0

    def _in_place(self, requirement: Requirement) -> Mask:
        if requirement.key == labels.REGION:
            return self._all_if(requirement.matches((self.region or "",)))
        taken = nowhere = 0
        for zone, mask in self.zone_masks.items():
            nowhere |= mask
            if requirement.has(zone.id if requirement.key == labels.ZONE_ID else zone.name):
                taken |= mask
        # A type that no zone has lacks a zone, and has no label for the zone's ID at all.
        lacks = requirement.key == labels.ZONE_ID or requirement.matches(())
        return taken | (self.masks.all & ~nowhere if lacks else 0)

    def _running(self, requirement: Requirement) -> Mask:
        return self.masks.having("arch", lambda arch: requirement.matches(self._systems(arch)))

    def _systems(self, arch: str) -> MaskValues:
        if not self.node_class.family.windows_build:
            return ("linux",)
        return ("windows",) if arch == "amd64" else ()


def _is_a1(family: object) -> bool:
    return family == "a1"
