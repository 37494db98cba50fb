"""NodeOverlays: what they make Karpenter believe of types, as time-slicing needs it for GPUs.

Source: pkg/controllers/nodeoverlay of Karpenter v1.14.1; the gate NodeOverlay has to be on.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from gpupool.karpenter import labels
from gpupool.karpenter.quantities import Amount, amount
from gpupool.karpenter.requirements import Requirement, Requirements, combined, from_labels
from gpupool.scheduling.market import Market
from gpupool.scheduling.matching import capacity_types, sum_of, written_requirements
from gpupool.scheduling.typemasks import Mask, positions
from gpupool.yamlio.nodes import Plain

_OF_AN_OFFERING: Final = (labels.CAPACITY_TYPE, labels.ZONE, labels.ZONE_ID)


class Overlay(NamedTuple):
    """One NodeOverlay."""

    name: str
    weight: int
    wanted: Requirements
    capacity: Mapping[str, Amount]
    price: str
    """A price, or a change with its sign, as `+10%`; empty where it changes none."""


def read_overlay(body: Mapping[str, Plain]) -> Overlay:
    """Read a NodeOverlay that Karpenter would take."""
    spec, metadata = _map(body.get("spec")), _map(body.get("metadata"))
    weight = spec.get("weight")
    price = spec.get("price") if spec.get("price") is not None else spec.get("priceAdjustment")
    return Overlay(
        name=str(metadata.get("name", "")),
        weight=weight if isinstance(weight, int) else 0,
        wanted=combined(written_requirements(spec.get("requirements"))),
        capacity={name: amount(str(said)) for name, said in _map(spec.get("capacity")).items()},
        price="" if price is None else str(price),
    )


def overlaid(market: Market, overlays: Iterable[Overlay], pool: Mapping[str, Plain]) -> Market:
    """Give the market as a NodePool sees it under overlays; the heaviest has the say, then the last by name.

    An overlay that contradicts another one of its weight counts for nothing, as Karpenter rejects it.
    Prices for some zones or capacity types only are left out.
    """
    own = _own_labels(pool)
    extra: dict[int, dict[str, Amount]] = {}
    prices: dict[int, float] = {}
    set_by: dict[tuple[int, str], int] = {}
    for each in sorted(overlays, key=lambda each: (each.weight, each.name), reverse=True):
        types = list(positions(_reached(market, each.wanted, own)))
        if any(set_by.get((place, name)) == each.weight for place in types for name in each.capacity):
            continue
        for place in types:
            for name, room in each.capacity.items():
                extra.setdefault(place, {}).setdefault(name, room)
                set_by[place, name] = each.weight
            if (price := _price(market, each, place)) is not None:
                prices.setdefault(place, price)
    return market.changed(extra, prices) if extra or prices else market


def _own_labels(pool: Mapping[str, Plain]) -> Requirements:
    """Give what nodes of the pool have beside what their type brings."""
    template = _map(_map(pool.get("spec")).get("template"))
    said = _map(_map(template.get("metadata")).get("labels"))
    name = str(_map(pool.get("metadata")).get("name", ""))
    return combined(from_labels({**{key: str(value) for key, value in said.items()}, labels.NODEPOOL: name}))


def _reached(market: Market, wanted: Requirements, own: Requirements) -> Mask:
    types = market.masks.all
    for key, each in wanted.items():
        if market.knows(key):
            types &= market.taken(each)
        elif not _suits(own.get(key), each):
            return 0
    return types & sum_of(market.launchable_by_type[name] for name in capacity_types(wanted))


def _suits(mine: Requirement | None, wanted: Requirement) -> bool:
    return wanted.takes(()) if mine is None else mine.has_intersection(wanted)


def _price(market: Market, overlay: Overlay, place: int) -> float | None:
    """Give what a type costs under an overlay; one without a price gets it from a list of types only."""
    wanted = overlay.wanted
    if not overlay.price or any(key in wanted for key in _OF_AN_OFFERING):
        return None
    listed = market.price(place)
    sign = overlay.price[0]
    if sign not in "+-":
        plain = [*wanted] == [labels.INSTANCE_TYPE] and wanted[labels.INSTANCE_TYPE].operator == "In"
        return float(overlay.price) if listed is not None or plain else None
    if listed is None:
        return None
    if overlay.price.endswith("%"):
        changed = listed * (1 + float(overlay.price[:-1]) / 100)
    else:
        changed = listed + float(overlay.price)
    return max(changed, 0.0)


def _map(value: Plain) -> Mapping[str, Plain]:
    return value if isinstance(value, dict) else {}
