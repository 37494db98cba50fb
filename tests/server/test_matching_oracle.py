"""Which types generated and real pools may launch, and what is launched of them, beside Karpenter's own code."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import pytest

from gpupool.scheduling.launch import plan_launch
from gpupool.scheduling.limits import find_types_in_limits, read_limits
from gpupool.scheduling.matching import (
    MatchedTypes,
    find_lacking_values,
    match_types,
    read_template_requirements,
)
from gpupool.scheduling.types.market import Market
from gpupool.scheduling.types.typemasks import positions
from tests.goldencases import cases as golden_cases
from tests.rig.errors import RigError
from tests.rig.scheduling import Body, Oracle
from tests.rig.scheduling_answers import matched
from tests.scheduling.classes import CLASSES
from tests.scheduling.pools import Pools
from tests.scheduling.rendered import pools_with_classes
from tests.scheduling.worlds import karpenter, market
from tests.tiers import few_of_each_kind, is_thorough, volume

pytestmark = pytest.mark.server

SEED = 20261122
FULL = "small-disk"
"""With a disk that the kubelet keeps all of, no type has room."""

PLAIN = ("al2023", "bottlerocket", "raid0", "max-pods")
COUNTS = {name: volume(700, at_least=250) if name in PLAIN else volume(110, at_least=80) for name in CLASSES}
"""How many pools of each class; Karpenter works all types out anew for each class, so those of one go together."""

ASKED = [
    (priced, name) for priced in (False, True) for name in CLASSES if is_thorough() or priced or name in PLAIN
]
"""By default the special classes are asked about where every type has a price, which leaves nothing to chance."""

LAUNCHED = 15 if is_thorough() else 8
"""Of so many pools with types one launch is compared, which takes longer than all the rest."""


class Case(NamedTuple):
    pool: Body
    node_class: Body


@cache
def generated(seed: int, name: str, *, limits: bool = False) -> list[Case]:
    pools = Pools(seed + [*CLASSES].index(name))
    return [Case(pools.one(limits=limits), CLASSES[name]) for _ in range(COUNTS[name])]


@cache
def sampled(name: str, priced: bool) -> list[Case]:
    """Return the pools of a class to ask about; in the default tier as many with types as without any."""
    cases = generated(SEED, name)
    kinds = (bool(_ours(case, priced)[1].launchable) for case in cases)
    return few_of_each_kind(zip(kinds, cases, strict=True), at_most=27 if name in PLAIN else 15)


def test_there_are_enough_pools() -> None:
    assert sum(len(sampled(name, priced)) for priced, name in ASKED) >= volume(10_000)


@pytest.fixture(scope="module", params=[False, True], ids=["Karpenter's prices", "every type priced"])
def priced(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(scope="module")
def oracle(priced: bool) -> Iterator[Oracle]:
    with Oracle(karpenter(all_priced=priced)) as running:
        yield running


@pytest.mark.parametrize(("priced", "name"), ASKED, indirect=["priced"])
def test_generated_pools_get_the_same_types(oracle: Oracle, priced: bool, name: str) -> None:
    cases = sampled(name, priced)
    suited = [place for place, case in enumerate(cases) if _ours(case, priced)[1].launchable]
    with_types, with_launch = _same(oracle, cases, priced, launched=suited[::LAUNCHED])
    if name == FULL:
        assert with_types == 0
    else:
        assert with_launch > 0
        assert with_types > len(cases) / (4 if name in PLAIN else 50)


def test_rendered_pools_get_the_same_types(oracle: Oracle, priced: bool) -> None:
    pools = [Case(*each) for each in pools_with_classes()]
    assert len(golden_cases()) < len(pools)
    if not is_thorough():
        pools = pools[priced::8]
    with_types, with_launch = _same(oracle, pools, priced, launched=range(len(pools)))
    assert with_types > len(pools) * 0.8
    assert with_launch == with_types


@pytest.mark.parametrize("name", ["al2023", "raid0"])
def test_limits_leave_the_same_types(oracle: Oracle, priced: bool, name: str) -> None:
    cases = generated(SEED - 1, name, limits=True)[:250]
    kinds = (_within_limits(case, priced) == _ours(case, priced)[1].launchable for case in cases)
    cases = few_of_each_kind(zip(kinds, cases, strict=True), at_most=12)
    asked = excluded = 0
    for case in cases:
        ours, found = _ours(case, priced)
        left = _within_limits(case, priced)
        try:
            theirs = oracle.limits(case.pool, _named(case.node_class))
        except RigError:
            assert oracle.match(case.pool, _named(case.node_class), launch=False).invalid, _shown(case)
            continue
        assert _names(ours, left) == theirs.types, _shown(case)
        asked += 1
        excluded += left != found.launchable
    assert asked > len(cases) * 0.8
    assert excluded > len(cases) / 10


def _within_limits(case: Case, priced: bool) -> int:
    """Return the types that the pool's limits and its minValues leave, as gpupool has it."""
    ours, found = _ours(case, priced)
    left = find_types_in_limits(ours, found.launchable, read_limits(case.pool))
    return 0 if find_lacking_values(ours, left, read_template_requirements(case.pool)) else left


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


def _same_launch(
    ours: Market, found: MatchedTypes, case: Case, types: tuple[str, ...], capacity_type: str
) -> None:
    mine = plan_launch(ours, read_template_requirements(case.pool), found.launchable)
    names = tuple(ours.catalogue.names[place] for place in mine.types)
    if len(set(map(ours.price, positions(found.launchable)))) == found.launchable.bit_count():
        assert names == types, _shown(case)
    else:
        # Of types that cost the same Karpenter leaves to chance which one it cuts off.
        assert sorted(map(_price(ours), names)) == sorted(map(_price(ours), types)), _shown(case)
    if names:
        assert mine.capacity_type == capacity_type, _shown(case)


def _price(ours: Market) -> Callable[[str], float]:
    return lambda name: ours.price(ours.catalogue.position(name) or 0) or 0


_markets: dict[tuple[str, bool], Market] = {}


def _ours(case: Case, priced: bool) -> tuple[Market, MatchedTypes]:
    key = repr(case.node_class), priced
    if key not in _markets:
        _markets[key] = market(case.node_class, all_priced=priced)
    return _markets[key], match_types(_markets[key], read_template_requirements(case.pool))


def _names(ours: Market, types: int) -> tuple[str, ...]:
    return tuple(ours.catalogue.names[place] for place in positions(types))


def _named(body: Body) -> Body:
    """Return a class the name that generated pools refer to."""
    return {**body, "metadata": {"name": "c"}}


def _shown(case: Case) -> str:
    return f"class {case.node_class['metadata']['name']}, pool {case.pool}"
