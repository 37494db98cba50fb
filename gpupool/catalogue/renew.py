"""Update of a catalogue with the responses of an AWS account."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpupool.catalogue import price_list
from gpupool.catalogue.assemble import CatalogueOrigin, PriceList, RegionOffers, assemble_catalogue
from gpupool.catalogue.checked import read_document
from gpupool.catalogue.describe import NO_LIMITS, read_facts
from gpupool.catalogue.model import FALLBACK_REGION, Catalogue, CatalogueSource, TypeLimits, Value
from gpupool.catalogue.packed import pack, write_document
from gpupool.errors import AccountError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gpupool.catalogue.answers import RegionAnswers

    Types = dict[str, dict[str, Value]]


class RenewedCatalogue(NamedTuple):
    """An updated catalogue, and the changes."""

    catalogue: Catalogue
    new: tuple[str, ...]
    """Types that were not in the base catalogue."""

    changed: tuple[str, ...]
    """Types whose facts changed."""

    borrowed: Mapping[str, tuple[str, ...]]
    """By region, the offered types that its price list lacks; they keep an older price, or us-east-1's."""


def renew_catalogue(base: Catalogue, answers: Sequence[RegionAnswers], date: str) -> RenewedCatalogue:
    """Build a catalogue from `base` with the `answers` of the day `date`.

    A type that they lack is kept, because a region's answer does not cover other regions; so are the
    zones and prices of regions that were not queried, and Karpenter's own tables.
    """
    before, limits = list_facts(base), list_limits(base)
    types = dict(before)
    for item in (item for answer in answers for item in answer.items):
        name = item["InstanceType"]
        types[name] = {**read_facts(item, limits.get(name, NO_LIMITS)), "retired": None}
    prices = {answer.region: answer for answer in _merge_prices(base, answers, date)}
    catalogue = assemble_catalogue(
        types,
        {
            **_list_regions(base),
            **{answer.region: RegionOffers(answer.zones, answer.offers) for answer in answers},
        },
        prices.values(),
        base.unlisted,
        CatalogueOrigin(base.karpenter, date, _merge_sources(base, answers, date)),
    )
    return RenewedCatalogue(
        catalogue,
        tuple(sorted(types.keys() - before.keys())),
        tuple(sorted(name for name in before if before[name] != types[name])),
        {
            answer.region: _find_borrowed(answer, prices[answer.region])
            for answer in answers
            if answer.prices is not None
        },
    )


def pack_checked(catalogue: Catalogue) -> bytes:
    """Build the contents of a catalogue's file, and check that gpupool can read them.

    Raises:
        AccountError: if AWS's responses contain a value that no catalogue can have.
    """
    try:
        read_document(write_document(catalogue).encode())
    except ValueError as problem:
        message = f"can't build a catalogue from AWS's answers: {problem}"
        raise AccountError(message) from None
    return pack(catalogue)


def list_facts(catalogue: Catalogue) -> Types:
    """Return the facts of each type."""
    columns = catalogue.columns.items()
    return {
        name: {column: values.at(position) for column, values in columns}
        for position, name in enumerate(catalogue.names)
    }


def list_limits(catalogue: Catalogue) -> dict[str, TypeLimits]:
    """Return the limits of each type from Karpenter's tables, whether or not EC2 returned it."""
    column_names = ("network_bandwidth", "pod_eni", "windows_ipv4")
    bandwidth, branches, windows = (catalogue.columns[column] for column in column_names)
    listed = {
        name: TypeLimits(
            _to_int(bandwidth.at(position)),
            _to_int(branches.at(position)) or 0,
            _to_int(windows.at(position)),
        )
        for position, name in enumerate(catalogue.names)
    }
    return {**catalogue.unlisted, **listed}


def _to_int(value: Value) -> int | None:
    return value if isinstance(value, int) else None


def _list_regions(base: Catalogue) -> dict[str, RegionOffers]:
    return {name: RegionOffers(zones, _list_offers(base, name)) for name, zones in base.regions.items()}


def _list_offers(base: Catalogue, region: str) -> dict[str, list[str]]:
    column, zones = base.offered(region), base.regions[region]
    masks = (
        [] if column is None else [_to_int(column.at(position)) or 0 for position in range(len(base.names))]
    )
    return {
        name: [zone.name for bit, zone in enumerate(zones) if mask >> bit & 1]
        for name, mask in zip(base.names, masks, strict=True)
    }


def _merge_prices(base: Catalogue, answers: Sequence[RegionAnswers], date: str) -> list[PriceList]:
    """Return all price lists; as in Karpenter, a price that a new list lacks is kept from the old one."""
    price_lists = [
        PriceList(source.region, source.currency, source.date, _list_prices(base, source.region))
        for source in base.price_lists
    ]
    for source in answers:
        unit = price_list.get_currency(source.region)
        if source.prices is not None:
            amounts = {**_list_initial_prices(base, source, unit), **source.prices}
            price_lists.append(PriceList(source.region, unit, date, amounts))
    return price_lists


def _list_initial_prices(base: Catalogue, answers: RegionAnswers, currency: str) -> dict[str, float]:
    """Return Karpenter's initial prices in a region, for the types that it offers."""
    own = base.prices(answers.region)
    start = own or base.prices(FALLBACK_REGION)
    if start is None or start.currency != currency:
        return {}
    return {
        name: price
        for name, price in _list_prices(base, start.region).items()
        if own or name in answers.offers
    }


def _list_prices(base: Catalogue, region: str) -> dict[str, float]:
    prices = base.prices(region)
    amounts = () if prices is None else zip(base.names, prices.amounts, strict=True)
    return {name: amount for name, amount in amounts if amount is not None}


def _find_borrowed(answers: RegionAnswers, prices: PriceList) -> tuple[str, ...]:
    own_prices = answers.prices or {}
    return tuple(sorted(name for name in answers.offers if name in prices.amounts and name not in own_prices))


def _merge_sources(
    base: Catalogue, answers: Sequence[RegionAnswers], date: str
) -> tuple[CatalogueSource, ...]:
    """Return the sources of the base that are not replaced, followed by the new ones."""
    type_sources = [
        CatalogueSource("EC2", "", date, f"instance types in {answer.region}, and their zones")
        for answer in answers
    ]
    price_sources = [
        CatalogueSource("AWS's price list", "", date, price_list.describe_contents(answer.region))
        for answer in answers
        if answer.prices is not None
    ]
    replaced = {source.contents for source in price_sources}
    return (
        *(source for source in base.sources if source.contents not in replaced),
        *type_sources,
        *price_sources,
    )
