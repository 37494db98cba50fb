"""What is known of EC2's instance types, a column for each fact, as Karpenter reads it from EC2."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, Union

if TYPE_CHECKING:
    from collections.abc import Mapping

Value: TypeAlias = Union[str, int, float, bool, tuple["Value", ...], None]  # noqa: UP007 - a name in it is quoted

FALLBACK_REGION = "us-east-1"
"""Whose prices Karpenter starts from in a region that it has no price table for."""


class Column(NamedTuple):
    """One fact about every type: its distinct values, and which of them each type has."""

    values: tuple[Value, ...]
    index: bytes | tuple[int, ...]  # type: ignore[assignment] # nobody looks for a value as in a tuple
    """For each type, in the order of the names, the position in `values`; bytes where 256 values suffice."""

    def at(self, position: int) -> Value:
        """Return the value of the type at `position`."""
        return self.values[self.index[position]]


class Zone(NamedTuple):
    """An availability zone; its name differs between accounts, its ID does not."""

    name: str
    id: str


class Prices(NamedTuple):
    """What one region's types cost by the hour, on demand, with Linux; metal types on dedicated hardware."""

    region: str
    currency: str
    date: str
    """The day that the price list is of, as in 2026-07-06."""

    amounts: tuple[float | None, ...]
    """For each type, in the order of the names; None where the list has no price."""


class CatalogueSource(NamedTuple):
    """Where a part of the catalogue comes from."""

    name: str
    version: str
    date: str
    """The day that its facts are of."""

    gives: str


class TypeLimits(NamedTuple):
    """What Karpenter's own tables say of a type; EC2 is not asked for it."""

    bandwidth: int | None
    """Mbit/s; None where the table lacks the type."""

    branch_interfaces: int
    """Interfaces for pods with security groups of their own; 0 where the type can't have them."""

    windows_ipv4: int | None


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The instance types that Karpenter considers, retired ones included, and where each is offered.

    Columns: `family`, `size`, `category`, `generation`, `flex`, `arch`, `vcpus`, `memory` (MiB, as EC2 says),
    `cpu_manufacturer`, `clock_mhz`, `hypervisor`, `bare_metal`, `encryption_in_transit`, `ebs_bandwidth` and
    `network_bandwidth` (Mbit/s), `local_nvme` and `storage` (GB), `gpus`, `inference`, `neuron`,
    `other_accelerators`, `capacity_types`, `efa`, `cards`, `default_card`, `ipv4_per_interface`, `ena`,
    `nested_virtualization`, `placement`, `pod_eni`, `windows_ipv4`, `retired`. `gpupool.catalogue.describe`
    says what each holds. None stands for a label that Karpenter does not give.
    """

    names: tuple[str, ...]
    """The types, sorted."""

    columns: Mapping[str, Column]
    regions: Mapping[str, tuple[Zone, ...]]
    """The zones of each region whose offers are known."""

    offers: Column
    """For each type one bit mask of zones per region, in the order of `regions`."""

    price_lists: tuple[Prices, ...]
    unlisted: Mapping[str, TypeLimits]
    """What Karpenter's tables say of types that are not in `names`."""

    karpenter: str
    """The Karpenter release whose tables and reading of EC2's answers these are."""

    date: str
    """The day that EC2's answers are of."""

    sources: tuple[CatalogueSource, ...]
    _positions: dict[str, int] = field(default_factory=dict, init=False, compare=False, repr=False)

    def __hash__(self) -> int:
        """Let what is reckoned from a catalogue be kept beside it."""
        return hash((self.karpenter, self.date, self.names))

    def position(self, name: str) -> int | None:
        """Return where a type stands in `names`."""
        if not self._positions:
            self._positions.update((each, place) for place, each in enumerate(self.names))
        return self._positions.get(name)

    def offered(self, region: str) -> Column | None:
        """Return the zones of each type as a bit mask over `regions[region]`; None for an unknown region."""
        if region not in self.regions:
            return None
        place = list(self.regions).index(region)
        return Column(tuple(masks[place] for masks in self._masks()), self.offers.index)

    def prices(self, region: str) -> Prices | None:
        """Return a region's own prices, or None; Karpenter then starts from those of us-east-1."""
        return next((prices for prices in self.price_lists if prices.region == region), None)

    def _masks(self) -> tuple[tuple[Value, ...], ...]:
        return tuple(masks for masks in self.offers.values if isinstance(masks, tuple))
