"""What NodeOverlays change, which count for nothing, and what users are told; `tests/server` asks Karpenter itself."""

import pytest

from gpupool.codes import Code
from gpupool.findings import Severity
from gpupool.karpenter import labels
from gpupool.scheduling.explained import explain
from gpupool.scheduling.overlays import apply_overlays, read_overlay
from gpupool.scheduling.traps.find import find_traps
from gpupool.scheduling.types.market import Market
from gpupool.scheduling.types.nodeclass import ScheduledNodeClass
from tests.rig.scheduling import Body
from tests.scheduling.pools import node_pool
from tests.scheduling.worlds import masks

GPU, TYPE = "nvidia.com/gpu", labels.INSTANCE_TYPE


def overlay(name: str, *said: str, **spec: object) -> Body:
    """Return an overlay of conditions as `key In a,b`; without any it is for g5.xlarge."""
    entries = []
    for each in said or (f"{TYPE} In g5.xlarge",):
        key, operator, values = each.split(" ")
        entries.append({"key": key, "operator": operator, "values": values.split(",")})
    return {"metadata": {"name": name}, "spec": {"requirements": entries, **spec}}


def seen(overlays: list[Body], *pools: str, region: str | None = "us-east-1") -> list[Market]:
    """Return what pools of these names, of g5 and g6 machines, see under overlays."""
    plain = Market(masks(), ScheduledNodeClass(), region)
    bodies = [body(name) for name in pools or ("p",)]
    return apply_overlays([(plain, each) for each in bodies], map(read_overlay, overlays))


def body(name: str) -> Body:
    return node_pool(name, [{"key": labels.INSTANCE_FAMILY, "operator": "In", "values": ["g5", "g6"]}])


def place(name: str) -> int:
    found = masks().catalogue.position(name)
    assert found is not None
    return found


def said_of(market: Market) -> list[tuple[Severity, str]]:
    return [
        (each.severity, each.message)
        for each in find_traps(body("p"), explain(body("p"), market))
        if each.code is Code.OVERLAY_NOT_COUNTED
    ]


def test_the_heaviest_has_the_say_of_each_resource() -> None:
    (found,) = seen(
        [overlay("a", weight=5, capacity={GPU: "4"}), overlay("b", capacity={GPU: "9", "example.com/x": "2"})]
    )

    assert found.capacity(place("g5.xlarge"))[GPU] == 4
    assert found.capacity(place("g5.xlarge"))["example.com/x"] == 2
    assert found.capacity(place("g5.2xlarge"))[GPU] == 1
    assert said_of(found) == []


@pytest.mark.parametrize("own", [{"capacity": {GPU: "4"}}, {"price": "1"}], ids=["capacity", "price"])
def test_of_two_of_one_weight_that_contradict_each_other_the_last_by_name_counts(own: Body) -> None:
    (found,) = seen([overlay("a", **own), overlay("b", capacity={GPU: "7"}, priceAdjustment="+1")])

    assert found.capacity(place("g5.xlarge"))[GPU] == 7
    assert found.price(place("g5.xlarge")) == pytest.approx(2.006)
    assert said_of(found) == [
        (
            Severity.WARNING,
            "NodeOverlay `a` is ignored: it conflicts with another one of the same weight",
        )
    ]


def test_a_contradiction_in_one_pool_counts_in_all() -> None:
    mine = f"{labels.NODEPOOL} In p"
    overlays = [overlay("a", capacity={GPU: "4"}), overlay("b", mine, capacity={GPU: "7"})]

    p, other = seen(overlays, "p", "other")
    assert (p.overlaid.ignored, other.overlaid.ignored) == (("a",), ("a",))
    assert other.capacity(place("g5.xlarge"))[GPU] == 1

    (alone,) = seen(overlays, "other")
    assert alone.overlaid.ignored == ()
    assert alone.capacity(place("g5.xlarge"))[GPU] == 4


def test_a_price_for_one_zone_is_left_out_and_said_so() -> None:
    (found,) = seen([overlay("a", f"{TYPE} In g5.xlarge", f"{labels.ZONE} In us-east-1a", price="1")])

    assert found.price(place("g5.xlarge")) == pytest.approx(1.006)
    words = (
        "NodeOverlay `a` sets a price for some zones or capacity types only: it is used for types whose "
        "on-demand price is the same in all zones"
    )
    assert said_of(found) == [(Severity.INFO, words)]


def test_a_price_on_demand_counts_in_all_zones() -> None:
    (found,) = seen([overlay("a", f"{labels.CAPACITY_TYPE} In on-demand", priceAdjustment="-100%")])

    assert found.price(place("g5.xlarge")) == 0


def test_only_a_list_of_types_gives_a_price_to_one_that_has_none() -> None:
    assert seen([])[0].price(place("g7.2xlarge")) is None
    by_family = overlay("a", f"{labels.INSTANCE_FAMILY} In g7", price="2")
    assert seen([by_family])[0].price(place("g7.2xlarge")) is None
    (found,) = seen(
        [
            overlay("b", f"{TYPE} In g7.2xlarge", price="3"),
            {**by_family, "spec": {**by_family["spec"], "weight": 9}},
        ]
    )
    assert found.price(place("g7.2xlarge")) == 2


def test_without_a_region_a_price_for_zones_is_left_out() -> None:
    (found,) = seen(
        [overlay("a", f"{labels.ZONE} In us-east-1a", price="1", capacity={GPU: "3"})], region=None
    )

    assert found.capacity(place("g5.xlarge"))[GPU] == 3
    assert found.price(place("g5.xlarge")) == pytest.approx(1.006)
    assert [*found.overlaid.partly] == ["a"]


def test_a_type_that_no_zone_has_lacks_the_zones_id() -> None:
    """An overlay, unlike a pod, is not for what lacks a label that it asks for; the oracle's set 84 showed it."""
    (found,) = seen(
        [overlay("a", f"{labels.ZONE_ID} In use1-az1,use1-az2,use1-az3,use1-az4,use1-az5,use1-az6", capacity={"example.com/x": "2"})]
    )  # fmt: skip
    (other,) = seen([overlay("a", f"{labels.ZONE_ID} NotIn use1-az9", capacity={"example.com/x": "2"})])

    assert found.capacity(place("g5.xlarge"))["example.com/x"] == 2
    assert "example.com/x" not in found.capacity(place("dl1.24xlarge"))
    assert other.capacity(place("dl1.24xlarge"))["example.com/x"] == 2


def test_a_change_is_one_of_the_type_s_own_price_whatever_a_lighter_overlay_says() -> None:
    (found,) = seen([overlay("a", price="5"), overlay("b", weight=9, priceAdjustment="+1")])

    assert found.price(place("g5.xlarge")) == pytest.approx(1.006 + 1)
