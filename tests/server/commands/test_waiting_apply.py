"""An apply waits until Karpenter has taken what it wrote: classes before their pools are written, then the pools."""

import threading
from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest

from tests.cli.run import Outcome
from tests.rig.client import Client
from tests.server import statuses
from tests.server.commands.karpenter import READY, karpenter
from tests.server.commands.scene import ALONE, CHAT, TRAIN, Scene
from tests.server.objects import EC2_NODE_CLASS, changed

CHATS = ("EC2NodeClass/chat", "NodePool/chat")
TRAINS = ("EC2NodeClass/train", "NodePool/train")
ALL_WELL = dict.fromkeys((*CHATS, *TRAINS), READY)
NO_SUBNETS = "no subnets matched {a: b}"
SHORT = ("--timeout", "3s")
"""For waits that end with the time."""


def apply(scene: Scene, *arguments: str) -> Outcome:
    return scene.run("apply", "--yes", "--context", "rig", *arguments)


def in_order(said: Outcome, *lines: str) -> bool:
    """Return whether lines stand on standard error one after the other, whatever is between them."""
    rest = iter(said.err.splitlines())
    return all(line in rest for line in lines)


def test_a_pool_is_written_once_its_class_is_ready(scene: Scene) -> None:
    scene.says(CHAT, TRAIN)

    with karpenter(scene.server, ALL_WELL) as seen:
        said = apply(scene)

    assert said.code == 0, said.err
    first_of_pools = [address for address, _ in seen.seen].index("NodePool/chat")
    assert set(CHATS[:1] + TRAINS[:1]) <= {address for address, _ in seen.seen[:first_of_pools]}
    assert [
        each for address, there in seen.seen if address.startswith("EC2") for each in there if "Pool" in each
    ] == []
    assert in_order(
        said, *(f"{CHATS[0]} created", f"{CHATS[0]}: Ready", f"{CHATS[1]} created", f"{CHATS[1]}: Ready")
    )
    assert in_order(said, "4 created")
    with karpenter(scene.server, {}):
        assert apply(scene).err == "nothing to do\n"


def test_a_class_that_is_not_ready_holds_back_its_pools_alone(scene: Scene) -> None:
    scene.says(CHAT, TRAIN)
    why = f"SubnetsReady=False: NotFound: {NO_SUBNETS}"

    with karpenter(scene.server, ALL_WELL | {"EC2NodeClass/train": NO_SUBNETS}) as seen:
        said = apply(scene, *SHORT)
        there = scene.live("NodePool/train"), scene.live("NodePool/chat") is not None
        listed, pending = scene.listed(), "pending" in scene.inventory()
        seen.words |= ALL_WELL
        again = apply(scene)

    assert (said.code, there) == (7, (None, True)), said.err
    assert f"NodePool/train not tried (create): its EC2NodeClass train is not Ready: {why}\n" in said.err
    assert f"EC2NodeClass/train not ready (create): {why}\n" in said.err
    assert said.err.endswith(
        "error: apply incomplete: NodePool/train not applied. Run the same command again to continue\n"
    )
    assert (listed, pending) == ([*CHATS[:1], *TRAINS[:1], "NodePool/chat"], False)
    assert again.code == 0, again.err
    assert in_order(again, "NodePool/train created", "NodePool/train: Ready")


def test_a_pool_that_is_not_ready_in_time(scene: Scene) -> None:
    with karpenter(scene.server, {CHATS[0]: READY, CHATS[1]: "wrong in a way"}) as seen:
        said = apply(scene, *SHORT)
        again = apply(scene, *SHORT)
        seen.words[CHATS[1]] = READY
        at_last = apply(scene)

    why = "ValidationSucceeded=False: NotFound: wrong in a way"
    assert [each.code for each in (said, again, at_last)] == [6, 6, 0], at_last.err
    assert f"NodePool/chat: {why}\n" in said.err
    assert f"NodePool/chat not ready (create): {why}\n" in said.err
    assert said.err.endswith("error: applied, but not Ready in time: NodePool/chat\n")
    assert f"NodePool/chat not ready (keep): {why}\n" in again.err
    assert scene.listed() == [*CHATS]


def test_nobody_looks_at_it(scene: Scene) -> None:
    said = apply(scene, *SHORT)

    assert said.code == 7
    assert "EC2NodeClass/chat: no status yet: is Karpenter running?\n" in said.err
    assert scene.live(CHATS[1]) is None


def test_what_was_ready_before_it_was_changed_is_waited_for(scene: Scene) -> None:
    scene.apply()
    statuses.make_ready(scene.server, "chat")
    scene.says(
        CHAT.replace("accelerator: l4,", "accelerator: l4, nodeClass: {tags: {team: a}},").replace("8", "16")
    )

    late = apply(scene, *SHORT)
    with karpenter(scene.server, ALL_WELL):
        said = apply(scene)

    assert (late.code, said.code) == (7, 0), said.err
    assert "not reconciled by Karpenter since the last change (Ready=True before)" in late.err
    assert in_order(late, "EC2NodeClass/chat configured")
    assert in_order(said, "NodePool/chat configured", "NodePool/chat: Ready")


def test_what_is_ready_is_not_waited_for(scene: Scene) -> None:
    """Neither the class, which is as it was, nor what the plan leaves alone."""
    scene.says(CHAT, TRAIN)
    scene.apply()
    statuses.make_ready(scene.server, "chat", "train")
    scene.says(CHAT.replace("8", "16"), TRAIN)

    with karpenter(scene.server, {CHATS[1]: READY}) as seen:
        said = apply(scene)

    assert said.code == 0, said.err
    assert {address for address, _ in seen.seen} == {CHATS[1]}
    assert (in_order(said, "NodePool/chat configured", "NodePool/chat: Ready"), "train" in said.err) == (
        True,
        False,
    )


def test_a_class_of_somebody_else_is_waited_for_too(scene: Scene) -> None:
    scene.server.apply(changed(EC2_NODE_CLASS, b"  name: rig\n", b"  name: shared\n"))
    scene.says(ALONE)

    late = apply(scene, *SHORT)
    with karpenter(scene.server, {"EC2NodeClass/shared": READY, CHATS[1]: READY}):
        said = apply(scene)

    assert (late.code, said.code) == (7, 0), said.err
    assert "NodePool/chat not tried (create): its EC2NodeClass shared is not Ready" in late.err
    assert in_order(said, "NodePool/chat created", "NodePool/chat: Ready")


def test_a_class_that_is_deleted_meanwhile_is_not_waited_for(scene: Scene) -> None:
    """It ends at once, not when the time is up."""

    def delete(address: str) -> None:
        with Client(scene.server.access) as other:
            while other.request("GET", scene.path(address)).status != 200:
                pass
            statuses.fail(other, "EC2NodeClass", "chat", "SubnetsReady", "NotFound", NO_SUBNETS)
            other.request("DELETE", scene.path(address))

    thread = threading.Thread(target=partial(delete, CHATS[0]))
    thread.start()
    said = apply(scene, "--timeout", "50s")
    thread.join()

    assert said.code == 7
    assert in_order(said, "EC2NodeClass/chat: not waited for: does not exist")
    assert (
        "NodePool/chat not tried (create): its EC2NodeClass chat is not Ready: does not exist\n" in said.err
    )


def test_without_waiting_all_is_written_at_once(scene: Scene) -> None:
    said = apply(scene, "--wait", "none")

    assert said.code == 0
    assert "Ready" not in said.err
    assert scene.live(CHATS[1]) is not None


OVERLAY: Mapping[str, Any] = {
    "head": "nodeOverlays:\n  cheap: {price: '1', requirements: [{key: a, operator: Exists}]}\n"
}


@pytest.mark.parametrize("is_on", [True, False])
def test_overlays_are_waited_for_where_karpenter_looks_at_them(scene: Scene, *, is_on: bool) -> None:
    features = "features: [NodeOverlay], " if is_on else ""
    scene.says(CHAT, head=OVERLAY["head"])
    scene.rewrite("cluster: {", f"cluster: {{{features}")

    with karpenter(scene.server, ALL_WELL):
        said = apply(scene, *SHORT)

    assert said.code == (6 if is_on else 0), said.err
    assert ("NodeOverlay/cheap not ready (create): no status yet" in said.err) is is_on


def test_a_saved_plan_waits_for_no_overlay(scene: Scene) -> None:
    """A plan does not say whether Karpenter looks at them."""
    scene.says(CHAT, head=OVERLAY["head"])
    scene.plan()

    with karpenter(scene.server, ALL_WELL):
        said = scene.run("apply", "plan.json", *SHORT)

    assert said.code == 0, said.err
    assert in_order(said, "NodeOverlay/cheap created", "NodePool/chat: Ready")


class TestDeletions:
    """What is no longer in the blueprint goes last."""

    @pytest.fixture(autouse=True)
    def _applied(self, scene: Scene) -> None:
        scene.says(CHAT)
        scene.apply()
        statuses.make_ready(scene.server, "chat")
        scene.says(TRAIN)

    def test_once_all_is_ready(self, scene: Scene) -> None:
        with karpenter(scene.server, ALL_WELL):
            said = apply(scene, "--prune")

        assert said.code == 0, said.err
        assert in_order(said, "NodePool/train: Ready", "NodePool/chat deleted", "EC2NodeClass/chat deleted")

    @pytest.mark.parametrize(
        ("words", "code"),
        [({TRAINS[0]: NO_SUBNETS}, 7), ({TRAINS[0]: READY, TRAINS[1]: "wrong"}, 6)],
        ids=["class", "pool"],
    )
    def test_not_while_something_is_not_ready(self, scene: Scene, words: dict[str, str], code: int) -> None:
        """What goes may be the only capacity that works."""
        with karpenter(scene.server, words):
            said = apply(scene, "--prune", *SHORT)

        assert said.code == code, said.err
        assert [scene.live(each) is None for each in CHATS] == [False, False]
        assert {*CHATS} < {*scene.listed()}
        back = "NodePool/chat blocked (delete): its replacement is not Ready\n"
        assert (back in said.err) is (code == 6)
