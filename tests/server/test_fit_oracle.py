"""Where a pod fits, beside Karpenter's own scheduler: the same verdict, types, first type and pool."""

from __future__ import annotations

import json
import os
from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pytest

from gpupool.karpenter.pod_reading import read_pod
from gpupool.scheduling.launch import MOST_IN_CLAIM, by_price
from gpupool.scheduling.nodepool import read_pool
from gpupool.scheduling.pods.daemons import Daemon
from gpupool.scheduling.pods.fit import chosen, taken_by
from gpupool.scheduling.pods.fit import sites as with_daemons
from gpupool.scheduling.pods.refusals import Rule, refusal
from gpupool.scheduling.types.typemasks import positions
from gpupool.yamlio.documents import read_documents
from tests.rig.scheduling import Oracle
from tests.rig.scheduling_answers import NodeClaim, Placement, solved
from tests.scheduling.classes import CLASSES
from tests.scheduling.scenes import CLASSES_USED, Scene, scene
from tests.scheduling.worlds import karpenter, market

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.karpenter.pods import Pod
    from gpupool.scheduling.pods.fit import Site, Taken
    from gpupool.scheduling.types.market import Market
    from tests.rig.scheduling_answers import Body

pytestmark = pytest.mark.server

SEED = 20_261_121
SCENES = int(os.environ.get("GPUPOOL_SCENES", "300"))
"""Pods for each test and each of two price lists; 1,250 make 5,000 pods, for some ten minutes."""


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


def sites_of(found: Scene, markets: dict[str, Market]) -> list[Site]:
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


def is_left_to_chance(ours: Taken, found: list[Site]) -> bool:
    """Say whether DaemonSets run on some of the types only.

    What the NodeClaim then requests for them depends on the order of a Go map, and so what is launched.
    """
    groups = next(site.groups for site in found if site.pool == ours.pool)
    return len({bool(group.requests) for group in groups if group.types & ours.types}) > 1


def difference(ours: Taken | None, theirs: Placement, found: list[Site], *, priced: bool) -> object:
    """Say how the two answers differ, or give None."""
    if ours is None or theirs.claim is None:
        return None if ours is None and theirs.claim is None else (ours and ours.pool.name, theirs.error)
    other = of_claim(ours, theirs.claim, priced=priced)
    if other or is_left_to_chance(ours, found):
        return other
    return of_launch(ours, theirs.claim, priced=priced)


def of_claim(ours: Taken, theirs: NodeClaim, *, priced: bool) -> object:
    """Compare the pool and the types of the NodeClaim."""
    market, names = ours.pool.market, ours.pool.market.catalogue.names
    types = {names[place] for place in positions(ours.types)}
    kept = by_price(market, ours.types)[:MOST_IN_CLAIM]
    if len(types) > len(kept) and {*theirs.types} < types:
        # Of types that cost the same, chance has the last ones.
        types = {names[place] for place in kept} if priced else {*theirs.types}
    if (ours.pool.name, types) != (theirs.pool, {*theirs.types}):
        return ours.pool.name, theirs.pool, types ^ {*theirs.types}
    return None if [market.price(place) for place in kept] == sorted(theirs.prices) else theirs.prices


def of_launch(ours: Taken, theirs: NodeClaim, *, priced: bool) -> object:
    """Compare what EC2 is asked for, in its order; without a type it makes no difference how."""
    market, launched, first = ours.pool.market, ours.launch, theirs.launch
    assert first
    names = [market.catalogue.names[place] for place in launched.types]
    if priced and names and (names, launched.capacity_type) != ([*first.types], first.capacity_type):
        return names, first
    prices = [market.price(place) for place in launched.types]
    return None if prices == [*first.prices] else (prices, first.prices)


SAID = {
    Rule.IGNORED: ("ignoring pod", "Dynamic Resource Allocation"),
    Rule.CANDIDATES: ("nodepool requirements filtered out all", ""),
    Rule.TOLERATION: ("did not tolerate taint", "limits"),
    Rule.LABEL: ("incompatible requirements", "no instance type", "limits"),
    Rule.ARCH: ("incompatible requirements", "no instance type", "limits"),
    Rule.ACCELERATOR: ("no instance type", "limits"),
    Rule.EFA: ("no instance type", "limits"),
    Rule.RESOURCES: ("no instance type", "limits"),
    Rule.HOST_PORT: ("no instance type", "limits"),
    Rule.OFFERING: ("no instance type", "limits"),
    Rule.MIN_VALUES: ("minValues", "limits"),
    Rule.LIMITS: ("limits", "no instance type", "minValues"),
}
"""What Karpenter says where we name a rule: it asks for limits first and names one reason for all types."""


def test_a_pod_fits_a_pool_where_karpenter_says_so(
    oracle: Oracle, markets: dict[str, Market], priced: bool
) -> None:
    seed = SEED + 2 * priced
    chance = Random(seed)  # noqa: S311 - the same sequence each time
    scenes = [scene(chance, 1) for _ in range(SCENES)]
    rules: Counter[str] = Counter()
    wrong: list[tuple[object, ...]] = []
    for number, (each, theirs) in enumerate(zip(scenes, answers(oracle, scenes), strict=True)):
        pod, (site,) = pod_of(each.pod), sites_of(each, markets)
        ours = taken_by(pod, site)
        if found := difference(ours, theirs, [site], priced=priced):
            wrong.append((number, found, each.pod, each.pools, each.daemon_sets))
        if ours is None:
            said = refusal(pod, site)
            rules[said.rule] += 1
            # Of several terms of affinity we name the nearest, Karpenter the last one.
            if len(pod.required) < 2 and not any(words in theirs.error for words in SAID[said.rule]):
                wrong.append((number, said, theirs.error, each.pod, each.pools))
        else:
            rules["fits"] += 1

    assert not wrong, f"seed {seed}: {len(wrong)} differ, the first: {json.dumps(wrong[0], default=str)}"
    assert set(rules) >= {*Rule, "fits"} - {Rule.EFA, Rule.HOST_PORT}, rules
    assert SCENES / 5 < rules["fits"] < SCENES * 4 / 5, rules


def test_of_several_pools_karpenter_chooses_the_same(
    oracle: Oracle, markets: dict[str, Market], priced: bool
) -> None:
    seed = SEED + 2 * priced + 1
    chance = Random(seed)  # noqa: S311 - the same sequence each time
    scenes = [scene(chance, chance.choice([2, 3, 4])) for _ in range(SCENES * 2 // 3)]
    pools: Counter[str] = Counter()
    wrong: list[tuple[object, ...]] = []
    for number, (each, theirs) in enumerate(zip(scenes, answers(oracle, scenes), strict=True)):
        sites = sites_of(each, markets)
        ours = chosen(pod_of(each.pod), sites)
        pools[ours.pool.name if ours else ""] += 1
        if found := difference(ours, theirs, sites, priced=priced):
            wrong.append((number, found, each.pod, each.pools, each.daemon_sets))

    assert not wrong, f"seed {seed}: {len(wrong)} differ, the first: {json.dumps(wrong[0], default=str)}"
    assert set(pools) == {"", "pool-0", "pool-1", "pool-2", "pool-3"}
