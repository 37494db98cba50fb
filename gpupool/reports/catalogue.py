"""The catalogue of instance types as text and JSON: where it comes from, what it knows, and what is new."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, TypeAlias

from gpupool.catalogue.model import FALLBACK_REGION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gpupool.catalogue.answers import RegionAnswers
    from gpupool.catalogue.model import Catalogue
    from gpupool.catalogue.renew import RenewedCatalogue

Json: TypeAlias = "str | int | dict[str, Json] | list[Json] | None"
_WIDTH = 100
_MOST_NAMES = 12


def text(catalogue: Catalogue) -> str:
    """Return the sources, dates and counts of a catalogue for people."""
    return "\n".join(_lines(catalogue)) + "\n"


def plain(catalogue: Catalogue) -> dict[str, Json]:
    """Return the same for programs."""
    return {
        "date": catalogue.date,
        "karpenter": catalogue.karpenter,
        "instanceTypes": len(catalogue.names),
        "retired": dict(_retired(catalogue)),
        "regions": {region: [zone.id for zone in zones] for region, zones in catalogue.regions.items()},
        "prices": [
            {
                "region": prices.region,
                "currency": prices.currency,
                "date": prices.date,
                "instanceTypes": sum(amount is not None for amount in prices.amounts),
            }
            for prices in catalogue.price_lists
        ],
        "sources": [
            {"name": each.name, "version": each.version or None, "date": each.date, "gives": each.contents}
            for each in catalogue.sources
        ],
    }


def brought(answers: Sequence[RegionAnswers], found: RenewedCatalogue, target: str) -> str:
    """Return what asking an account brought, and where it is kept."""
    lines = [line for each in answers for line in _answered(each, found)]
    lines += [*_named("new", found.new), *_named("changed", found.changed)]
    return "\n".join([*lines, f"wrote {target}"]) + "\n"


def _lines(catalogue: Catalogue) -> Iterator[str]:
    retired = list(_retired(catalogue))
    zones = sum(map(len, catalogue.regions.values()))
    yield f"{len(catalogue.names):,} instance types as of {catalogue.date}, {len(retired)} of them retired,"
    yield f"read as Karpenter {catalogue.karpenter} reads them; offerings in {zones} zones of these regions:"
    yield from _wrapped(catalogue.regions)
    yield ""
    yield "On-demand prices by the hour, Linux:"
    for prices in catalogue.price_lists:
        known = sum(amount is not None for amount in prices.amounts)
        yield f"  {prices.region:<16}{prices.date:<12}{known:>5,} types in {prices.currency}"
    yield f"  Other regions use those of {FALLBACK_REGION}, as in Karpenter. Spot prices are not known."
    yield ""
    yield "Retired, by the month since which EC2 no longer lists them:"
    for month in sorted({since for _, since in retired}):
        yield f"  {month}"
        yield from _wrapped((name for name, since in retired if since == month), "    ")
    yield ""
    yield "Sources:"
    for source in catalogue.sources:
        yield f"  {f'{source.name} {source.version}'.strip():<32}{source.date:<12}{source.contents}"


def _retired(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    column = catalogue.columns["retired"]
    for place, name in enumerate(catalogue.names):
        since = column.at(place)
        if isinstance(since, str):
            yield name, since


def _answered(each: RegionAnswers, found: RenewedCatalogue) -> Iterator[str]:
    yield f"{each.region}: {_counted(len(each.offers), 'instance type')} in {len(each.zones)} zones"
    if each.prices is None:
        prices = found.catalogue.prices(each.region) or found.catalogue.prices(FALLBACK_REGION)
        kept = f"; using those of {prices.region}, {prices.date}" if prices else ""
        yield f"{each.region}: no prices: {each.price_error}{kept}"
        return
    yield f"{each.region}: {_counted(len(each.prices), 'price')}"
    kept = f"{each.region}: types not in the price list, with an earlier price or that of {FALLBACK_REGION}"
    yield from _named(kept, found.borrowed[each.region])


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def _named(what: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        shown = ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")
        yield f"{what}: {len(names)} ({shown})"


def _wrapped(words: Iterable[str], indent: str = "  ") -> list[str]:
    return textwrap.wrap(
        ", ".join(words), _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
