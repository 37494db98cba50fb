"""Deleted means gone, on the real server: what holds an object is waited for and said, and the object stays listed."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.rig.client import Client
from tests.server import leases, statuses
from tests.server.commands.scene import CHAT, NAME, QUICK, TRAIN, Scene

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.cli.run import Outcome

HOLD: Final = "karpenter.k8s.aws/termination"
POOL, CLASS = "NodePool/train", "EC2NodeClass/train"
KEPT: Final = ["EC2NodeClass/chat", "NodePool/chat"]
SHORT: Final = ("--timeout", "4s")
"""For waits that end with the time."""


@pytest.fixture
def holding(scene: Scene) -> Scene:
    """A pool that is no longer in the blueprint, and whose class has Karpenter's finalizer."""
    scene.says(CHAT, TRAIN)
    scene.apply()
    statuses.make_ready(scene.server, "chat", "train")
    scene.edit(CLASS, {"metadata": {"finalizers": [HOLD]}}, by="karpenter")
    scene.says(CHAT)
    return scene


def prune(scene: Scene, *arguments: str) -> Outcome:
    return scene.run("apply", "--yes", "--context", "rig", "--prune", *arguments)


@contextmanager
def meanwhile(
    scene: Scene, is_time: Callable[[Client], object], act: Callable[[Client], object]
) -> Iterator[None]:
    """Let somebody else do something as soon as it is time for it."""
    done = threading.Event()

    def work() -> None:
        with Client(scene.server.access) as other:
            while not done.wait(0.05):
                if is_time(other):
                    act(other)
                    return

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def seen(other: Client, kind: str) -> dict[str, Any]:
    """Return what is there of that name; nothing of what is gone."""
    answer = other.request("GET", f"{statuses.SERVED[kind]}/train")
    return answer.body if answer.status == 200 else {}


def is_leaving(other: Client) -> bool:
    return "deletionTimestamp" in seen(other, "EC2NodeClass").get("metadata", {})


def is_closed(other: Client) -> bool:
    limits = seen(other, "NodePool").get("spec", {}).get("limits", {})
    return bool(limits.get("cpu") == "0")


def is_at_work(other: Client) -> bool:
    return bool(leases.holder(other, f"gpupool-{NAME}"))


def let_go(other: Client) -> None:
    statuses.patch(other, "EC2NodeClass", "train", {"metadata": {"finalizers": None}})


def end_node(other: Client) -> None:
    statuses.delete(other, "NodeClaim", "node")


def test_a_finalizer_is_waited_for(holding: Scene) -> None:
    with meanwhile(holding, is_leaving, let_go):
        said = prune(holding)

    assert said.code == 0, said.err
    assert f"{CLASS} deleting (finalizer {HOLD})\n" in said.err
    assert "2 unchanged, 2 deleted\n" in said.err
    assert (holding.live(CLASS), holding.listed()) == (None, KEPT)


def test_what_is_not_gone_in_time_is_said_and_listed(holding: Scene) -> None:
    said = prune(holding, *SHORT)
    listed, shown = holding.listed(), holding.run("plan", "--prune")
    with meanwhile(holding, is_at_work, let_go):
        again = prune(holding)

    assert said.code == 6
    assert said.err.endswith(f"error: not deleted in time: {CLASS} deleting (finalizer {HOLD})\n")
    assert listed == sorted([*KEPT, CLASS])
    assert "no longer in the blueprint; it is being deleted since " in shown.out
    assert (again.code, holding.live(CLASS), holding.listed()) == (0, None, KEPT), again.err


def test_what_went_between_two_runs_is_no_longer_listed(holding: Scene) -> None:
    """There is nothing else to do, and still the inventory is brought up to date."""
    assert prune(holding, *SHORT).code == 6
    let_go(holding.server)
    assert holding.live(CLASS) is None

    said = prune(holding)
    again = prune(holding)

    assert (said.code, again.code, holding.listed()) == (0, 0, KEPT), said.err
    assert again.err.endswith("nothing to do\n")


def deletions(scene: Scene, mark: int) -> list[str]:
    """Return what was deleted since, by the server's own log."""
    events = scene.server.audit.since(mark)
    kinds = {path.rpartition("/")[2]: kind for kind, path in statuses.SERVED.items()}
    return [kinds[each.resource] for each in events if each.verb == "delete" and each.resource in kinds]


def test_the_class_of_a_pool_that_goes_with_its_nodes_goes_after_them(holding: Scene) -> None:
    statuses.claim(holding.server, "node", "train")
    let_go(holding.server)
    mark = holding.server.audit.mark()

    with meanwhile(holding, lambda other: not seen(other, "NodePool"), end_node):
        said = prune(holding, "--allow-delete", POOL)

    assert said.code == 0, said.err
    assert deletions(holding, mark) == ["NodePool", "NodeClaim", "EC2NodeClass"]
    assert holding.listed() == KEPT


def test_a_pool_is_drained_and_then_goes(holding: Scene) -> None:
    statuses.claim(holding.server, "node", "train")
    let_go(holding.server)
    mark = holding.server.audit.mark()

    with meanwhile(holding, is_closed, end_node):
        said = prune(holding, "--drain")

    assert said.code == 0, said.err
    assert f"{POOL} launches no more nodes\n" in said.err
    assert deletions(holding, mark) == ["NodeClaim", "NodePool", "EC2NodeClass"]
    assert holding.listed() == KEPT


def test_a_pool_that_is_not_empty_in_time_is_as_the_blueprint_says_once_it_has_it_again(
    holding: Scene,
) -> None:
    statuses.claim(holding.server, "node", "train")
    limits = holding.there(POOL)["spec"].get("limits")

    late = prune(holding, "--drain", *SHORT)
    closed = is_closed(holding.server)
    holding.says(CHAT, TRAIN)
    holding.apply()

    assert (late.code, closed) == (3, True), late.err
    assert f"{POOL}: it still has 1 NodeClaim" in late.err
    assert holding.there(POOL)["spec"].get("limits") == limits


def test_what_is_wanted_again_while_it_goes_holds_back_itself_alone(holding: Scene) -> None:
    assert prune(holding, *QUICK).code == 0
    holding.says(CHAT.replace("gpus: 8", "gpus: 16"), TRAIN)

    said = holding.run("apply", "--yes", "--context", "rig", *QUICK)
    limits = holding.there("NodePool/chat")["spec"]["limits"]
    let_go(holding.server)
    holding.apply()

    assert said.code == 3
    assert f"blocked: {CLASS}: it is being deleted since " in said.err
    assert f"held by {HOLD}. Run the same command again when it is gone\n" in said.err
    assert limits == {"nvidia.com/gpu": 16}
    assert holding.listed() == sorted([*KEPT, CLASS, POOL])
