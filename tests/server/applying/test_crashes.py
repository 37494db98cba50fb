"""An apply that is killed at any write: the next one finds all that it did, and finishes it."""

from __future__ import annotations

import re
import shlex
import signal
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.cli.run import gpupool
from tests.server import statuses
from tests.server.applying.ends import ensure_converged, ensure_own
from tests.server.applying.scenes import (
    FIRST,
    KEEP,
    ONE_BY_ONE,
    SECOND,
    SECOND_WRITES,
    THIRD,
    at_write,
    ended,
    killed,
)

if TYPE_CHECKING:
    import subprocess

    from tests.server.applying.scenes import Clean, Pools, Scene

LAST = len(SECOND_WRITES)
WRITES = range(1, LAST + 1)


def crash(scene: Scene, pools: Pools, nth: int, moment: str = "committed", *more: str) -> int:
    """Kill an apply at its nth write from now on; give its exit code."""
    child = scene.start("apply", pools, *more)
    kill_at(scene, nth + len(scene.written()), moment, child)
    code = ended(child).code
    scene.faulty.committed = scene.faulty.delivered = None
    return code


def kill_at(scene: Scene, nth: int, moment: str, child: subprocess.Popen[str]) -> None:
    setattr(scene.faulty, moment, at_write(nth, partial(killed, child)))


def again(scene: Scene, pools: Pools) -> None:
    """Run an apply on which nothing goes wrong."""
    scene.unlock()
    said = scene.run("apply", pools)
    assert said.code == 0, said.err


def test_all_its_writes(first: Scene, clean: Clean) -> None:
    """The crashes below are at each of these."""
    specs = clean(SECOND)

    said = ended(first.start("apply", SECOND, *ONE_BY_ONE))

    assert said.code == 0, said.err
    assert first.written() == list(SECOND_WRITES)
    ensure_converged(first, SECOND, specs)


@pytest.mark.parametrize("moment", ["committed", "delivered"])
@pytest.mark.parametrize("nth", WRITES, ids=lambda nth: f"{nth} {SECOND_WRITES[nth - 1]}")
def test_the_same_again(first: Scene, clean: Clean, nth: int, moment: str) -> None:
    specs = clean(SECOND)
    code = crash(first, SECOND, nth, moment, *ONE_BY_ONE)
    assert code == -signal.SIGKILL or (code == 0 and (nth, moment) == (LAST, "delivered"))
    assert first.written() == list(SECOND_WRITES[:nth])

    again(first, SECOND)

    ensure_converged(first, SECOND, specs)


@pytest.mark.parametrize("nth", WRITES[2:6])
def test_with_several_writes_under_way(first: Scene, clean: Clean, nth: int) -> None:
    specs = clean(SECOND)
    assert crash(first, SECOND, nth) == -signal.SIGKILL

    again(first, SECOND)

    ensure_converged(first, SECOND, specs)


@pytest.mark.parametrize("nth", WRITES[1:9])
def test_another_blueprint_next(first: Scene, clean: Clean, nth: int) -> None:
    """It drops what was just being created as well as what was being deleted."""
    specs = clean(THIRD)
    assert crash(first, SECOND, nth, "committed", *ONE_BY_ONE) == -signal.SIGKILL

    first.unlock()
    said = first.run("apply", THIRD, "--max-deletes", "2")

    assert said.code == 0, said.err
    ensure_converged(first, THIRD, specs)


@pytest.mark.parametrize("nth", [4, 6, 7, 8])
def test_back_to_the_first(first: Scene, clean: Clean, nth: int) -> None:
    specs = clean(FIRST)
    assert crash(first, SECOND, nth, "delivered", *ONE_BY_ONE) == -signal.SIGKILL

    again(first, FIRST)

    ensure_converged(first, FIRST, specs)


@pytest.mark.parametrize("nth", [1, 2, 4, 5, 8])
def test_of_the_very_first_apply(scene: Scene, clean: Clean, nth: int) -> None:
    """The fifth write creates a class that the next blueprint does not have, the eighth its pool."""
    specs = clean(THIRD)
    assert crash(scene, SECOND, nth, "committed", *ONE_BY_ONE) == -signal.SIGKILL

    again(scene, THIRD)

    ensure_converged(scene, THIRD, specs)


def test_again_and_again(first: Scene, clean: Clean) -> None:
    """Each run comes one write further than the one before, and is killed as well."""
    specs = clean(SECOND)
    for _ in SECOND_WRITES[2:-1]:
        assert crash(first, SECOND, 3, "committed", *ONE_BY_ONE) == -signal.SIGKILL
        first.unlock()
    assert [each for each in first.written() if each in SECOND_WRITES[2:-2]] == list(SECOND_WRITES[2:-2])

    again(first, SECOND)

    ensure_converged(first, SECOND, specs)


def test_what_was_created_anew_is_still_known(first: Scene, clean: Clean) -> None:
    """Somebody deleted it, an apply that was killed put it back, and the blueprint drops it then."""
    specs = clean(SECOND)
    statuses.delete(first.server, "NodePool", f"{first.name}-gone")
    before = first.listed()["NodePool/gone"]
    assert crash(first, FIRST, 3) == -signal.SIGKILL
    assert first.live()["NodePool/gone"]["metadata"]["uid"] != before[0]

    again(first, SECOND)

    ensure_converged(first, SECOND, specs)


def test_what_somebody_made_in_its_place_is_left_alone(first: Scene) -> None:
    """The dead run was about to create it, did not, and another one did."""
    assert crash(first, SECOND, 2, "committed", *ONE_BY_ONE) == -signal.SIGKILL
    for each in statuses.pair(f"{first.name}-new"):
        statuses.create(first.server, each)
    before = first.versions()

    again(first, KEEP | {"change": SECOND["change"]})

    assert {address: first.versions()[address] for address in before if address.endswith("new")} == {
        address: version for address, version in before.items() if address.endswith("new")
    }
    assert set(first.listed()) == {f"{kind}/{pool}" for kind in statuses.CHILDREN for pool in THIRD}
    ensure_own(first)


def test_the_next_run_says_whose_lock_it_is_and_how_to_get_rid_of_it(first: Scene, clean: Clean) -> None:
    specs = clean(SECOND)
    crash(first, SECOND, 4, "committed", *ONE_BY_ONE)
    dead = first.children[0].pid

    said = first.run("apply", SECOND, "--lock-timeout", "1s")

    assert said.code == 3
    assert f", process {dead}, since " in said.err
    line = re.search(r"delete its lock: gpupool (unlock .*)$", said.err, re.MULTILINE)
    assert line is not None
    assert gpupool(first.capsys, *shlex.split(line[1])).code == 0
    again(first, SECOND)
    ensure_converged(first, SECOND, specs)


def test_diff_says_that_something_was_interrupted(first: Scene) -> None:
    crash(first, SECOND, 4, "committed", *ONE_BY_ONE)

    said = first.run("diff", SECOND)

    assert said.code == 2
    assert "an apply was interrupted" in said.out
