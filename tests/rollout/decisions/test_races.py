"""Others who write while an apply is under way: what they say is not overwritten, and nothing of theirs is deleted."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pytest

from gpupool.errors import GpupoolError, GuardError
from gpupool.planning.plan import Consent
from gpupool.rollout.applying.results import ensure_complete
from gpupool.rollout.session import ensure_applicable
from tests.memory import blueprints
from tests.memory.worlds import address_of, missing_leaves
from tests.rollout.decisions.cases import (
    EVERYTHING,
    PARTS,
    chance,
    draw_start,
    expecting,
    fresh_specs,
    outcomes,
    seeds,
    world,
)
from tests.rollout.decisions.test_drift import EDITS, Edit

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from gpupool.cluster.client import Request
    from gpupool.rollout.desired_state import DesiredState
    from tests.memory.schemas import Body
    from tests.memory.worlds import Kept, World

CASES: Final = 3_000
DELETION: Final = 10
"""Which request of an apply deletes the pool that is gone from the blueprint."""

TAKE: Final = Consent(prune=True, max_deletes=99, allow_empty=True, on_conflict="take")


@dataclass
class At:
    """Something that happens just before a run's nth request."""

    nth: int
    act: Callable[[], None]
    count: int = 0

    def __call__(self, _request: Request) -> None:
        """Let it happen."""
        self.count += 1
        if self.count == self.nth:
            self.act()


@dataclass
class Racer:
    """Somebody who changes, deletes or holds one object at some moment."""

    here: World
    address: str
    edit: Edit
    way: str
    was: Body | None = None
    """The object just before; None where it was not there any more."""

    def __call__(self) -> None:
        """Do it."""
        self.was = self.here.objects().get(self.address)
        if self.was is None:
            return
        if self.way == "edit":
            assert self.here.change(self.address, self.edit.patch).ok
        elif self.way == "impose":
            assert self.here.impose(self.address, self.edit.patch["spec"]).ok
        elif self.way == "delete":
            self.here.delete(self.address)
        else:
            self.here.delete(self.address)
            self.here.create(self.address, self.was)

    def ensure_respected(self, before: str, seed: int) -> None:
        """Ensure that what was done then is so in the end; `before` is the object's uid at the start."""
        live = self.here.objects().get(self.address)
        if self.was is None:
            return
        if self.way in {"edit", "impose"}:
            assert live is not None, seed
            assert [*missing_leaves(self.edit.patch, live)] == [], seed
        elif self.way == "delete":
            assert live is None, seed
        else:
            assert live is not None, seed
            assert live["metadata"]["uid"] != before
            assert (live["metadata"]["generation"], live["spec"]) == (1, self.was["spec"]), seed


@pytest.mark.parametrize("part", range(PARTS))
@expecting("done", "StalePlanError", "PartialError", "edit", "impose", "delete", "create")
def test_somebody_writes_at_any_moment(kept: Kept, part: int) -> None:
    for seed in seeds(part, CASES):
        random = chance(seed)
        first = draw_start(random)
        second = blueprints.redraw(random, first)
        here, wanted = world(kept, first), blueprints.chosen(second)
        consent = random.choice((EVERYTHING, TAKE))
        found = here.look(wanted, consent)
        ensure_applicable(found.plan)
        uids = here.uids()
        racer = draw_racer(random, here)
        hook = At(random.randrange(1, 16 + 4 * len(second)), racer)
        here.server.hooks.append(hook)
        try:
            ensure_complete(here.carry_out(found))
            outcomes["done"] += 1
        except GpupoolError as problem:
            outcomes[type(problem).__name__] += 1
        here.server.hooks.clear()
        happened = hook.count >= hook.nth and racer.was is not None
        if happened:
            racer.ensure_respected(uids[racer.address], seed)
            outcomes[racer.way] += 1
        others = {
            each: uid
            for each, uid in uids.items()
            if each in blueprints.bodies(wanted) and each != racer.address
        }
        assert {each: here.uids()[each] for each in others} == others, seed
        assert not here.is_locked()
        if not happened or racer.way == "delete":
            here.apply(wanted, EVERYTHING)
            assert here.specs() == fresh_specs(kept, wanted), seed
            assert here.is_recorded(), seed


def draw_racer(random: Random, here: World) -> Racer:
    """Draw whom an object is changed by; the field is one that nobody says, or that the blueprint says."""
    address = random.choice(sorted(here.objects()))
    edits = [each for each in EDITS[address.partition("/")[0]] if each.path[0] == "spec"]
    return Racer(
        here, address, random.choice(edits), random.choice(("edit", "edit", "impose", "delete", "create"))
    )


@pytest.mark.parametrize("way", ["delete", "create"])
@pytest.mark.parametrize("address", ["NodePool/b", "EC2NodeClass/b"])
def test_what_is_gone_alreadyoutcomes_as_deleted(kept: Kept, address: str, way: str) -> None:
    """And what somebody made in its place is theirs: it stays, and the inventory does not list it."""
    here, wanted = world(kept, {"a": 0, "b": 0}), blueprints.chosen({"a": 1})
    found = here.look(wanted, EVERYTHING)
    racer = Racer(here, address, EDITS["NodePool"][0], way)

    def strike(request: Request) -> None:
        if request.method == "DELETE" and address_of(request) == address and racer.was is None:
            racer()

    here.server.hooks.append(strike)
    result = here.carry_out(found)

    kept_too = {"EC2NodeClass/b"} if (address, way) == ("NodePool/b", "create") else set()
    assert {each.address for each in result.of("held back")} == kept_too
    assert racer.was is not None
    assert (address in here.objects()) == (way == "create")
    assert here.inventory().keys() == {"NodePool/a", "EC2NodeClass/a", *kept_too}
    assert not here.inventory("pending")


@dataclass
class Second:
    """Another run, which waits for nothing, with another edition."""

    here: World
    wanted: DesiredState
    ended: str = "was never begun"

    def __call__(self) -> None:
        """Run."""
        hooks, self.here.server.hooks = self.here.server.hooks, []
        with suppress(GuardError):
            self.ended = "was refused"
            self.here.apply(self.wanted, EVERYTHING)
            self.ended = "was done"
        self.here.server.hooks = hooks


@pytest.mark.parametrize("part", range(PARTS))
@expecting("the first was done", "the first was refused", "the second was done", "the second was refused")
def test_two_applies_at_once(kept: Kept, part: int) -> None:
    """The second begins at any moment of the first; the one that has the lock is not disturbed."""
    for seed in seeds(part, CASES // 3):
        random = chance(seed)
        first = draw_start(random)
        one, other = (blueprints.chosen(blueprints.redraw(random, first)) for _ in range(2))
        here = world(kept, first)
        found, second = here.look(one, EVERYTHING), Second(here, other)
        here.server.hooks.append(At(random.choice((1, random.randrange(1, 30))), second))
        ended = "was done"
        try:
            ensure_complete(here.carry_out(found))
        except GpupoolError:
            ended = "was refused"
        here.server.hooks.clear()
        assert ended == "was done" or second.ended == "was done", seed
        outcomes.update((f"the first {ended}", f"the second {second.ended}"))
        assert not here.is_locked()
        assert here.is_recorded(), seed
        if second.ended != "was done":
            assert here.specs() == fresh_specs(kept, one), seed
        here.apply(one, EVERYTHING)
        assert here.specs() == fresh_specs(kept, one), seed


def launch(here: World) -> None:
    """Launch two nodes of a pool, and say so in its status."""
    here.claim("b", 2)
    here.change("NodePool/b", {"status": {"resources": {"nodes": "2"}}}, "karpenter", "/status")


def test_a_pool_is_deleted_right_after_its_nodes_were_counted(kept: Kept) -> None:
    here, wanted = world(kept, {"a": 0, "b": 0}), blueprints.chosen({"a": 1})
    found = here.look(wanted, EVERYTHING)
    here.server.requests.clear()

    here.carry_out(found)

    asked = [(each.method, each.path.rpartition("/")[2]) for each in here.server.requests]
    assert asked[DELETION - 2 : DELETION] == [("GET", "nodeclaims"), ("DELETE", "b")]


def test_a_pool_that_was_written_since_it_was_read_is_read_and_counted_again(kept: Kept) -> None:
    here, wanted = world(kept, {"a": 0, "b": 0}), blueprints.chosen({"a": 1})
    found = here.look(wanted, EVERYTHING)
    here.server.requests.clear()

    def write() -> None:
        here.change("NodePool/b", {"status": {"resources": {"cpu": "1"}}}, "karpenter", "/status")

    here.server.hooks.append(At(DELETION, write))

    ensure_complete(here.carry_out(found))

    asked = [(each.method, each.path.rpartition("/")[2]) for each in here.server.requests]
    first = [("GET", "nodeclaims"), ("DELETE", "b")]
    assert asked[DELETION - 2 : DELETION + 3] == [*first, ("GET", "b"), *first]


@pytest.mark.parametrize("nth", range(1, DELETION + 1))
def test_a_pool_that_gets_nodes_is_kept(kept: Kept, nth: int) -> None:
    """Nodes count until the server has the deletion: what Karpenter says in the pool's status makes it void."""
    here, wanted = world(kept, {"a": 0, "b": 0}), blueprints.chosen({"a": 1})
    found = here.look(wanted, EVERYTHING)
    here.server.requests.clear()
    here.server.hooks.append(At(nth, lambda: launch(here)))

    result = here.carry_out(found)

    with pytest.raises(GuardError, match="NodePool/b: it still has 2 NodeClaims"):
        ensure_complete(result)
    assert {"NodePool/b", "EC2NodeClass/b"} <= here.objects().keys()
    assert here.is_recorded()
