"""Which types generated and real pools may launch, and what is launched of them, beside Karpenter's own code."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import pytest

from gpupool.scheduling.launch import launch
from gpupool.scheduling.limits import fitting, read_limits
from gpupool.scheduling.market import Market
from gpupool.scheduling.matching import Match, match, template_requirements
from gpupool.scheduling.typemasks import positions
from tests.goldencases import cases
from tests.rig.scheduling import Body, Oracle, matched
from tests.scheduling.classes import CLASSES
from tests.scheduling.pools import Pools
from tests.scheduling.rendered import pools_with_classes
from tests.scheduling.worlds import karpenter, market

pytestmark = pytest.mark.server

SEED = 20261122
BATCHES, IN_BATCH = 10, 500
PLAIN = ("al2023", "bottlerocket", "raid0", "max-pods")


class Case(NamedTuple):
    pool: Body
    node_class: Body


@cache
def generated(seed: int, count: int, *, limits: bool = False) -> list[Case]:
    pools = Pools(seed)
    chance = pools.chance
    names = [chance.choice(PLAIN if chance.random() < 0.5 else [*CLASSES]) for _ in range(count)]
    return [Case(pools.one(limits=limits), CLASSES[name]) for name in names]


@pytest.fixture(scope="module", params=["priced as Karpenter has it", "every type priced"])
def priced(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "every type priced")


@pytest.fixture(scope="module")
def oracle(priced: bool) -> Iterator[Oracle]:
    with Oracle(karpenter(all_priced=priced)) as running:
        yield running


@pytest.mark.parametrize("batch", range(BATCHES))
def test_generated_pools_get_the_same_types(oracle: Oracle, priced: bool, batch: int) -> None:
    cases = generated(SEED + batch, IN_BATCH)
    with_types, with_launch = _same(oracle, cases, priced, launched=range(0, IN_BATCH, 10))
    assert with_types > IN_BATCH / 4
    assert with_launch > IN_BATCH / 60


def test_rendered_pools_get_the_same_types(oracle: Oracle, priced: bool) -> None:
    pools = [Case(*each) for each in pools_with_classes()]
    with_types, with_launch = _same(oracle, pools, priced, launched=range(len(pools)))
    assert len(cases()) < len(pools)
    assert with_types > len(pools) * 0.8
    assert with_launch == with_types


def test_limits_leave_the_same_types(oracle: Oracle, priced: bool) -> None:
    cases = generated(SEED - 1, 400, limits=True)
    excluded = 0
    for case in cases:
        theirs = oracle.limits(case.pool, _named(case.node_class))
        ours, found = _ours(case, priced)
        left = fitting(ours, found.launchable, read_limits(case.pool))
        assert _names(ours, left) == theirs.types, _shown(case)
        excluded += left != found.launchable
    assert excluded > len(cases) / 10


def _same(oracle: Oracle, cases: Sequence[Case], priced: bool, launched: Iterable[int]) -> tuple[int, int]:
    """Compare all cases; give how many pools have types at all, and of how many the launch was compared."""
    asked = set(launched)
    answers = oracle.ask_all(
        {"op": "match", "nodePool": case.pool, "nodeClass": _named(case.node_class), "launch": place in asked}
        for place, case in enumerate(cases)
    )
    with_types = with_launch = 0
    for case, answer in zip(cases, answers, strict=True):
        theirs = matched(answer)
        ours, found = _ours(case, priced)
        assert _names(ours, found.launchable) == theirs.types, _shown(case)
        with_types += bool(theirs.types)
        if theirs.launch is not None and theirs.types:
            with_launch += 1
            _same_launch(ours, found, case, theirs.launch.types, theirs.launch.capacity_type)
    return with_types, with_launch


def _same_launch(ours: Market, found: Match, case: Case, types: tuple[str, ...], capacity_type: str) -> None:
    mine = launch(ours, template_requirements(case.pool), found.launchable)
    names = tuple(ours.catalogue.names[place] for place in mine.types)
    if len(set(map(ours.price, positions(found.launchable)))) == found.launchable.bit_count():
        assert names == types, _shown(case)
    else:
        # Of types that cost the same Karpenter leaves to chance which one it cuts off.
        assert sorted(map(_price(ours), names)) == sorted(map(_price(ours), types)), _shown(case)
    if names:
        assert mine.capacity_type == capacity_type, _shown(case)


def _price(ours: Market):  # noqa: ANN202 - a function from a type's name to its price
    return lambda name: ours.price(ours.catalogue.position(name) or 0)


_markets: dict[tuple[str, bool], Market] = {}


def _ours(case: Case, priced: bool) -> tuple[Market, Match]:
    key = repr(case.node_class), priced
    if key not in _markets:
        _markets[key] = market(case.node_class, all_priced=priced)
    return _markets[key], match(_markets[key], template_requirements(case.pool))


def _names(ours: Market, types: int) -> tuple[str, ...]:
    return tuple(ours.catalogue.names[place] for place in positions(types))


def _named(body: Body) -> Body:
    """Give a class the name that generated pools refer to."""
    return {**body, "metadata": {"name": "c"}}


def _shown(case: Case) -> str:
    return f"class {case.node_class['metadata']['name']}, pool {case.pool}"
