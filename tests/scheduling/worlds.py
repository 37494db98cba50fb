"""One world for both sides: Karpenter's own code and gpupool, told of the same types, zones and prices."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from catalogue import sources
from gpupool.catalogue.load import load_shipped
from gpupool.catalogue.model import Catalogue, Prices
from gpupool.scheduling.types.market import Market
from gpupool.scheduling.types.nodeclass import read_node_class
from gpupool.scheduling.types.typemasks import TypeMasks
from tests.rig.scheduling import Body, Karpenter

REGION = "us-east-1"


@cache
def karpenter(region: str = REGION, *, all_priced: bool = False) -> Karpenter:
    """Return what Karpenter is told; with prices of its own, or one for every type."""
    return Karpenter(
        region,
        list(sources.instance_types().values()),
        sources.offerings(region),
        {zone.name: zone.id for zone in sources.zones(region)},
        made_up_prices() if all_priced else None,
    )


@cache
def made_up_prices() -> Mapping[str, float]:
    """Return every type a price of its own, so that the order of price leaves nothing to chance."""
    names = load_shipped().names
    return {name: round(0.01 + (index * 7919 % len(names)) / 100, 2) for index, name in enumerate(names)}


@cache
def catalogue(*, all_priced: bool = False) -> Catalogue:
    """Return the shipped catalogue, or one in which every type has the made-up price."""
    if not all_priced:
        return load_shipped()
    prices = made_up_prices()
    known = load_shipped()
    made_up = Prices(REGION, "USD", "2026-01-01", tuple(prices[name] for name in known.names))
    return replace(known, price_lists=(made_up,))


@cache
def masks(*, all_priced: bool = False) -> TypeMasks:
    return TypeMasks(catalogue(all_priced=all_priced))


def market(node_class: Body, region: str = REGION, *, all_priced: bool = False) -> Market:
    """Return gpupool's view of what a node class may launch."""
    return Market(masks(all_priced=all_priced), read_node_class(node_class), region)
