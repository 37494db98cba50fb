"""Waiting for Karpenter, which takes its time with each object, on a clock that needs no waiting."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Final

import pytest

from gpupool.cluster.client import Response
from gpupool.cluster.deadline import Deadline
from gpupool.cluster.resources import KINDS
from gpupool.errors import ClusterError, NotReadyError, PartialError
from gpupool.objects import Ref
from gpupool.planning.pruning import read_node_class
from gpupool.rollout.applying.results import ensure_complete
from gpupool.rollout.session import is_ready
from gpupool.rollout.watch.waiting import wait_ready
from tests.memory import blueprints
from tests.memory.worlds import World, address_of
from tests.rollout.decisions.cases import (
    EVERYTHING,
    PARTS,
    chance,
    draw_start,
    expecting,
    outcomes,
    seeds,
    world,
)

if TYPE_CHECKING:
    from random import Random

    from gpupool.cluster.client import Request
    from gpupool.rollout.applying.results import Result
    from gpupool.rollout.session import Session
    from tests.memory.schemas import Body
    from tests.memory.worlds import Kept

CASES: Final = 1_200
SECONDS: Final = 120.0


@dataclass
class Karpenter:
    """A controller that makes each object Ready so many seconds after it was written; a pool after its class."""

    here: World
    delays: dict[str, float]
    """By address; infinite for what is never Ready."""

    since: dict[str, tuple[int, float]] = field(default_factory=dict)
    """When each generation of an object was first seen."""

    def __call__(self) -> None:
        """Look at everything."""
        now = self.here.kept.clock.now
        for address, body in self.here.objects().items():
            generation = body["metadata"]["generation"]
            if self.since.get(address, (0, 0.0))[0] != generation:
                self.since[address] = generation, now
            is_time = now - self.since[address][1] >= self.delays.get(address, 0.0)
            waits = address.startswith("NodePool/") and not self.is_ready("/".join(read_node_class(body)))
            if is_time and not waits and not is_taken(body):
                self.here.make_ready(address)

    def is_ready(self, address: str) -> bool:
        """Return whether an object is Ready as it is now."""
        return is_taken(self.here.objects().get(address, {}))


def is_taken(body: Body) -> bool:
    """Return whether an object's status is about what it is now."""
    conditions = body.get("status", {}).get("conditions", ())
    return any(each["observedGeneration"] == body["metadata"]["generation"] for each in conditions)


def start(kept: Kept, random: Random, first: dict[str, int]) -> Karpenter:
    """Return Karpenter at work in a world in which everything is Ready."""
    here = world(kept, first)
    here.timeout = SECONDS
    found = Karpenter(here, {})
    found()
    found()
    names = [f"{kind}/{name}" for kind in KINDS for name in (*"abcdef", "shared", "f-gpus-1")]
    found.delays = {each: random.choice((0.0, 1.0, 10.0, 30.0)) for each in names}
    for name in names:
        if random.random() < 0.05:
            found.delays[name] = inf
    kept.clock.each_second = [found]
    return found


@dataclass
class Early:
    """Who watches out for pools that are written before their class is Ready."""

    karpenter: Karpenter
    found: list[str] = field(default_factory=list)

    def __call__(self, request: Request) -> None:
        """Look at a request."""
        address = address_of(request)
        if request.method == "PATCH" and not request.is_dry_run and address.startswith("NodePool/"):
            assert isinstance(request.body, dict)
            if not self.karpenter.is_ready("/".join(read_node_class(request.body))):
                self.found.append(address)


@pytest.mark.parametrize("part", range(PARTS))
@expecting("something is never Ready", "all is Ready")
def test_each_pool_after_its_class(kept: Kept, part: int) -> None:
    for seed in seeds(part, CASES):
        random = chance(seed)
        first = draw_start(random)
        karpenter = start(kept, random, first)
        here, wanted = karpenter.here, blueprints.chosen(blueprints.redraw(random, first))
        found = here.look(wanted, EVERYTHING)
        early = Early(karpenter)
        here.server.hooks.append(early)
        began = kept.clock.now
        result = here.carry_out(found, wait="ready")
        here.server.hooks.clear()
        assert early.found == [], seed
        assert kept.clock.now - began <= SECONDS + 1, seed
        changed = {each.address for each in found.plan.changes if each.actions in {("create",), ("update",)}}
        ensure_waited(karpenter, found, result, {each for each in changed if karpenter.delays[each] == inf})
        assert not here.inventory("pending")


def ensure_waited(karpenter: Karpenter, found: Session, result: Result, never: set[str]) -> None:
    """Ensure that what can't be Ready is named, that its pools are not written, and that nothing is deleted then."""
    here, bodies = karpenter.here, blueprints.bodies(found.desired)
    stuck = {
        change.address
        for change in found.plan.changes
        if change.writes and "/".join(read_node_class(bodies.get(change.address, {}))) in never
    }
    gone = {each for each in here.objects() if each not in bodies}
    assert {each.address for each in result.of("not tried") if each.action != "delete"} == stuck
    if not never:
        ensure_complete(result)
        assert gone == set()
        assert all(karpenter.is_ready(each) for each in bodies)
        assert here.is_recorded()
        assert is_ready(here.look(found.desired, EVERYTHING), "ready")
        outcomes["all is Ready"] += 1
        return
    if not stuck:
        assert {each.address for each in result.of("not ready")} == never
    with pytest.raises(PartialError if stuck else NotReadyError):
        ensure_complete(result)
    assert gone == {each.address for each in found.prepared.deletions}
    outcomes["something is never Ready"] += 1


@pytest.mark.parametrize("part", range(PARTS))
@expecting("time is up", "in time")
def test_how_long_is_waited(kept: Kept, part: int) -> None:
    """Until the last object is Ready, or the time is up, or nothing more can come of it."""
    for seed in seeds(part, CASES):
        random = chance(seed)
        here = World(kept)
        kept.clock.each_second = []
        here.apply(blueprints.chosen(draw_start(random)))
        karpenter = Karpenter(here, {each: random.choice((0.0, 3.0, 30.0, 50.0)) for each in here.objects()})
        awaited = random.sample(sorted(here.objects()), random.choice((1, 2)))
        if random.random() < 0.2:
            karpenter.delays[awaited[0]] = inf
        doomed = awaited[-1] if random.random() < 0.2 else ""
        kept.clock.each_second = [karpenter, lambda here=here, doomed=doomed: delete_once(here, doomed)]  # type: ignore[misc]
        names: dict[str, list[str]] = {}
        for address in awaited:
            names.setdefault(address.partition("/")[0], []).append(address.partition("/")[2])
        limit = random.choice((10.0, 40.0, SECONDS))
        began = kept.clock.now
        cluster = here.look(blueprints.chosen({"a": 0})).reached.cluster

        found = wait_ready(cluster, Deadline(SECONDS), names, lambda _: None, limit)

        took = kept.clock.now - began
        states = {f"{kind}/{name}": each for (kind, name), each in found.items()}
        assert states.keys() == set(awaited)
        for address, state in states.items():
            is_there = address in here.objects()
            assert state.is_ready == (is_there and karpenter.is_ready(address)), (seed, address)
            assert state.is_hopeless == (not is_there), (seed, address)
        open_ones = [each for each in states.values() if not (each.is_ready or each.is_hopeless)]
        # Pauses grow to two seconds.
        assert took <= min(limit, SECONDS) + 0.2
        assert not open_ones or took >= limit - 0.2, seed
        outcomes["time is up"] += bool(open_ones)
        outcomes["in time"] += not open_ones


def delete_once(here: World, address: str) -> None:
    """Let an object go while it is waited for."""
    if address in here.objects():
        here.delete(address)


@pytest.mark.parametrize("is_ever_there", [True, False])
def test_a_server_that_is_away_for_a_moment(kept: Kept, is_ever_there: bool) -> None:
    """Once it was looked at objects, a look that fails ends nothing; before that, there is nothing to wait for."""
    here = world(kept, {"a": 0})
    cluster = here.look(blueprints.chosen({"a": 0})).reached.cluster
    until = kept.clock.now + 30
    kept.clock.each_second = [Karpenter(here, {"NodePool/a": 40.0})]
    seen: list[bool] = [] if is_ever_there else [True]

    def away(_request: Request) -> Response | None:
        seen.append(True)
        return Response(403, {"message": "no"}) if len(seen) > 1 and kept.clock.now < until else None

    here.server.hooks.append(away)
    if is_ever_there:
        found = wait_ready(cluster, Deadline(SECONDS), {"NodePool": ["a"]}, lambda _: None, 60.0)
        assert found[Ref("NodePool", "a")].is_ready
    else:
        with pytest.raises(ClusterError, match="answers 403: no"):
            wait_ready(cluster, Deadline(SECONDS), {"NodePool": ["a"]}, lambda _: None, 60.0)
