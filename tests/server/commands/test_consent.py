"""Who is asked before an apply, and what counts as an answer."""

import pytest

from tests.server.commands.karpenter import READY, karpenter
from tests.server.commands.scene import CHAT, QUICK, TRAIN, Scene
from tests.server.commands.terminal import CTRL_C, CTRL_D, typed

APPLY = ("apply", *QUICK)
QUESTION = "Apply these changes? Only `yes` is accepted: "
NAME = "Type the name of the NodePool train to delete it: "


def test_yes(scene: Scene) -> None:
    """Nobody has to say which cluster is meant where somebody reads it above the question."""
    said = typed(APPLY, (QUESTION, "yes\n"))

    assert (said.code, scene.listed()) == (0, ["EC2NodeClass/chat", "NodePool/chat"]), said.lines
    assert said.lines[1].startswith(f"Cluster    rig, {scene.server.url}, uid ")
    assert f"{QUESTION}yes" in said.lines


@pytest.mark.parametrize("answer", ["y\n", "no\n", "YES\n", " \nno\n", "chat\n"])
def test_anything_else(scene: Scene, answer: str) -> None:
    before = scene.versions()

    said = typed(APPLY, (QUESTION, answer))

    assert (said.code, said.lines[-1]) == (3, "error: not confirmed; nothing was applied")
    assert (scene.live("NodePool/chat"), scene.versions()) == (None, before)


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D], ids=["interrupt", "end"])
def test_no_answer(scene: Scene, key: str) -> None:
    before = scene.versions()

    said = typed(APPLY, (QUESTION, key))

    assert said.code == 130
    assert (scene.live("NodePool/chat"), scene.versions()) == (None, before)


@pytest.mark.parametrize("arguments", [("--yes",), ("--yes", "--prune")])
def test_nothing_is_asked(scene: Scene, arguments: tuple[str, ...]) -> None:
    assert typed([*APPLY, *arguments]).code == 0
    assert scene.live("NodePool/chat") is not None


def test_nothing_to_do(scene: Scene) -> None:
    scene.apply()

    said = typed(APPLY)

    assert (said.code, said.lines[-1]) == (0, "nothing to do")


def test_a_saved_plan(scene: Scene) -> None:
    scene.plan()

    said = typed(["apply", "plan.json", *QUICK])

    assert (said.code, QUESTION in said.raw) == (0, False)


class TestDeletions:
    """A pool that is deleted is named by whoever agrees to it."""

    @pytest.fixture(autouse=True)
    def _applied(self, scene: Scene) -> None:
        scene.says(CHAT, TRAIN)
        scene.apply()
        scene.says(CHAT)

    def test_the_name(self, scene: Scene) -> None:
        said = typed([*APPLY, "--prune"], (NAME, "train\n"))

        assert said.code == 0, said.lines
        assert (scene.live("NodePool/train"), scene.live("EC2NodeClass/train")) == (None, None)

    @pytest.mark.parametrize("answer", ["yes\n", "chat\n", "trian\n"])
    def test_another_answer(self, scene: Scene, answer: str) -> None:
        said = typed([*APPLY, "--prune"], (NAME, answer))

        assert (said.code, said.lines[-1]) == (3, "error: train was not confirmed; nothing was applied")
        assert scene.live("NodePool/train") is not None

    def test_nothing_is_asked_where_nothing_is_deleted(self, scene: Scene) -> None:
        said = typed(APPLY)

        assert (said.code, said.lines[-1]) == (0, "nothing to do")
        assert scene.live("NodePool/train") is not None


def test_waiting_shows_a_line_for_each_object(scene: Scene) -> None:
    with karpenter(scene.server, {"EC2NodeClass/chat": READY, "NodePool/chat": READY}):
        said = typed(["apply"], (QUESTION, "yes\n"))

    assert said.code == 0, said.lines
    assert [line for line in said.lines if line.endswith(": Ready")] == [
        "EC2NodeClass/chat: Ready",
        "NodePool/chat: Ready",
    ]
    assert said.raw.count("\x1b[?25l") == said.raw.count("\x1b[?25h") == 1
