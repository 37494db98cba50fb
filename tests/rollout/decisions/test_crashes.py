"""A run that ends at any write, or whose answer is lost there: the next run finds all that it did, and finishes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pytest

from gpupool.cluster.client import UnansweredError
from gpupool.errors import GpupoolError
from gpupool.planning.foreign_fields import PART_OF
from gpupool.rollout.applying.results import ensure_complete
from tests.memory import blueprints
from tests.memory.worlds import own_set
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

if TYPE_CHECKING:
    from gpupool.cluster.client import Request, Response
    from gpupool.rollout.desired_state import DesiredState
    from tests.memory.worlds import Kept, World

CASES: Final = 3_000
ENDINGS: Final = ("killed", "down", "stuck", "lost")


class KilledError(BaseException):
    """The process is dead: no handler of its own may go on."""


@dataclass
class Crash:
    """What happens at a run's nth write."""

    here: World
    nth: int
    is_done: bool
    """Whether the server has done it."""

    ending: str
    """`killed`; `down`: no request is answered from then on; `stuck`: none to this path; `lost`: not this one time."""

    count: int = 0
    has_struck: bool = False
    path: str = ""
    """The one that is not answered any more; empty for all."""

    def __call__(self, request: Request) -> Response | None:
        """Strike."""
        if self.has_struck and self.ending != "lost" and self.path in {"", request.path}:
            raise self.problem
        if request.is_dry_run or self.has_struck:
            return None
        self.count += 1
        if self.count < self.nth:
            return None
        self.has_struck = True
        self.path = request.path if self.ending == "stuck" else ""
        if self.is_done:
            self.here.send(request)
        raise self.problem

    @property
    def problem(self) -> BaseException:
        """Return what the run gets instead of an answer."""
        if self.ending == "killed":
            return KilledError()
        return UnansweredError("Connection reset by peer")


@pytest.mark.parametrize("part", range(PARTS))
@expecting("KilledError", "PartialError", "ClusterError", "lost and found", "done before")
def test_a_run_that_ends_at_any_write(kept: Kept, part: int) -> None:
    for seed in seeds(part, CASES):
        random = chance(seed)
        first = draw_start(random)
        second = blueprints.redraw(random, first)
        third = second if random.random() < 0.6 else blueprints.redraw(random, first)
        here, wanted = world(kept, first), blueprints.chosen(second)
        survivors = {each: uid for each, uid in here.uids().items() if each in blueprints.bodies(wanted)}
        ending = random.choice(ENDINGS)
        crash = Crash(here, random.randrange(1, 3 + 2 * len(second)), random.random() < 0.5, ending)
        run(here, wanted, crash, seed)
        ensure_nothing_leaks(here, wanted, seed)
        assert {each: here.uids()[each] for each in survivors} == survivors, seed
        if random.random() < 0.4:
            here.unlock()
            again = Crash(here, random.randrange(1, 6), random.random() < 0.5, random.choice(ENDINGS))
            run(here, blueprints.chosen(third), again, seed)
            ensure_nothing_leaks(here, wanted, seed)
            third = blueprints.redraw(random, first)
        ensure_finished(here, blueprints.chosen(third), seed)


def run(here: World, wanted: DesiredState, crash: Crash, seed: int) -> None:
    """Apply until the crash; note how it ended."""
    found = here.look(wanted, EVERYTHING)
    here.server.hooks.append(crash)
    ended = "lost and found"
    try:
        ensure_complete(here.carry_out(found))
    except (KilledError, GpupoolError) as problem:
        ended = type(problem).__name__
    here.server.hooks.clear()
    if not crash.has_struck:
        assert ended == "lost and found", (seed, ended)
        ended = "done before"
    elif crash.ending == "lost":
        # Whether the server has done it or not: the request is sent again.
        assert ended == "lost and found", (seed, ended)
    outcomes[ended] += 1


def ensure_finished(here: World, wanted: DesiredState, seed: int) -> None:
    """Ensure that the next run, be it of another edition, has it all as it shall be."""
    here.unlock()
    here.apply(wanted, EVERYTHING)
    assert here.specs() == fresh_specs(here.kept, wanted), seed
    # A deletion whose answer never came stays listed, until something else is to be done: nothing follows from it.
    listed = {each: entry for each, entry in here.inventory().items() if each in here.objects()}
    gone = here.inventory().keys() - listed.keys()
    assert here.is_recorded() or (
        listed.keys() == here.objects().keys() and gone <= failed_deletions(here)
    ), seed
    assert not here.is_locked()
    version = here.server.version
    assert here.apply(wanted, EVERYTHING) is None, seed
    assert here.server.version == version


def ensure_nothing_leaks(here: World, wanted: DesiredState, seed: int) -> None:
    """Ensure that the inventory knows of everything that has our label."""
    ours = {
        address
        for address, body in here.objects().items()
        if body["metadata"].get("labels", {}).get(PART_OF) == own_set(wanted)
    }
    assert ours <= here.inventory().keys() | here.inventory("pending").keys(), seed


def failed_deletions(here: World) -> set[str]:
    """Return what could not be deleted as far as a run knew."""
    return {each.address for each in here.done if (each.action, each.state) == ("delete", "failed")}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("is_done", [False, True])
def test_every_write_of_one_apply(kept: Kept, ending: str, is_done: bool) -> None:
    """Without chance: each write of an apply that creates, updates and deletes."""
    wanted, struck = blueprints.chosen({"a": 1, "b": 0, "f": 0}), 0
    for nth in range(1, 20):
        here = world(kept, {"a": 0, "b": 0, "c": 0})
        crash = Crash(here, nth, is_done, ending)
        run(here, wanted, crash, nth)
        ensure_nothing_leaks(here, wanted, nth)
        ensure_finished(here, wanted, nth)
        struck += crash.has_struck
    # Two of the lock, two of the inventory, and seven of objects.
    assert struck == 11
