"""Where a pod fits, beside Karpenter's own scheduler: the same verdict, types, first type and pool."""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import pytest

from gpupool.karpenter.pod_reading import read_pod
from gpupool.scheduling.launch import MOST_IN_CLAIM, sort_by_price
from gpupool.scheduling.nodepool import read_pool
from gpupool.scheduling.pods.daemons import Daemon
from gpupool.scheduling.pods.fit import build_sites as with_daemons
from gpupool.scheduling.pods.fit import choose_fit, find_fit
from gpupool.scheduling.pods.refusals import Refusal, RefusalRule, find_refusal
from gpupool.scheduling.types.typemasks import positions
from gpupool.yamlio.documents import read_documents
from tests.rig.scheduling import Oracle
from tests.rig.scheduling_answers import NodeClaim, Placement, solved
from tests.scheduling.classes import CLASSES
from tests.scheduling.scenes import CLASSES_USED, Scene, scene
from tests.scheduling.worlds import karpenter, market
from tests.tiers import FEWEST_OBJECTS, few_of_each_kind, is_thorough

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.karpenter.pods import Pod
    from gpupool.scheduling.pods.fit import PoolFit, PoolSite
    from gpupool.scheduling.types.market import Market
    from tests.rig.scheduling_answers import Body

pytestmark = pytest.mark.server

SEED = 20_261_121
SCENES = 600
"""Pods for each of two price lists; by default only the first `MOST` of each kind of answer are put to Karpenter."""

MOST = 8


@pytest.fixture(scope="module", params=[False, True], ids=["real prices", "every type priced"])
def priced(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(scope="module")
def oracle(priced: bool) -> Iterator[Oracle]:
    with Oracle(karpenter(all_priced=priced)) as running:
        yield running


@pytest.fixture(scope="module")
def markets(priced: bool) -> dict[str, Market]:
    return {name: market(CLASSES[name], all_priced=priced) for name in CLASSES_USED}


def pod_of(body: Body) -> Pod:
    node = next(read_documents(json.dumps(body["spec"]).encode(), "pod.json")).node
    assert node is not None
    found = read_pod(node, "spec", "Pod/p")
    assert found.pod is not None, found.findings
    return found.pod


def sites_of(found: Scene, markets: dict[str, Market]) -> list[PoolSite]:
    pools = [
        read_pool(body, markets[body["spec"]["template"]["spec"]["nodeClassRef"]["name"]])
        for body in found.pools
    ]
    daemons = [
        Daemon(body["metadata"]["name"], pod_of(body["spec"]["template"])) for body in found.daemon_sets
    ]
    return with_daemons(pools, daemons)


def answers(oracle: Oracle, scenes: list[Scene]) -> Iterator[Placement]:
    questions = [
        {
            "op": "solve",
            "nodePools": each.pools,
            "nodeClasses": each.classes,
            "pods": [each.pod],
            "daemonSets": each.daemon_sets,
        }
        for each in scenes
    ]
    for each in oracle.ask_all(questions):
        found = solved(each)
        assert not found.invalid, found.invalid
        yield found.placements[0]


def is_left_to_chance(ours: PoolFit, found: list[PoolSite]) -> bool:
    """Return whether DaemonSets run on some of the types only.

    What the NodeClaim then requests for them depends on the order of a Go map, and so what is launched.
    """
    groups = next(site.groups for site in found if site.pool == ours.pool)
    return len({bool(group.requests) for group in groups if group.types & ours.types}) > 1


def difference(ours: PoolFit | None, theirs: Placement, found: list[PoolSite], *, priced: bool) -> object:
    """Return how the two answers differ, or give None."""
    if ours is None or theirs.claim is None:
        return None if ours is None and theirs.claim is None else (ours and ours.pool.name, theirs.error)
    other = of_claim(ours, theirs.claim, priced=priced)
    if other or is_left_to_chance(ours, found):
        return other
    return of_launch(ours, theirs.claim, priced=priced)


def of_claim(ours: PoolFit, theirs: NodeClaim, *, priced: bool) -> object:
    """Compare the pool and the types of the NodeClaim."""
    market, names = ours.pool.market, ours.pool.market.catalogue.names
    types = {names[place] for place in positions(ours.types)}
    kept = sort_by_price(market, ours.types)[:MOST_IN_CLAIM]
    if len(types) > len(kept) and {*theirs.types} < types:
        # Of types that cost the same, chance has the last ones.
        types = {names[place] for place in kept} if priced else {*theirs.types}
    if (ours.pool.name, types) != (theirs.pool, {*theirs.types}):
        return ours.pool.name, theirs.pool, types ^ {*theirs.types}
    return None if [market.price(place) for place in kept] == sorted(theirs.prices) else theirs.prices


def of_launch(ours: PoolFit, theirs: NodeClaim, *, priced: bool) -> object:
    """Compare what EC2 is asked for, in its order; without a type it makes no difference how."""
    market, launched, first = ours.pool.market, ours.launch, theirs.launch
    assert first
    names = [market.catalogue.names[place] for place in launched.types]
    if priced and names and (names, launched.capacity_type) != ([*first.types], first.capacity_type):
        return names, first
    prices = [market.price(place) for place in launched.types]
    return None if prices == [*first.prices] else (prices, first.prices)


SAID = {
    RefusalRule.IGNORED: ("ignoring pod", "Dynamic Resource Allocation"),
    RefusalRule.CANDIDATES: ("nodepool requirements filtered out all", ""),
    RefusalRule.TOLERATION: ("did not tolerate taint", "limits"),
    RefusalRule.LABEL: ("incompatible requirements", "no instance type", "limits"),
    RefusalRule.ARCH: ("incompatible requirements", "no instance type", "limits"),
    RefusalRule.ACCELERATOR: ("no instance type", "limits"),
    RefusalRule.EFA: ("no instance type", "limits"),
    RefusalRule.RESOURCES: ("no instance type", "limits"),
    RefusalRule.HOST_PORT: ("no instance type", "limits"),
    RefusalRule.OFFERING: ("no instance type", "limits"),
    RefusalRule.MIN_VALUES: ("minValues", "limits"),
    RefusalRule.LIMITS: ("limits", "no instance type", "minValues"),
}
"""What Karpenter says where we name a rule: it asks for limits first and names one reason for all types."""


class Asked(NamedTuple):
    """A scene, and what gpupool says of it."""

    scene: Scene
    sites: list[PoolSite]
    taken: PoolFit | None
    refusal: Refusal | None
    """Of the one pool; None where it takes the pod, or where there are several."""

    def __str__(self) -> str:
        return json.dumps([self.scene.pod, self.scene.pools, self.scene.daemon_sets])


def count_objects(cases: list[Asked]) -> int:
    return sum(1 + len(each.scene.pools) + len(each.scene.daemon_sets) for each in cases)


def test_a_pod_fits_a_pool_where_karpenter_says_so(
    oracle: Oracle, markets: dict[str, Market], priced: bool
) -> None:
    seed = SEED + 2 * priced
    chance = Random(seed)  # noqa: S311 - the same sequence each time
    cases = few_of_each_kind((one_pool(scene(chance, 1), markets) for _ in range(SCENES)), MOST)
    rules = Counter(each.refusal.rule if each.refusal else "fits" for each in cases)
    wrong: list[tuple[object, ...]] = []
    for each, theirs in zip(cases, answers(oracle, [case.scene for case in cases]), strict=True):
        if differs := difference(each.taken, theirs, each.sites, priced=priced):
            wrong.append((differs, str(each)))
        if each.refusal and not is_named_alike(each, each.refusal, theirs.error):
            wrong.append((each.refusal, theirs.error, str(each)))

    assert not wrong, f"seed {seed}: {len(wrong)} differ, the first: {wrong[0]}"
    assert set(rules) >= {*RefusalRule, "fits"} - {RefusalRule.EFA, RefusalRule.HOST_PORT}, rules
    if is_thorough():
        assert SCENES / 5 < rules["fits"] < SCENES * 4 / 5, rules
    assert count_objects(cases) > FEWEST_OBJECTS / 5


def is_named_alike(case: Asked, refused: Refusal, error: str) -> bool:
    """Return whether Karpenter names the same rule; of several terms of affinity we name the nearest, it the last."""
    return len(pod_of(case.scene.pod).required) > 1 or any(words in error for words in SAID[refused.rule])


def one_pool(asked: Scene, markets: dict[str, Market]) -> tuple[str, Asked]:
    """Return gpupool's answer for the scene's one pool, and its kind: the rule that refuses the pod, or `fits`."""
    pod, (site,) = pod_of(asked.pod), sites_of(asked, markets)
    taken = find_fit(pod, site)
    refused = None if taken else find_refusal(pod, site)
    return refused.rule if refused else "fits", Asked(asked, [site], taken, refused)


def test_of_several_pools_karpenter_chooses_the_same(
    oracle: Oracle, markets: dict[str, Market], priced: bool
) -> None:
    seed = SEED + 2 * priced + 1
    chance = Random(seed)  # noqa: S311 - the same sequence each time
    scenes = (scene(chance, chance.choice([2, 3, 4])) for _ in range(SCENES * 2 // 3))
    cases = few_of_each_kind((several_pools(each, markets) for each in scenes), MOST)
    wrong: list[tuple[object, ...]] = []
    for each, theirs in zip(cases, answers(oracle, [case.scene for case in cases]), strict=True):
        if differs := difference(each.taken, theirs, each.sites, priced=priced):
            wrong.append((differs, str(each)))

    assert not wrong, f"seed {seed}: {len(wrong)} differ, the first: {wrong[0]}"
    names = {each.taken.pool.name if each.taken else "" for each in cases}
    assert names == {"", "pool-0", "pool-1", "pool-2", "pool-3"}
    assert count_objects(cases) > FEWEST_OBJECTS / 5


def several_pools(asked: Scene, markets: dict[str, Market]) -> tuple[str, Asked]:
    """Return gpupool's answer for all pools together, and the name of the pool that gets the node."""
    sites = sites_of(asked, markets)
    taken = choose_fit(pod_of(asked.pod), sites)
    return taken.pool.name if taken else "", Asked(asked, sites, taken, None)
