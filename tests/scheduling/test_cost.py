"""The cost ceiling, beside every mix of nodes that the limits admit."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from gpupool.scheduling import packing
from gpupool.scheduling.cost import CostCeiling, calculate_ceiling
from gpupool.scheduling.explained import explain
from gpupool.scheduling.limits import NODES, find_types_in_limits
from tests.scheduling.classes import CLASSES
from tests.scheduling.pools import node_pool
from tests.scheduling.worlds import market
from tests.tiers import volume

if TYPE_CHECKING:
    from gpupool.karpenter.quantities import Amount
    from gpupool.scheduling.types.market import Market
    from gpupool.scheduling.types.typemasks import Mask
    from tests.rig.scheduling import Body

AWS = "karpenter.k8s.aws/"
GPU, NEURON, GAUDI, EFA = (
    "nvidia.com/gpu",
    "aws.amazon.com/neuron",
    "habana.ai/gaudi",
    "vpc.amazonaws.com/efa",
)
LIMITED = (GPU, "cpu", "memory", NODES, NEURON, EFA, "pods", "ephemeral-storage")
ROUNDS = volume(1_200, at_least=200)
MOST_MIXES = 1_000


@pytest.fixture(scope="module", params=[False, True], ids=["real prices", "made-up prices"])
def anywhere(request: pytest.FixtureRequest) -> Market:
    return market(CLASSES["al2023"], all_priced=request.param)


@pytest.fixture(scope="module")
def virginia() -> Market:
    return market(CLASSES["al2023"])


def named(found: Market, *names: str) -> Mask:
    places = [found.catalogue.position(name) for name in names]
    assert None not in places
    return sum(1 << place for place in places if place is not None)


def dearest_mix(found: Market, places: list[int], limits: dict[str, Amount]) -> float | None:
    """Try all mixes of nodes; None where there are too many to try them all."""
    rooms = [{**found.capacity(place), NODES: 1} for place in places]
    tried = 0

    def best(index: int, left: dict[str, Amount]) -> float:
        nonlocal tried
        tried += 1
        if index == len(places) or tried > MOST_MIXES:
            return 0.0
        room, price = rooms[index], found.price(places[index]) or 0.0
        worth, count = 0.0, 0
        while all(amount >= 0 for amount in left.values()):
            worth = max(worth, count * price + best(index + 1, left))
            if tried > MOST_MIXES or not any(room.get(name) for name in left):
                break
            left = {name: amount - room.get(name, 0) for name, amount in left.items()}
            count += 1
        return worth

    found_best = best(0, limits)
    return None if tried > MOST_MIXES else found_best


def exactly(hourly: float) -> tuple[object, ...]:
    """Return a ceiling that some mix costs, but for the last digits."""
    return pytest.approx(hourly), True, ""


def small_case(chance: random.Random, found: Market) -> tuple[list[int], dict[str, Amount]]:
    """Return a few types, and limits that hold about a handful of nodes."""
    accelerated = [
        place
        for place, name in enumerate(found.catalogue.names)
        if name.startswith(("g4", "g5", "g6", "g7", "p4", "p5", "inf", "trn1", "gr6"))
    ]
    priced = [place for place in range(len(found.catalogue.names)) if found.price(place) is not None]
    pool = [place for place in accelerated if place in set(priced)] if chance.random() < 0.7 else priced
    places = sorted(chance.sample(pool, chance.choice((1, 2, 2, 3, 3, 4))))
    limits: dict[str, Amount] = {}
    for name in chance.sample(LIMITED, chance.choice((1, 1, 2, 2, 3, 4))):
        total: Amount = 0
        for place in chance.choices(places, k=chance.choice((1, 1, 2, 3))):
            total += {**found.capacity(place), NODES: 1}.get(name, 0) * chance.choice((1, 1, 2, 3, 5))
        limits[name] = total + chance.choice((0, 0, 1, -1 if total else 0))
    return places, limits


def test_no_mix_is_dearer_and_an_exact_answer_is_one(anywhere: Market) -> None:
    chance = random.Random(20260801)  # noqa: S311 - the same cases each time
    counted = dict.fromkeys(("exact", "at most", "unbounded", "nothing"), 0)
    for number in range(ROUNDS):
        places, limits = small_case(chance, anywhere)
        mask = find_types_in_limits(anywhere, sum(1 << place for place in places), limits)
        places = [place for place in places if mask >> place & 1]
        said = calculate_ceiling(anywhere, mask, limits)
        case = f"case {number}: {[anywhere.catalogue.names[place] for place in places]} within {limits}"
        free = [
            place for place in places
            if not any({**anywhere.capacity(place), NODES: 1}.get(name) for name in limits)
        ]  # fmt: skip
        if free:
            counted["unbounded"] += 1
            most = max(free, key=lambda place: (anywhere.price(place) or 0, place))
            assert said == CostCeiling(None, is_exact=True, unbounded_by=anywhere.catalogue.names[most]), case
            continue
        real = dearest_mix(anywhere, places, limits)
        if real is None:
            continue
        assert said.hourly is not None, case
        if said.is_exact:
            counted["exact" if real else "nothing"] += 1
            assert said.hourly == pytest.approx(real, rel=1e-9), case
        else:
            counted["at most"] += 1
            assert real - 1e-6 <= said.hourly < float("inf"), case
    assert counted["exact"] > ROUNDS * 5 / 12, counted
    assert min(counted.values()) > ROUNDS / 60, counted


def test_the_bound_is_no_less_than_the_exact_answer_and_often_more(
    virginia: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If it were seldom more, the bound would do and the knapsack could go."""
    chance = random.Random(7)  # noqa: S311 - the same cases each time
    cases = [small_case(chance, virginia) for _ in range(volume(1_000, at_least=200))]
    masks = [sum(1 << place for place in places) for places, _ in cases]
    exact = [
        calculate_ceiling(virginia, find_types_in_limits(virginia, mask, limits), limits)
        for mask, (_, limits) in zip(masks, cases, strict=True)
    ]
    monkeypatch.setattr(packing, "MOST_STATES", 0)
    compared = higher = 0
    for mask, (_, limits), known in zip(masks, cases, exact, strict=True):
        bound = calculate_ceiling(virginia, find_types_in_limits(virginia, mask, limits), limits)
        if known.hourly and known.is_exact and bound.hourly is not None:
            compared += 1
            assert not bound.is_exact
            assert bound.hourly >= known.hourly, (limits, known, bound)
            higher += bound.hourly > known.hourly * 1.02
    assert compared > len(cases) * 0.3
    assert higher > compared * 0.05


def g6(limits: dict[str, str]) -> Body:
    said = [
        {"key": f"{AWS}instance-category", "operator": "In", "values": ["g"]},
        {"key": f"{AWS}instance-generation", "operator": "Gt", "values": ["5"]},
        {"key": f"{AWS}instance-gpu-count", "operator": "Lt", "values": ["4"]},
        {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]},
    ]
    return node_pool("g6", said, limits=limits)


def test_cpu_left_over_is_filled_with_machines_of_no_gpu(virginia: Market) -> None:
    pool = g6({"cpu": "100", GPU: "8"})

    found = explain(pool, virginia)

    assert found.match.candidates.bit_count() == 22
    assert found.match.launchable.bit_count() == 18
    assert found.ceiling is not None
    assert found.ceiling.is_exact
    # Eight of g7e.2xlarge cost less: the rest goes to g6f, which counts as no GPU.
    assert f"{found.ceiling.hourly:.2f}" == "30.54"
    alone = calculate_ceiling(virginia, named(virginia, "g7e.2xlarge"), found.pool.limits)
    assert f"{alone.hourly:.2f}" == "26.90"


def test_a_limit_on_gpus_alone_bounds_nothing_where_some_count_none(virginia: Market) -> None:
    found = explain(g6({GPU: "8"}), virginia)

    assert found.ceiling == CostCeiling(None, is_exact=True, unbounded_by="g6f.4xlarge")


def test_whole_machines_alone_are_counted(virginia: Market) -> None:
    p5 = named(virginia, "p5.48xlarge")

    assert calculate_ceiling(virginia, p5, {GPU: 16}) == CostCeiling(2 * 55.04, is_exact=True)
    assert calculate_ceiling(virginia, p5, {GPU: 23}) == CostCeiling(2 * 55.04, is_exact=True)
    assert calculate_ceiling(virginia, p5, {GPU: 7}) == CostCeiling(0.0, is_exact=True)
    assert calculate_ceiling(virginia, p5, {}) == CostCeiling(None, is_exact=True, unbounded_by="p5.48xlarge")
    assert calculate_ceiling(virginia, p5, {"example.com/seats": 1}).unbounded_by == "p5.48xlarge"
    assert calculate_ceiling(virginia, 0, {}) == CostCeiling(0.0, is_exact=True)


def test_nodes_count_as_one_each(virginia: Market) -> None:
    both = named(virginia, "p5.48xlarge", "g6.xlarge")

    assert calculate_ceiling(virginia, both, {NODES: 3}) == exactly(3 * 55.04)
    assert calculate_ceiling(virginia, both, {NODES: 3, GPU: 10}) == exactly(55.04 + 2 * 0.8048)


def test_types_without_a_price_cost_nothing(virginia: Market) -> None:
    p5e = named(virginia, "p5e.48xlarge")

    assert calculate_ceiling(virginia, p5e, {}) == CostCeiling(0.0, is_exact=True)


def test_three_limits_that_bind_give_a_bound(virginia: Market) -> None:
    """Each of the types uses another one of the limits, so that none of these alone bounds the cost."""
    three = named(virginia, "g6.xlarge", "inf2.xlarge", "dl1.24xlarge")

    said = calculate_ceiling(virginia, three, {GPU: 64, NEURON: 64, GAUDI: 8})

    assert not said.is_exact
    assert said.hourly == pytest.approx(64 * 0.8048 + 64 * 0.7582 + 13.10904)


def test_three_limits_of_which_two_bind_are_exact(virginia: Market) -> None:
    both = named(virginia, "p5.48xlarge", "g6.xlarge")

    assert calculate_ceiling(virginia, both, {GPU: 8, "cpu": 192, NODES: 9}).is_exact
    assert calculate_ceiling(virginia, both, {GPU: 9, "cpu": 400, NODES: 3}) == exactly(55.04 + 0.8048)


@pytest.mark.parametrize(("millions", "exact"), [(999_999, True), (1_000_000, False)])
def test_up_to_a_million_states_the_answer_is_exact(virginia: Market, millions: int, exact: bool) -> None:
    """With nodes of two kinds that have no amount but one in common, a limit of n has n + 1 states."""
    both = named(virginia, "g6.xlarge", "g6.12xlarge")

    said = calculate_ceiling(virginia, both, {GPU: millions})

    assert said.is_exact is exact
    dearest = max(price(virginia, "g6.xlarge"), price(virginia, "g6.12xlarge") / 4)
    assert said.hourly == pytest.approx(millions * dearest, rel=1e-5)


def price(found: Market, name: str) -> float:
    place = found.catalogue.position(name)
    assert place is not None
    said = found.price(place)
    assert said is not None
    return said


def test_a_static_pool_has_so_many_nodes(virginia: Market) -> None:
    said = [
        {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["p5.48xlarge", "g6.xlarge"]}
    ]

    static = explain(node_pool("p", said, replicas=4), virginia)

    assert static.ceiling == exactly(4 * 55.04)
    assert explain(node_pool("p", said), virginia).ceiling == CostCeiling(
        None, is_exact=True, unbounded_by="p5.48xlarge"
    )
