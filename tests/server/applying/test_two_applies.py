"""Two applies at once: one after the other where they mean the same objects, side by side where they do not."""

from __future__ import annotations

import re
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from gpupool.rollout.lock import lock
from tests.rig.fault_proxy import fault_proxy
from tests.rig.faults import Late
from tests.server import leases
from tests.server.applying.ends import ensure_converged, is_true
from tests.server.applying.scenes import FIRST, ONE_BY_ONE, SECOND, SECOND_WRITES, THIRD, UPDATE, Scene, ended

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator, Sequence

    from tests.cli.run import Outcome
    from tests.rig.forwarding import Exchange
    from tests.server.applying.scenes import Clean, Pools


@pytest.fixture
def beside() -> Iterator[Callable[[Scene], Scene]]:
    """Yield a way to reach the same scene by another way, so that it is known who wrote what."""
    with ExitStack() as ways:
        made: list[Scene] = []

        def make(scene: Scene) -> Scene:
            folder = scene.folder / f"beside-{len(made)}"
            folder.mkdir()
            faulty = ways.enter_context(fault_proxy(scene.server.access))
            made.append(replace(scene, faulty=faulty, folder=folder, children=scene.children))
            return made[-1]

        yield make


@dataclass(frozen=True)
class Hold:
    """A server that takes its time until a test says otherwise."""

    over: threading.Event = field(default_factory=threading.Event)

    def strike(self, exchange: Exchange) -> None:
        while not self.over.is_set():
            exchange.pause(0.05)
        exchange.send(exchange.forward())


def working_on(scene: Scene, pools: Pools) -> tuple[subprocess.Popen[str], Hold]:
    """Start an apply, and hold it at one of its writes."""
    hold = Hold()
    slow = scene.strike(UPDATE, hold)
    working = scene.start("apply", pools, *ONE_BY_ONE)
    while not slow.struck:
        assert working.poll() is None
        time.sleep(0.02)
    return working, hold


def waiting_for(scene: Scene, pools: Pools, hold: Hold) -> Outcome:
    """Run an apply that finds the lock taken, and let the holder go on then."""
    waiting = scene.start("apply", pools)
    while scene.tries("GET leases") < 2 and waiting.poll() is None:
        time.sleep(0.02)
    hold.over.set()
    return ended(waiting)


def times(scene: Scene) -> list[float]:
    """Return when each write came, but for those that are about the lock itself."""
    return [each.at for each in scene.faulty.seen if each.is_committed and "/leases" not in each.path]


def ensure_apart(scenes: Sequence[Scene]) -> None:
    """Ensure that nobody wrote between the first and the last write of somebody else."""
    spans = sorted((min(found), max(found)) for each in scenes if (found := times(each)))
    assert all(one[1] < other[0] for one, other in pairwise(spans))


@pytest.mark.parametrize("seed", range(3))
def test_the_same_blueprint(first: Scene, beside: Callable[[Scene], Scene], clean: Clean, seed: int) -> None:
    """Whoever comes second finds that all is done."""
    specs = clean(SECOND)
    other = beside(first)
    # So that they meet at different moments.
    first.strike("GET NodePool", Late(0.1 * seed))

    children = [each.start("apply", SECOND) for each in (first, other)]
    said = [ended(child) for child in children]

    assert [each.code for each in said] == [0, 0], said
    ensure_apart([first, other])
    written = [*first.written(), *other.written()]
    for once in ("PATCH EC2NodeClass/new", UPDATE, "DELETE NodePool/gone", "DELETE EC2NodeClass/gone"):
        assert written.count(once) == 1
    ensure_converged(first, SECOND, specs)


def test_four_of_the_same_blueprint_where_nothing_was(
    scene: Scene, beside: Callable[[Scene], Scene], clean: Clean
) -> None:
    specs = clean(SECOND)
    scenes = [scene, *(beside(scene) for _ in range(3))]

    children = [each.start("apply", SECOND) for each in scenes]
    said = [ended(child) for child in children]

    assert [each.code for each in said] == [0] * 4, said
    ensure_apart(scenes)
    ensure_converged(scene, SECOND, specs)


def test_who_does_not_wait_is_told_who_is_at_work(
    first: Scene, beside: Callable[[Scene], Scene], clean: Clean
) -> None:
    specs = clean(SECOND)
    other = beside(first)
    working, hold = working_on(first, SECOND)

    said = ended(other.start("apply", SECOND, "--lock-timeout", "1s"))

    assert said.code == 3
    holder = leases.holder(first.server, first.lock)
    assert holder.split("/")[1] == str(working.pid)
    assert f", process {working.pid}, since " in said.err
    assert re.search(rf"gpupool unlock {holder.split('/')[2]} -f ", said.err)
    assert other.written() == []
    hold.over.set()
    assert ended(working).code == 0
    ensure_converged(first, SECOND, specs)


def test_who_waits_says_so(first: Scene, beside: Callable[[Scene], Scene], clean: Clean) -> None:
    specs = clean(SECOND)
    other = beside(first)
    working, hold = working_on(first, SECOND)

    said = waiting_for(other, SECOND, hold)

    assert said.code == 0, said.err
    assert f"waiting for the lock kube-system/{first.lock}: held by " in said.err
    assert "\n6 unchanged" in said.err
    assert [each for each in other.written() if "configmaps" not in each and "leases" not in each] == []
    assert ended(working).code == 0
    ensure_apart([first, other])
    ensure_converged(first, SECOND, specs)


@pytest.mark.parametrize(
    ("one", "next_", "code"),
    [(SECOND, THIRD, 5), (THIRD, SECOND, 0), (SECOND, FIRST, 5)],
    ids=["one that has less", "one that has more", "back"],
)
def test_another_version_of_the_blueprint(
    first: Scene, beside: Callable[[Scene], Scene], clean: Clean, one: Pools, next_: Pools, code: int
) -> None:
    """What the second one planned is no longer all that there is to do, or it still is."""
    specs = clean(one if code else next_)
    other = beside(first)
    before = first.start("apply", THIRD | {"change": FIRST["change"]}, "--prune")
    assert ended(before).code == 0
    working, hold = working_on(first, one)

    said = waiting_for(other, next_, hold)

    assert ended(working).code == 0
    assert said.code == code, said.err
    assert is_true(first)
    ensure_apart([first, other])
    if code:
        assert "the plan is stale" in said.err
        assert other.written() == ["POST leases", "DELETE leases"]
    ensure_converged(first, one if code else next_, specs)


def test_different_blueprints(
    first: Scene, another: Callable[[], Scene], beside: Callable[[Scene], Scene], clean: Clean
) -> None:
    specs, others = clean(SECOND), clean(THIRD)
    neighbour = beside(another())

    children = [first.start("apply", SECOND), neighbour.start("apply", THIRD)]
    said = [ended(child) for child in children]

    assert [each.code for each in said] == [0, 0], said
    ensure_converged(first, SECOND, specs)
    ensure_converged(neighbour, THIRD, others)


def test_a_saved_plan_is_applied_once(first: Scene, beside: Callable[[Scene], Scene], clean: Clean) -> None:
    specs = clean(SECOND)
    other, plan = beside(first), first.folder / "plan.json"
    assert first.run("plan", SECOND, "--prune", "-o", f"json={plan}").code == 0
    saved = ("apply", str(plan), "--wait", "none", "--kubeconfig")

    children = [each.start_words(*saved, str(each.faulty.kubeconfig(each.folder))) for each in (first, other)]
    said = [ended(child) for child in children]

    assert sorted(each.code for each in said) == [0, 5], said
    assert any("another run applied this blueprint since" in each.err for each in said)
    ensure_apart([first, other])
    ensure_converged(first, SECOND, specs)


def test_a_run_whose_lock_is_deleted_ends(
    first: Scene, beside: Callable[[Scene], Scene], clean: Clean
) -> None:
    """Somebody believed it dead, and another version of the blueprint was applied in the meantime."""
    specs, other = clean(THIRD), beside(first)
    working, hold = working_on(first, SECOND)

    other.unlock()
    assert other.run("apply", THIRD).code == 0
    time.sleep(lock.TRUST_SECONDS)
    hold.over.set()
    said = ended(working)

    assert said.code == 7
    assert f"the lock kube-system/{first.lock} is lost: it was deleted" in said.err
    assert set(first.written()) <= {*SECOND_WRITES[:5]}
    ensure_converged(first, THIRD, specs)
