"""What NodeOverlays make of types, beside Karpenter's own overlay controller, store and provider."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

import pytest

from gpupool.karpenter import labels
from gpupool.scheduling.limits import find_types_in_limits, read_limits
from gpupool.scheduling.matching import find_offered_types, match_types, read_template_requirements
from gpupool.scheduling.overlays import apply_overlays, read_overlay
from gpupool.scheduling.types.market import Market
from gpupool.scheduling.types.typemasks import positions
from tests.rig.scheduling import Body, Oracle
from tests.scheduling.classes import CLASSES
from tests.scheduling.overlays import Overlays, without_price
from tests.scheduling.pools import node_pool
from tests.scheduling.worlds import karpenter, market
from tests.server.test_instance_types_oracle import exact
from tests.tiers import volume

pytestmark = pytest.mark.server

SEED = 20270117
SETS = {"al2023": volume(140, at_least=70), "two zones": volume(80, at_least=40)}
"""How many sets of overlays for each class; all 1,406 types are compared under each set, for each of three pools."""

LIMITED = 6
"""Every so many sets the limits are compared as well, which takes as long again."""


EXPECTED = ("capacity", "price", "priced by an overlay alone", "partly", "refused", "limits")
"""What has to come up in each class, or little is compared."""


class Case(NamedTuple):
    pools: list[Body]
    node_class: Body
    overlays: list[Body]

    def __str__(self) -> str:
        return f"seed {SEED}, class {self.node_class['status']}, overlays {self.overlays}, pools {self.pools}"


def node_class(name: str) -> Body:
    """Return a class with the name that pools refer to; one has subnets in two of six zones."""
    found = {**CLASSES["al2023"], "metadata": {"name": "c"}, "status": {}}
    if name == "two zones":
        zones = {"us-east-1a": "use1-az2", "us-east-1f": "use1-az5"}
        found["status"] = {
            "subnets": [{"id": f"subnet-{at}", "zone": zone, "zoneID": at} for zone, at in zones.items()]
        }
    return found


@cache
def cases(name: str) -> list[Case]:
    chance = Overlays(SEED + [*SETS].index(name))
    return [Case(chance.pools(), node_class(name), chance.some()) for _ in range(SETS[name])]


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with Oracle(karpenter()) as running:
        yield running


def test_there_are_enough_questions() -> None:
    sets = [case for name in SETS for case in cases(name)]
    assert sum(len(each.pools) for each in sets) >= volume(600, at_least=300)


@pytest.mark.parametrize("name", SETS)
def test_types_are_what_karpenter_makes_of_them(oracle: Oracle, name: str) -> None:
    seen: Counter[str] = Counter()
    for number, case in enumerate(cases(name)):
        theirs = oracle.overlaid(case.pools, [case.node_class], case.overlays)
        ours = _ours(case)
        for pool, mine in zip(case.pools, ours, strict=True):
            assert mine.overlaid.ignored == tuple(sorted(theirs.refused)), case
            different = _different(mine, theirs.types[_name(pool)], seen)
            assert different == {}, f"{_name(pool)}: {case}"
            seen["partly"] += bool(mine.overlaid.partly)
        seen["refused"] += bool(theirs.refused)
        if number % LIMITED == 0:
            _same_limits(oracle, case, seen)
    assert [what for what in EXPECTED if not seen[what]] == [], seen


def test_a_shared_gpu_is_taken_by_a_pod(oracle: Oracle) -> None:
    pool = node_pool("p", [{"key": labels.INSTANCE_FAMILY, "operator": "In", "values": ["g5"]}])
    shared = {
        "metadata": {"name": "shared"},
        "spec": {
            "requirements": [{"key": labels.INSTANCE_TYPE, "operator": "In", "values": ["g5.xlarge"]}],
            "capacity": {"nvidia.com/gpu": "10"},
        },
    }
    pod = {
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": "10"}}}]},
    }
    classes = [node_class("al2023")]
    without = oracle.solve([pool], classes, [pod])
    found = oracle.solve([pool], classes, [pod], nodeOverlays=[shared])
    assert without.placements[0].claim is None
    claim = found.placements[0].claim
    assert claim is not None
    assert claim.types == ("g5.xlarge",)
    assert claim.launch is not None
    assert claim.launch.survivors == ("g5.xlarge",)


def _name(pool: Body) -> str:
    return str(pool["metadata"]["name"])


def _ours(case: Case) -> list[Market]:
    plain = market(case.node_class)
    return apply_overlays([(plain, pool) for pool in case.pools], map(read_overlay, case.overlays))


def _different(ours: Market, theirs: Mapping[str, Body], seen: Counter[str]) -> dict[str, object]:
    """Compare the types that either side changes; as they come they are compared in another test."""
    found: dict[str, object] = {}
    offered = _offered(ours)
    places = {ours.catalogue.position(name) or 0 for name in theirs}
    for place in places | {*ours.overlaid.capacity, *ours.overlaid.prices}:
        name = ours.catalogue.names[place]
        if name not in theirs:
            found[name] = "changed", "not changed"
            continue
        said = theirs[name]
        for part, mine in {"capacity": ours.capacity(place), "allocatable": ours.allocatable(place)}.items():
            if exact(said[part]) != mine:
                found[name] = part, mine, said[part]
        on_demand = {each["price"] for each in said["offerings"] if each["capacityType"] == "on-demand"}
        if len(on_demand) == 1 and on_demand != {ours.price(place)}:
            found[name] = "price", ours.price(place), said["offerings"]
        if len({each["price"] for each in said["offerings"]}) > 1 and not ours.overlaid.partly:
            found[name] = "not said to be partial", said["offerings"]
        if bool(said["offerings"]) != bool(offered >> place & 1):
            found[name] = "offered", said["offerings"]
        seen["capacity"] += place in ours.overlaid.capacity
        seen["price"] += place in ours.overlaid.prices
        seen["priced by an overlay alone"] += bool(on_demand) and name in without_price()
    return found


def _offered(ours: Market) -> int:
    """Return the types with a price that some zone of the class has."""
    return ours.priced & ours.types_of_class & find_offered_types(ours, {})


def _same_limits(oracle: Oracle, case: Case, seen: Counter[str]) -> None:
    pool = case.pools[0]
    alone = _ours(case._replace(pools=[pool]))[0]
    theirs = oracle.limits(pool, case.node_class, node_overlays=case.overlays)
    launchable = match_types(alone, read_template_requirements(pool)).launchable
    left = find_types_in_limits(alone, launchable, read_limits(pool))
    assert tuple(alone.catalogue.names[place] for place in positions(left)) == theirs.types, case
    seen["limits"] += left not in (0, launchable)
