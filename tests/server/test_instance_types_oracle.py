"""Labels, capacity and allocatable of every type under many node classes, beside Karpenter's own code."""

from collections.abc import Iterator
from decimal import Decimal

import pytest

from gpupool.karpenter import labels
from gpupool.karpenter.quantities import Amount
from gpupool.scheduling.types.capacity import calculate_overhead
from gpupool.scheduling.types.classfilter import find_class_conflict
from gpupool.scheduling.types.market import Market
from tests.rig.scheduling import Body, Oracle
from tests.scheduling.classes import CLASSES
from tests.scheduling.worlds import karpenter, market
from tests.tiers import is_thorough

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with Oracle(karpenter()) as running:
        yield running


@pytest.mark.parametrize("name", [*CLASSES] if is_thorough() else [*CLASSES][::2])
def test_every_type_is_what_karpenter_makes_of_it(oracle: Oracle, name: str) -> None:
    ours, theirs = market(CLASSES[name]), oracle.types(CLASSES[name])
    assert tuple(sorted(theirs)) == ours.catalogue.names
    different = {
        each: found
        for place, each in enumerate(ours.catalogue.names)
        if (found := [*_differences(ours, place, theirs[each])])
    }
    assert not different


def _differences(ours: Market, place: int, theirs: Body) -> Iterator[object]:
    kind = ours.kind(place)
    for key, said in theirs["requirements"].items():
        if key == labels.ZONE_ID and not theirs["requirements"][labels.ZONE]["values"]:
            yield (key, said)
        if sorted(ours.values(key, place)) != said["values"]:
            yield key, ours.values(key, place), said["values"]
    kept = calculate_overhead(kind, ours.node_class)
    for part, found in {
        "capacity": ours.capacity(place),
        "allocatable": ours.allocatable(place),
        "kubeReserved": kept.kube_reserved,
        "systemReserved": kept.system_reserved,
        "evictionThreshold": kept.eviction,
    }.items():
        if exact(theirs[part]) != found:
            yield part, found, theirs[part]
    if theirs["compatible"] != (find_class_conflict(kind, ours.node_class) == ""):
        yield "compatible", find_class_conflict(kind, ours.node_class)
    yield from _other_offerings(ours, place, theirs["offerings"])


def _other_offerings(ours: Market, place: int, theirs: list[Body]) -> Iterator[object]:
    bit = 1 << place
    available = bool(ours.types_of_class & ours.priced & bit)
    found = {
        (kind, zone.name, zone.id)
        for zone, offered in ours.zone_masks.items()
        for kind, launched in ours.launchable_by_type.items()
        if offered & launched & bit and available
    }
    if found != {
        (each["capacityType"], each["zone"], each["zoneID"]) for each in theirs if each["available"]
    }:
        yield "offerings", found
    for each in theirs:
        if each["available"] and each["price"] != ours.price(place):
            yield "price", ours.price(place), each


def exact(amounts: dict[str, str]) -> dict[str, Amount]:
    return {name: Decimal(text) for name, text in amounts.items()}
