"""Lay what an AWS account answers over a catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpupool.catalogue import price_list
from gpupool.catalogue.assemble import CatalogueOrigin, PriceList, Region, assembled
from gpupool.catalogue.checked import document
from gpupool.catalogue.describe import NO_LIMITS, facts
from gpupool.catalogue.model import FALLBACK_REGION, Catalogue, CatalogueSource, TypeLimits, Value
from gpupool.catalogue.packed import pack, text
from gpupool.errors import AccountError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gpupool.catalogue.answers import Answers

    Types = dict[str, dict[str, Value]]


class Renewed(NamedTuple):
    """A catalogue that an account has been asked about, and what that brought."""

    catalogue: Catalogue
    new: tuple[str, ...]
    """Types that were not there before."""

    changed: tuple[str, ...]
    """Types of which something else is said than before."""

    borrowed: Mapping[str, tuple[str, ...]]
    """By region the types on offer that its price list lacks; they have an older price, or us-east-1's."""


def renewed(base: Catalogue, answers: Sequence[Answers], date: str) -> Renewed:
    """Lay `answers` of the day `date` over `base`.

    A type that they lack stays as it was, since a region's answer says nothing of the others; so do the
    zones and prices of regions that were not asked, and all that is in Karpenter's own tables.
    """
    before, limits = types_of(base), limits_of(base)
    types = dict(before)
    for item in (item for each in answers for item in each.items):
        name = item["InstanceType"]
        types[name] = {**facts(item, limits.get(name, NO_LIMITS)), "retired": None}
    prices = {each.region: each for each in _prices(base, answers, date)}
    catalogue = assembled(
        types,
        {**_regions(base), **{each.region: Region(each.zones, each.offers) for each in answers}},
        prices.values(),
        base.unlisted,
        CatalogueOrigin(base.karpenter, date, _sources(base, answers, date)),
    )
    return Renewed(
        catalogue,
        tuple(sorted(types.keys() - before.keys())),
        tuple(sorted(name for name in before if before[name] != types[name])),
        {each.region: _borrowed(each, prices[each.region]) for each in answers if each.prices is not None},
    )


def contents(catalogue: Catalogue) -> bytes:
    """Return the contents of a catalogue's file, having made sure that gpupool will read them.

    Raises:
        AccountError: where AWS's answers hold something that no catalogue can have.
    """
    try:
        document(text(catalogue).encode())
    except ValueError as problem:
        message = f"can't build a catalogue from AWS's answers: {problem}"
        raise AccountError(message) from None
    return pack(catalogue)


def types_of(catalogue: Catalogue) -> Types:
    """Return the facts of each type."""
    columns = catalogue.columns.items()
    return {
        name: {column: values.at(place) for column, values in columns}
        for place, name in enumerate(catalogue.names)
    }


def limits_of(catalogue: Catalogue) -> dict[str, TypeLimits]:
    """Return what Karpenter's tables say of each type, whether or not EC2's answers have it."""
    read = ("network_bandwidth", "pod_eni", "windows_ipv4")
    bandwidth, branches, windows = (catalogue.columns[column] for column in read)
    listed = {
        name: TypeLimits(
            _whole(bandwidth.at(place)), _whole(branches.at(place)) or 0, _whole(windows.at(place))
        )
        for place, name in enumerate(catalogue.names)
    }
    return {**catalogue.unlisted, **listed}


def _whole(value: Value) -> int | None:
    return value if isinstance(value, int) else None


def _regions(base: Catalogue) -> dict[str, Region]:
    return {name: Region(zones, _offers(base, name)) for name, zones in base.regions.items()}


def _offers(base: Catalogue, region: str) -> dict[str, list[str]]:
    column, zones = base.offered(region), base.regions[region]
    masks = [] if column is None else [_whole(column.at(place)) or 0 for place in range(len(base.names))]
    return {
        name: [zone.name for bit, zone in enumerate(zones) if mask >> bit & 1]
        for name, mask in zip(base.names, masks, strict=True)
    }


def _prices(base: Catalogue, answers: Sequence[Answers], date: str) -> list[PriceList]:
    """Return all price lists; as in Karpenter, a price that a new one lacks is still that of the old one."""
    found = [
        PriceList(each.region, each.currency, each.date, _own(base, each.region)) for each in base.price_lists
    ]
    for each in answers:
        unit = price_list.currency(each.region)
        if each.prices is not None:
            amounts = {**_start(base, each, unit), **each.prices}
            found.append(PriceList(each.region, unit, date, amounts))
    return found


def _start(base: Catalogue, answers: Answers, currency: str) -> dict[str, float]:
    """Return the prices that Karpenter starts from in a region, of the types that it offers."""
    own = base.prices(answers.region)
    start = own or base.prices(FALLBACK_REGION)
    if start is None or start.currency != currency:
        return {}
    return {name: price for name, price in _own(base, start.region).items() if own or name in answers.offers}


def _own(base: Catalogue, region: str) -> dict[str, float]:
    prices = base.prices(region)
    amounts = () if prices is None else zip(base.names, prices.amounts, strict=True)
    return {name: amount for name, amount in amounts if amount is not None}


def _borrowed(answers: Answers, prices: PriceList) -> tuple[str, ...]:
    listed = answers.prices or {}
    return tuple(sorted(name for name in answers.offers if name in prices.amounts and name not in listed))


def _sources(base: Catalogue, answers: Sequence[Answers], date: str) -> tuple[CatalogueSource, ...]:
    """Return the sources of the base that are not replaced, then the new ones."""
    seen = [
        CatalogueSource("EC2", "", date, f"instance types in {each.region}, and their zones")
        for each in answers
    ]
    paid = [
        CatalogueSource("AWS's price list", "", date, price_list.gives(each.region))
        for each in answers
        if each.prices is not None
    ]
    replaced = {source.gives for source in paid}
    return (*(source for source in base.sources if source.gives not in replaced), *seen, *paid)
