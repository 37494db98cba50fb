"""Make a catalogue of facts by type, zones by region and prices by region."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpupool.catalogue.model import Catalogue, CatalogueSource, Column, Prices, TypeLimits, Value, Zone

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_BYTE = 256


class Region(NamedTuple):
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
    """What the facts are of."""

    karpenter: str
    date: str
    sources: tuple[CatalogueSource, ...]


def assembled(
    types: Mapping[str, Mapping[str, Value]],
    regions: Mapping[str, Region],
    prices: Iterable[PriceList],
    unlisted: Mapping[str, TypeLimits],
    origin: CatalogueOrigin,
) -> Catalogue:
    """Make a catalogue; every type has a value for the same columns."""
    names = tuple(sorted(types))
    places = dict(sorted(regions.items()))
    columns = next(iter(types.values())) if types else {}
    return Catalogue(
        names=names,
        columns={column: of_values([types[name][column] for name in names]) for column in columns},
        regions={name: region.zones for name, region in places.items()},
        offers=of_values([tuple(_mask(region, name) for region in places.values()) for name in names]),
        price_lists=tuple(
            Prices(each.region, each.currency, each.date, tuple(each.amounts.get(name) for name in names))
            for each in sorted(prices)
        ),
        unlisted={name: limits for name, limits in sorted(unlisted.items()) if name not in types},
        karpenter=origin.karpenter,
        date=origin.date,
        sources=origin.sources,
    )


def of_values(values: Iterable[Value]) -> Column:
    """Make a column of the values of all types, the distinct ones in the order in which they come."""
    places: dict[tuple[type, Value], int] = {}
    index = [places.setdefault((type(value), value), len(places)) for value in values]
    distinct = tuple(value for _, value in places)
    return Column(distinct, bytes(index) if len(distinct) <= _BYTE else tuple(index))


def _mask(region: Region, name: str) -> int:
    offering = frozenset(region.offers.get(name, ()))
    return sum(1 << bit for bit, zone in enumerate(region.zones) if zone.name in offering)
