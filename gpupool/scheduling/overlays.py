"""NodeOverlays: adjusted prices and capacities of instance types, for example for GPU time-slicing.

Source: pkg/controllers/nodeoverlay of Karpenter v1.14.1, and GetOverlayPrice of its AWS provider; the gate
NodeOverlay must be on.
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
"""A capacity type in a zone; None means all zones, where these are not known."""


class Overlay(NamedTuple):
    """One NodeOverlay."""

    name: str
    weight: int
    requirements: Requirements
    capacity: Mapping[str, Amount]
    price: str
    """A price, or a change with its sign such as `+10%`; empty if the overlay changes no price."""

    listed_types: tuple[str, ...] = ()
    """The types, if they are its only requirement and it sets a price: they need no price of their own."""


def read_overlay(body: Mapping[str, Plain]) -> Overlay:
    """Read a NodeOverlay that Karpenter would accept."""
    spec, metadata = plain_map(body.get("spec")), plain_map(body.get("metadata"))
    weight, price = spec.get("weight"), spec.get("price")
    change = spec.get("priceAdjustment") if price is None else price
    return Overlay(
        name=str(metadata.get("name", "")),
        weight=weight if isinstance(weight, int) else 0,
        requirements=combine_requirements(read_requirements(spec.get("requirements"))),
        capacity={
            name: parse_amount(str(quantity)) for name, quantity in plain_map(spec.get("capacity")).items()
        },
        price="" if change is None else str(change),
        listed_types=() if price is None else _read_listed_types(spec.get("requirements")),
    )


def apply_overlays(
    markets: Sequence[tuple[Market, Mapping[str, Plain]]], overlays: Iterable[Overlay]
) -> list[Market]:
    """Return the markets as their NodePools see them with overlays applied.

    The overlay with the highest weight applies, then the last by name. An overlay that conflicts with
    another of the same weight, for any pool, is ignored for all pools.
    """
    views = [_View(market, pool) for market, pool in markets]
    applied, ignored = [], []
    for overlay in sorted(overlays, key=lambda overlay: (overlay.weight, overlay.name), reverse=True):
        types_by_view = [view.find_types(overlay) for view in views]
        if any(view.has_conflict(overlay, types) for view, types in zip(views, types_by_view, strict=True)):
            ignored.append(overlay.name)
            continue
        applied.append(overlay)
        for view, types in zip(views, types_by_view, strict=True):
            view.apply(overlay, types)
    return [
        view.build_market(applied, tuple(sorted(ignored))) if applied or ignored else view.market
        for view in views
    ]


class _View:
    """One NodePool's view of the types while overlays are applied, from the highest weight down."""

    def __init__(self, market: Market, pool: Mapping[str, Plain]) -> None:
        self.market = market
        zones = market.catalogue.regions.get(market.region or "", ()) if market.is_judged else (None,)
        self._offers: list[_Offer] = [
            (capacity_type, zone) for capacity_type in CAPACITY_TYPES for zone in zones
        ]
        self._own = _read_own_labels(pool)
        self._extra: dict[int, dict[str, Amount]] = {}
        self._last_with_capacity: dict[int, Overlay] = {}
        """The last overlay that sets capacity of a type."""

        self._priced: dict[_Offer, list[tuple[Overlay, Mask]]] = {offer: [] for offer in self._offers}
        """For each offer, the overlays that match it, each with the types whose price it sets."""

        self._types_by_weight: dict[tuple[_Offer, int], Mask] = {}
        """The types whose price at an offer is set by an overlay of a weight."""

    def find_types(self, overlay: Overlay) -> dict[_Offer, Mask]:
        """Find the types that an overlay matches, by offer."""
        types = self._find_matching_types(overlay.requirements)
        return {
            (capacity_type, zone): types & self.market.launchable_by_type[capacity_type]
            for capacity_type, zone in self._offers
            if types and self._is_for_offer(overlay.requirements, capacity_type, zone)
        }

    def has_conflict(self, overlay: Overlay, types_by_offer: Mapping[_Offer, Mask]) -> bool:
        """Return whether an overlay changes the same as an earlier one of its weight."""
        if overlay.price and any(
            types & self._types_by_weight.get((offer, overlay.weight), 0)
            for offer, types in types_by_offer.items()
        ):
            return True
        # Karpenter compares only with the last overlay that sets capacity.
        last = (
            self._last_with_capacity.get(position)
            for position in positions(unite_masks(types_by_offer.values()))
        )
        return any(
            last_overlay is not None
            and last_overlay.weight == overlay.weight
            and last_overlay.capacity.keys() & overlay.capacity.keys()
            for last_overlay in last
        )

    def apply(self, overlay: Overlay, types_by_offer: Mapping[_Offer, Mask]) -> None:
        """Apply an overlay after those of higher precedence."""
        if overlay.price:
            for offer, types in types_by_offer.items():
                already_priced = unite_masks(mask for _, mask in self._priced[offer])
                self._priced[offer].append((overlay, types & ~already_priced))
                key = offer, overlay.weight
                self._types_by_weight[key] = self._types_by_weight.get(key, 0) | types
        if overlay.capacity:
            for position in positions(unite_masks(types_by_offer.values())):
                self._extra[position] = {**overlay.capacity, **self._extra.get(position, {})}
                self._last_with_capacity[position] = overlay

    def build_market(self, applied: Sequence[Overlay], ignored: tuple[str, ...]) -> Market:
        """Build the market with all applied overlays."""
        listed = self._read_listed_prices(applied)
        prices, differing, partly = dict(listed), 0, {}
        for overlay in applied:
            on_demand, counted, everywhere, anywhere = self._find_priced_types(overlay)
            differing |= on_demand & ~counted
            for position in positions(counted):
                self._set_common_price(prices, position, {self._calculate_price(listed, position, overlay)})
            if anywhere & ~everywhere:
                partly[overlay.name] = anywhere & ~everywhere
        for position in positions(differing):
            self._set_common_price(prices, position, set(self._list_zone_prices(listed, position)))
        return self.market.with_overlays(OverlaidTypes(self._extra, prices, partly, ignored))

    @staticmethod
    def _set_common_price(prices: dict[int, float], position: int, zone_prices: set[float | None]) -> None:
        """Set the price of a type if it is the same in all zones."""
        price = zone_prices.pop() if len(zone_prices) == 1 else None
        if price is not None:
            prices[position] = price

    def _calculate_price(
        self, listed: Mapping[int, float], position: int, overlay: Overlay | None
    ) -> float | None:
        base = listed.get(position, self.market.price(position))
        return base if base is None or overlay is None else adjust_price(base, overlay.price)

    def _list_zone_prices(self, listed: Mapping[int, float], position: int) -> Iterator[float | None]:
        for offer in self._offers:
            if offer[0] == _ON_DEMAND and self._find_available_types(offer) >> position & 1:
                overlays = (overlay for overlay, mask in self._priced[offer] if mask >> position & 1)
                yield self._calculate_price(listed, position, next(overlays, None))

    def _read_listed_prices(self, applied: Sequence[Overlay]) -> dict[int, float]:
        """Return the prices of types without a price of their own; the last overlay by name applies."""
        prices = {}
        for overlay in sorted(applied, key=lambda overlay: overlay.name):
            for position in map(self.market.catalogue.position, overlay.listed_types):
                if position is not None and self.market.price(position) is None:
                    prices[position] = float(overlay.price)
        return prices

    def _find_priced_types(self, overlay: Overlay) -> tuple[Mask, Mask, Mask, Mask]:
        """Return the types whose price it sets on demand in some or all zones, and at all or some offers."""
        if not overlay.price or (
            not self.market.is_judged and any(key in overlay.requirements for key in _ZONES)
        ):
            return 0, 0, 0, self.market.masks.all if overlay.price else 0
        everywhere_on_demand = everywhere = self.market.masks.all
        on_demand = anywhere = 0
        for offer in self._offers:
            available = self._find_available_types(offer)
            priced = available & unite_masks(mask for entry, mask in self._priced[offer] if entry is overlay)
            anywhere |= priced
            everywhere &= priced | ~available
            if offer[0] == _ON_DEMAND:
                on_demand |= priced
                everywhere_on_demand &= priced | ~available
        return on_demand, on_demand & everywhere_on_demand, everywhere, anywhere

    def _find_available_types(self, offer: _Offer) -> Mask:
        capacity_type, zone = offer
        types = self.market.masks.all if zone is None else self.market.zone_masks.get(zone, 0)
        return types & self.market.launchable_by_type[capacity_type]

    def _find_matching_types(self, requirements: Requirements) -> Mask:
        types = self.market.masks.all
        for key, requirement in requirements.items():
            own_label = self._own.get(key)
            if self.market.has_label(key):
                types &= self._find_by_label(requirement, own_label)
            elif not (
                requirement.matches(()) if own_label is None else own_label.has_intersection(requirement)
            ):
                return 0
        return types

    def _find_by_label(self, requirement: Requirement, own_label: Requirement | None) -> Mask:
        """Find the types that match on a label of theirs, which the pool's own labels may restrict."""
        if own_label is None:
            matching = self.market.find_types(requirement)
            if requirement.key == labels.ZONE_ID and self.market.is_judged and not requirement.matches(()):
                # A type that no zone offers lacks the label, which an overlay, unlike a pod, requires.
                matching &= unite_masks(self.market.zone_masks.values())
            return matching
        labelled = self.market.find_types(own_label)
        unlabelled = self.market.masks.all & ~labelled if requirement.matches(()) else 0
        return unlabelled | (labelled if own_label.has_intersection(requirement) else 0)

    def _is_for_offer(self, requirements: Requirements, capacity_type: str, zone: Zone | None) -> bool:
        values = {labels.CAPACITY_TYPE: capacity_type}
        if zone is not None:
            values[labels.ZONE] = zone.name
            if zone in self.market.zones:
                values[labels.ZONE_ID] = zone.id
        return all(requirements[key].has(value) for key, value in values.items() if key in requirements)


def adjust_price(price: float, change: str) -> float:
    """Return a price adjusted by an overlay, at least zero."""
    if change[0] not in "+-":
        return float(change)
    if change.endswith("%"):
        return max(price * (1 + float(change[:-1]) / 100), 0.0)
    return max(price + float(change), 0.0)


def _read_own_labels(pool: Mapping[str, Plain]) -> Requirements:
    """Read the labels that the pool itself sets on its nodes."""
    template = plain_map(plain_map(pool.get("spec")).get("template"))
    node_labels = plain_map(plain_map(template.get("metadata")).get("labels"))
    name = str(plain_map(pool.get("metadata")).get("name", ""))
    return combine_requirements(
        labels_to_requirements(
            {**{key: str(value) for key, value in node_labels.items()}, labels.NODEPOOL: name}
        )
    )


def _read_listed_types(requirements: Plain) -> tuple[str, ...]:
    entries = [*map(plain_map, requirements)] if isinstance(requirements, list) else []
    return tuple(_read_type_names(entries[0])) if len(entries) == 1 else ()


def _read_type_names(entry: Mapping[str, Plain]) -> Iterator[str]:
    values = entry.get("values")
    if entry.get("key") == labels.INSTANCE_TYPE and entry.get("operator") == "In":
        yield from map(str, values if isinstance(values, list) else ())
