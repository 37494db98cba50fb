"""Data model of the catalogue: instance types, zones and prices, with a column for each fact."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, Union

if TYPE_CHECKING:
    from collections.abc import Mapping

Value: TypeAlias = Union[str, int, float, bool, tuple["Value", ...], None]  # noqa: UP007 - a name in it is quoted

FALLBACK_REGION = "us-east-1"
"""The region whose prices Karpenter uses initially in a region without a price table."""


class Column(NamedTuple):
    """One fact about every type: its distinct values, and which of them each type has."""

    values: tuple[Value, ...]
    index: bytes | tuple[int, ...]  # type: ignore[assignment] # overrides tuple.index, which is not used
    """For each type, in the order of the names, the position in `values`; bytes if 256 values suffice."""

    def at(self, position: int) -> Value:
        """Return the value of the type at `position`."""
        return self.values[self.index[position]]


class Zone(NamedTuple):
    """An availability zone; its name differs between accounts, its ID does not."""

    name: str
    id: str


class Prices(NamedTuple):
    """Hourly on-demand prices in one region, with Linux; for metal types on dedicated hardware."""

    region: str
    currency: str
    date: str
    """The date of the price list, such as 2026-07-06."""

    amounts: tuple[float | None, ...]
    """For each type, in the order of the names; None if the list has no price."""


class CatalogueSource(NamedTuple):
    """The source of a part of the catalogue."""

    name: str
    version: str
    date: str
    """The date of its facts."""

    contents: str
    """What the source provides."""


class TypeLimits(NamedTuple):
    """The limits of a type from Karpenter's own tables, not from EC2."""

    bandwidth: int | None
    """Mbit/s; None if the table lacks the type."""

    branch_interfaces: int
    """Number of interfaces for pods with their own security groups; 0 if unsupported."""

    windows_ipv4: int | None


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The instance types that Karpenter considers, retired ones included, and where each is offered.

    Columns: `family`, `size`, `category`, `generation`, `flex`, `arch`, `vcpus`, `memory` (MiB, as EC2 says),
    `cpu_manufacturer`, `clock_mhz`, `hypervisor`, `bare_metal`, `encryption_in_transit`, `ebs_bandwidth` and
    `network_bandwidth` (Mbit/s), `local_nvme` and `storage` (GB), `gpus`, `inference`, `neuron`,
    `other_accelerators`, `capacity_types`, `efa`, `cards`, `default_card`, `ipv4_per_interface`, `ena`,
    `nested_virtualization`, `placement`, `pod_eni`, `windows_ipv4`, `retired`. `gpupool.catalogue.describe`
    documents each. None means a label that Karpenter does not set.
    """

    names: tuple[str, ...]
    """The types, sorted."""

    columns: Mapping[str, Column]
    regions: Mapping[str, tuple[Zone, ...]]
    """The zones of each region with known offers."""

    offers: Column
    """For each type one bit mask of zones per region, in the order of `regions`."""

    price_lists: tuple[Prices, ...]
    unlisted: Mapping[str, TypeLimits]
    """The limits from Karpenter's tables of types that are not in `names`."""

    karpenter: str
    """The Karpenter release whose tables and interpretation of EC2's responses are used."""

    date: str
    """The date of EC2's responses."""

    sources: tuple[CatalogueSource, ...]
    _positions: dict[str, int] = field(default_factory=dict, init=False, compare=False, repr=False)

    def __hash__(self) -> int:
        """Return a hash, so that results for a catalogue can be cached."""
        return hash((self.karpenter, self.date, self.names))

    def position(self, name: str) -> int | None:
        """Return the position of a type in `names`; None if it is unknown."""
        if not self._positions:
            self._positions.update((type_name, position) for position, type_name in enumerate(self.names))
        return self._positions.get(name)

    def offered(self, region: str) -> Column | None:
        """Return the zones of each type as a bit mask over `regions[region]`; None for an unknown region."""
        if region not in self.regions:
            return None
        region_position = list(self.regions).index(region)
        return Column(tuple(masks[region_position] for masks in self._list_masks()), self.offers.index)

    def prices(self, region: str) -> Prices | None:
        """Return a region's own prices; None if it has none, so that us-east-1's apply initially."""
        return next((prices for prices in self.price_lists if prices.region == region), None)

    def _list_masks(self) -> tuple[tuple[Value, ...], ...]:
        return tuple(masks for masks in self.offers.values if isinstance(masks, tuple))
