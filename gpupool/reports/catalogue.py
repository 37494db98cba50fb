"""Catalogue of instance types as text and JSON: sources, dates, counts, and new types after a refresh."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from gpupool.catalogue.model import FALLBACK_REGION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gpupool.catalogue.answers import RegionAnswers
    from gpupool.catalogue.model import Catalogue
    from gpupool.catalogue.renew import RenewedCatalogue
    from gpupool.yamlio.located import Plain

_WIDTH = 100
_MAX_NAMES = 12


def render_text(catalogue: Catalogue) -> str:
    """Return the sources, dates and counts of a catalogue as text."""
    return "\n".join(_lines(catalogue)) + "\n"


def to_json(catalogue: Catalogue) -> dict[str, Plain]:
    """Return the sources, dates and counts of a catalogue as values of JSON."""
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
            {
                "name": source.name,
                "version": source.version or None,
                "date": source.date,
                "gives": source.contents,
            }
            for source in catalogue.sources
        ],
    }


def render_refresh(answers: Sequence[RegionAnswers], refreshed: RenewedCatalogue, target: str) -> str:
    """Return the new and changed types and the prices of a refreshed catalogue, and where it was written."""
    lines = [line for answer in answers for line in _region_lines(answer, refreshed)]
    lines += [*_name_lines("new", refreshed.new), *_name_lines("changed", refreshed.changed)]
    return "\n".join([*lines, f"wrote {target}"]) + "\n"


def _lines(catalogue: Catalogue) -> Iterator[str]:
    retired = list(_retired(catalogue))
    zones = sum(map(len, catalogue.regions.values()))
    yield f"{len(catalogue.names):,} instance types as of {catalogue.date}, {len(retired)} of them retired,"
    yield f"read as Karpenter {catalogue.karpenter} reads them; offerings in {zones} zones of these regions:"
    yield from _wrap(catalogue.regions)
    yield ""
    yield "On-demand prices by the hour, Linux:"
    for prices in catalogue.price_lists:
        priced = sum(amount is not None for amount in prices.amounts)
        yield f"  {prices.region:<16}{prices.date:<12}{priced:>5,} types in {prices.currency}"
    yield f"  Other regions use those of {FALLBACK_REGION}, as in Karpenter. Spot prices are not known."
    yield ""
    yield "Retired, by the month since which EC2 no longer lists them:"
    for month in sorted({since for _, since in retired}):
        yield f"  {month}"
        yield from _wrap((name for name, since in retired if since == month), "    ")
    yield ""
    yield "Sources:"
    for source in catalogue.sources:
        yield f"  {f'{source.name} {source.version}'.strip():<32}{source.date:<12}{source.contents}"


def _retired(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    column = catalogue.columns["retired"]
    for position, name in enumerate(catalogue.names):
        since = column.at(position)
        if isinstance(since, str):
            yield name, since


def _region_lines(answer: RegionAnswers, refreshed: RenewedCatalogue) -> Iterator[str]:
    yield f"{answer.region}: {_count(len(answer.offers), 'instance type')} in {len(answer.zones)} zones"
    if answer.prices is None:
        prices = refreshed.catalogue.prices(answer.region) or refreshed.catalogue.prices(FALLBACK_REGION)
        kept = f"; using those of {prices.region}, {prices.date}" if prices else ""
        yield f"{answer.region}: no prices: {answer.price_error}{kept}"
        return
    yield f"{answer.region}: {_count(len(answer.prices), 'price')}"
    title = (
        f"{answer.region}: types not in the price list, with an earlier price or that of {FALLBACK_REGION}"
    )
    yield from _name_lines(title, refreshed.borrowed[answer.region])


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _name_lines(title: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        shown = ", ".join(names[:_MAX_NAMES]) + (", …" if len(names) > _MAX_NAMES else "")
        yield f"{title}: {len(names)} ({shown})"


def _wrap(names: Iterable[str], indent: str = "  ") -> list[str]:
    return textwrap.wrap(
        ", ".join(names), _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
