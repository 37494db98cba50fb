"""NodeOverlays: what they make Karpenter believe of types, as time-slicing needs it for GPUs.

Source: pkg/controllers/nodeoverlay of Karpenter v1.14.1, and GetOverlayPrice of its AWS provider; the gate
NodeOverlay has to be on.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from gpupool.catalogue.model import Zone
from gpupool.karpenter import labels
from gpupool.karpenter.quantities import Amount, parse_amount
from gpupool.karpenter.requirements import (
    Requirement,
    Requirements,
    combine_requirements,
    labels_to_requirements,
)
from gpupool.scheduling.matching import read_requirements, unite_masks
from gpupool.scheduling.types.market import CAPACITY_TYPES, Market, OverlaidTypes
from gpupool.scheduling.types.typemasks import Mask, positions
from gpupool.yamlio.located import Plain, plain_map

_ZONES: Final = (labels.ZONE, labels.ZONE_ID)
_ON_DEMAND: Final = CAPACITY_TYPES[0]

_Offer: TypeAlias = tuple[str, Zone | None]
"""A capacity type in a zone; None stands for all zones where they aren't known."""


class Overlay(NamedTuple):
    """One NodeOverlay."""

    name: str
    weight: int
    wanted: Requirements
    capacity: Mapping[str, Amount]
    price: str
    """A price, or a change with its sign, as `+10%`; empty where it changes none."""

    lists: tuple[str, ...] = ()
    """The types, if these are all it asks for and it has a price of its own: they need no other one."""


def read_overlay(body: Mapping[str, Plain]) -> Overlay:
    """Read a NodeOverlay that Karpenter would take."""
    spec, metadata = plain_map(body.get("spec")), plain_map(body.get("metadata"))
    weight, price = spec.get("weight"), spec.get("price")
    change = spec.get("priceAdjustment") if price is None else price
    return Overlay(
        name=str(metadata.get("name", "")),
        weight=weight if isinstance(weight, int) else 0,
        wanted=combine_requirements(read_requirements(spec.get("requirements"))),
        capacity={name: parse_amount(str(said)) for name, said in plain_map(spec.get("capacity")).items()},
        price="" if change is None else str(change),
        lists=() if price is None else _listed(spec.get("requirements")),
    )


def apply_overlays(
    markets: Sequence[tuple[Market, Mapping[str, Plain]]], overlays: Iterable[Overlay]
) -> list[Market]:
    """Return the markets as their NodePools see them under overlays.

    The heaviest overlay has the say, then the last by name. One that contradicts another of its weight,
    for whichever pool, counts for nothing anywhere.
    """
    views = [_View(market, pool) for market, pool in markets]
    taken, refused = [], []
    for each in sorted(overlays, key=lambda each: (each.weight, each.name), reverse=True):
        reached = [view.reached(each) for view in views]
        if any(view.contradicts(each, types) for view, types in zip(views, reached, strict=True)):
            refused.append(each.name)
            continue
        taken.append(each)
        for view, types in zip(views, reached, strict=True):
            view.take(each, types)
    return [
        view.changed(taken, tuple(sorted(refused))) if taken or refused else view.market for view in views
    ]


class _View:
    """What one NodePool sees of the types while overlays are laid over them, the heaviest first."""

    def __init__(self, market: Market, pool: Mapping[str, Plain]) -> None:
        self.market = market
        zones = market.catalogue.regions.get(market.region or "", ()) if market.judged else (None,)
        self._offers: list[_Offer] = [
            (capacity_type, zone) for capacity_type in CAPACITY_TYPES for zone in zones
        ]
        self._own = _own_labels(pool)
        self._extra: dict[int, dict[str, Amount]] = {}
        self._last: dict[int, Overlay] = {}
        """The last overlay with capacity for a type."""

        self._priced: dict[_Offer, list[tuple[Overlay, Mask]]] = {offer: [] for offer in self._offers}
        """For each offer the overlays that reached it, each with the types of which it has the say."""

        self._reached_by: dict[tuple[_Offer, int], Mask] = {}
        """The types whose price at an offer an overlay of a weight has reached."""

    def reached(self, overlay: Overlay) -> dict[_Offer, Mask]:
        """Return the types that an overlay is for, at each offer."""
        types = self._of_type(overlay.wanted)
        return {
            (capacity_type, zone): types & self.market.launchable_by_type[capacity_type]
            for capacity_type, zone in self._offers
            if types and self._is_for(overlay.wanted, capacity_type, zone)
        }

    def contradicts(self, overlay: Overlay, reached: Mapping[_Offer, Mask]) -> bool:
        """Return whether an overlay changes what one of its weight has changed already."""
        if overlay.price and any(
            types & self._reached_by.get((offer, overlay.weight), 0) for offer, types in reached.items()
        ):
            return True
        # Of overlays with capacity Karpenter looks at the last one alone.
        last = (self._last.get(place) for place in positions(unite_masks(reached.values())))
        return any(
            each is not None
            and each.weight == overlay.weight
            and each.capacity.keys() & overlay.capacity.keys()
            for each in last
        )

    def take(self, overlay: Overlay, reached: Mapping[_Offer, Mask]) -> None:
        """Lay an overlay below those that were taken before."""
        if overlay.price:
            for offer, types in reached.items():
                before = unite_masks(mask for _, mask in self._priced[offer])
                self._priced[offer].append((overlay, types & ~before))
                key = offer, overlay.weight
                self._reached_by[key] = self._reached_by.get(key, 0) | types
        if overlay.capacity:
            for place in positions(unite_masks(reached.values())):
                self._extra[place] = {**overlay.capacity, **self._extra.get(place, {})}
                self._last[place] = overlay

    def changed(self, taken: Sequence[Overlay], refused: tuple[str, ...]) -> Market:
        """Return the market with all that was taken."""
        listed = self._listed_prices(taken)
        prices, mixed, partly = dict(listed), 0, {}
        for each in taken:
            on_demand, counted, everywhere, anywhere = self._has_the_say(each)
            mixed |= on_demand & ~counted
            for place in positions(counted):
                self._set(prices, place, {self._price(listed, place, each)})
            if anywhere & ~everywhere:
                partly[each.name] = anywhere & ~everywhere
        for place in positions(mixed):
            self._set(prices, place, set(self._prices_of_zones(listed, place)))
        return self.market.changed(OverlaidTypes(self._extra, prices, partly, refused))

    @staticmethod
    def _set(prices: dict[int, float], place: int, found: set[float | None]) -> None:
        """Set the price of a type if it is the same in all zones."""
        one = found.pop() if len(found) == 1 else None
        if one is not None:
            prices[place] = one

    def _price(self, listed: Mapping[int, float], place: int, overlay: Overlay | None) -> float | None:
        base = listed.get(place, self.market.price(place))
        return base if base is None or overlay is None else adjust_price(base, overlay.price)

    def _prices_of_zones(self, listed: Mapping[int, float], place: int) -> Iterator[float | None]:
        for offer in self._offers:
            if offer[0] == _ON_DEMAND and self._available(offer) >> place & 1:
                sayers = (each for each, mask in self._priced[offer] if mask >> place & 1)
                yield self._price(listed, place, next(sayers, None))

    def _listed_prices(self, taken: Sequence[Overlay]) -> dict[int, float]:
        """Return the prices of types that have none else; the last by name has the say."""
        found = {}
        for each in sorted(taken, key=lambda each: each.name):
            for place in map(self.market.catalogue.position, each.lists):
                if place is not None and self.market.price(place) is None:
                    found[place] = float(each.price)
        return found

    def _has_the_say(self, overlay: Overlay) -> tuple[Mask, Mask, Mask, Mask]:
        """Return the types whose price it says on demand in some zone, in all, at all offers, and at some."""
        if not overlay.price or (not self.market.judged and any(key in overlay.wanted for key in _ZONES)):
            return 0, 0, 0, self.market.masks.all if overlay.price else 0
        everywhere_on_demand = everywhere = self.market.masks.all
        on_demand = anywhere = 0
        for offer in self._offers:
            there = self._available(offer)
            said = there & unite_masks(mask for each, mask in self._priced[offer] if each is overlay)
            anywhere |= said
            everywhere &= said | ~there
            if offer[0] == _ON_DEMAND:
                on_demand |= said
                everywhere_on_demand &= said | ~there
        return on_demand, on_demand & everywhere_on_demand, everywhere, anywhere

    def _available(self, offer: _Offer) -> Mask:
        capacity_type, zone = offer
        there = self.market.masks.all if zone is None else self.market.zone_masks.get(zone, 0)
        return there & self.market.launchable_by_type[capacity_type]

    def _of_type(self, wanted: Requirements) -> Mask:
        types = self.market.masks.all
        for key, each in wanted.items():
            mine = self._own.get(key)
            if self.market.knows(key):
                types &= self._known(each, mine)
            elif not (each.matches(()) if mine is None else mine.has_intersection(each)):
                return 0
        return types

    def _known(self, wanted: Requirement, mine: Requirement | None) -> Mask:
        """Return the types that suit by a label of theirs, of which the pool may leave one value only."""
        if mine is None:
            taken = self.market.taken(wanted)
            if wanted.key == labels.ZONE_ID and self.market.judged and not wanted.matches(()):
                # A type that no zone has lacks the label; unlike a pod, an overlay asks that it is there.
                taken &= unite_masks(self.market.zone_masks.values())
            return taken
        with_it = self.market.taken(mine)
        without = self.market.masks.all & ~with_it if wanted.matches(()) else 0
        return without | (with_it if mine.has_intersection(wanted) else 0)

    def _is_for(self, wanted: Requirements, capacity_type: str, zone: Zone | None) -> bool:
        values = {labels.CAPACITY_TYPE: capacity_type}
        if zone is not None:
            values[labels.ZONE] = zone.name
            if zone in self.market.zones:
                values[labels.ZONE_ID] = zone.id
        return all(wanted[key].has(value) for key, value in values.items() if key in wanted)


def adjust_price(price: float, change: str) -> float:
    """Return a price as an overlay changes it; none is below zero."""
    if change[0] not in "+-":
        return float(change)
    if change.endswith("%"):
        return max(price * (1 + float(change[:-1]) / 100), 0.0)
    return max(price + float(change), 0.0)


def _own_labels(pool: Mapping[str, Plain]) -> Requirements:
    """Return what nodes of the pool have beside what their type brings."""
    template = plain_map(plain_map(pool.get("spec")).get("template"))
    said = plain_map(plain_map(template.get("metadata")).get("labels"))
    name = str(plain_map(pool.get("metadata")).get("name", ""))
    return combine_requirements(
        labels_to_requirements({**{key: str(value) for key, value in said.items()}, labels.NODEPOOL: name})
    )


def _listed(requirements: Plain) -> tuple[str, ...]:
    entries = [*map(plain_map, requirements)] if isinstance(requirements, list) else []
    return tuple(_values(entries[0])) if len(entries) == 1 else ()


def _values(entry: Mapping[str, Plain]) -> Iterator[str]:
    values = entry.get("values")
    if entry.get("key") == labels.INSTANCE_TYPE and entry.get("operator") == "In":
        yield from map(str, values if isinstance(values, list) else ())
