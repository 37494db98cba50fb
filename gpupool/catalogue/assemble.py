"""Assembly of a catalogue from facts by type, and zones and prices by region."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpupool.catalogue.model import Catalogue, CatalogueSource, Column, Prices, TypeLimits, Value, Zone

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_BYTE = 256


class RegionOffers(NamedTuple):
    """A region's zones, and the names of those that offer each type."""

    zones: tuple[Zone, ...]
    offers: Mapping[str, Iterable[str]]


class PriceList(NamedTuple):
    """A region's prices, by type."""

    region: str
    currency: str
    date: str
    amounts: Mapping[str, float]


class CatalogueOrigin(NamedTuple):
    """The origin of a catalogue's facts."""

    karpenter: str
    date: str
    sources: tuple[CatalogueSource, ...]


def assemble_catalogue(
    types: Mapping[str, Mapping[str, Value]],
    regions: Mapping[str, RegionOffers],
    prices: Iterable[PriceList],
    unlisted: Mapping[str, TypeLimits],
    origin: CatalogueOrigin,
) -> Catalogue:
    """Build a catalogue; every type has a value for the same columns."""
    names = tuple(sorted(types))
    sorted_regions = dict(sorted(regions.items()))
    columns = next(iter(types.values())) if types else {}
    return Catalogue(
        names=names,
        columns={column: build_column([types[name][column] for name in names]) for column in columns},
        regions={name: region.zones for name, region in sorted_regions.items()},
        offers=build_column(
            [tuple(_build_mask(region, name) for region in sorted_regions.values()) for name in names]
        ),
        price_lists=tuple(
            Prices(
                price_list.region,
                price_list.currency,
                price_list.date,
                tuple(price_list.amounts.get(name) for name in names),
            )
            for price_list in sorted(prices)
        ),
        unlisted={name: limits for name, limits in sorted(unlisted.items()) if name not in types},
        karpenter=origin.karpenter,
        date=origin.date,
        sources=origin.sources,
    )


def build_column(values: Iterable[Value]) -> Column:
    """Build a column from the values of all types; distinct values keep their order of appearance."""
    positions: dict[tuple[type, Value], int] = {}
    index = [positions.setdefault((type(value), value), len(positions)) for value in values]
    distinct = tuple(value for _, value in positions)
    return Column(distinct, bytes(index) if len(distinct) <= _BYTE else tuple(index))


def _build_mask(region: RegionOffers, name: str) -> int:
    offering = frozenset(region.offers.get(name, ()))
    return sum(1 << bit for bit, zone in enumerate(region.zones) if zone.name in offering)
