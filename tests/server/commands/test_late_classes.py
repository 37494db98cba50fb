"""What an apply says where a class does not get Ready: why, what state the cluster is in, the ways on and back."""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.run import Outcome
from tests.rig.fault_proxy import FaultProxy
from tests.rollout.test_commit import git
from tests.server import statuses
from tests.server.commands.karpenter import READY, karpenter
from tests.server.commands.scene import ALONE, CHAT, TRAIN, Scene
from tests.server.objects import EC2_NODE_CLASS, changed

CLASS = "EC2NodeClass/train"
ALL_WELL = {f"{kind}/{name}": READY for kind in ("EC2NodeClass", "NodePool") for name in ("chat", "train")}
NO_SUBNETS = "no subnets matched"
CHAT_ALONE = {"EC2NodeClass/chat": READY, "NodePool/chat": READY}
"""Where the other class is deleted, nobody writes a status into it any more."""

LATE = ALL_WELL | {CLASS: NO_SUBNETS}
SHORT = ("--timeout", "3s")
AGAIN = "gpupool apply -f gpupool.yaml --context rig"
NODES = "Existing nodes keep running; a pool launches no new nodes until its class is Ready"
TAGGED = TRAIN.replace("h100", "h100, nodeClass: {tags: {team: a}}")
VARIABLES = ("GITHUB_SHA", "CI_COMMIT_SHA", "BITBUCKET_COMMIT", "BUILDKITE_COMMIT", "GIT_COMMIT")


def apply(scene: Scene, *arguments: str) -> Outcome:
    return scene.run("apply", "--yes", "--context", "rig", *arguments)


def line_of(said: Outcome, start: str) -> str:
    """Return the one line that begins so, without its beginning; nothing where there is none."""
    found = [each.removeprefix(start) for each in said.err.splitlines() if each.startswith(start)]
    assert len(found) < 2, said.err
    return found[0] if found else ""


def paste(scene: Scene, line: str) -> list[Outcome]:
    """Run what stands in a line behind `then run: `, as somebody would who pastes it into a shell."""
    pasted = line.partition("then run: ")[2].partition(";")[0]
    commands = [shlex.split(each) for each in pasted.split(" && ")]
    assert {each[0] for each in commands} == {"gpupool"}
    return [scene.run(*each[1:]) for each in commands]


def commit(text: Callable[[], None]) -> str:
    """Write a blueprint and commit it; give the commit."""
    text()
    git(Path(), "add", "gpupool.yaml")
    git(Path(), "commit", "-q", "-m", "change")
    return git(Path(), "rev-parse", "HEAD")


@pytest.fixture(autouse=True)
def _repository(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001 - it makes the folder
    for each in VARIABLES:
        monkeypatch.delenv(each, raising=False)
    git(Path(), "init", "-q")


class TestNew:
    """A class that was not there before."""

    @pytest.fixture
    def good(self, scene: Scene) -> str:
        """The commit of an apply after which all was well; its blueprint has no such class."""
        found = commit(lambda: scene.says(CHAT))
        with karpenter(scene.server, ALL_WELL):
            assert apply(scene).code == 0
        return found

    @pytest.fixture
    def late(self, scene: Scene, good: str) -> Outcome:
        """What the apply of the next commit says."""
        assert commit(lambda: scene.says(CHAT, TRAIN)) != good
        with karpenter(scene.server, LATE):
            return apply(scene, *SHORT)

    def test_what_is_said(self, late: Outcome, good: str) -> None:
        assert late.code == 7
        assert late.err.splitlines()[-4:] == [
            f"state: new and not Ready: {CLASS}; not written: NodePool/train. {NODES}",
            f"to continue: correct the blueprint, then run: {AGAIN} --yes",
            (
                f"to go back: git checkout {good[:12]}, then run: {AGAIN} --prune --yes; a changed class gets its"
                " old fields back; a class that this commit does not have is deleted"
            ),
            "error: apply incomplete: NodePool/train not applied. Run the same command again to continue",
        ]

    def test_the_way_on_ends_well(self, scene: Scene, late: Outcome) -> None:
        scene.says(CHAT, TAGGED)
        with karpenter(scene.server, ALL_WELL):
            (said,) = paste(scene, line_of(late, "to continue: "))

        assert said.code == 0, said.err
        assert scene.live("NodePool/train") is not None

    def test_the_way_back_ends_well(self, scene: Scene, late: Outcome) -> None:
        back = line_of(late, "to go back: ")
        git(Path(), *shlex.split(back.partition(",")[0])[1:])
        with karpenter(scene.server, CHAT_ALONE):
            (said,) = paste(scene, back)

        assert said.code == 0, said.err
        assert [scene.live(each) is None for each in (CLASS, "NodePool/chat")] == [True, False]
        assert scene.listed() == ["EC2NodeClass/chat", "NodePool/chat"]

    def test_the_same_again_knows_the_way_back_still(self, scene: Scene, late: Outcome, good: str) -> None:
        """The apply that failed is the last in the history, and none to go back to."""
        assert late.code == 7
        with karpenter(scene.server, LATE):
            again = apply(scene, *SHORT)

        assert line_of(again, "state: ").startswith(f"not changed by this run, and not Ready: {CLASS}")
        assert line_of(again, "to go back: ").startswith(f"git checkout {good[:12]}, then run: ")

    def test_of_a_saved_plan_a_new_one_is_made(self, scene: Scene, good: str) -> None:
        assert good
        scene.says(CHAT, TRAIN)
        scene.plan()
        with karpenter(scene.server, LATE):
            late = scene.run("apply", "plan.json", *SHORT)
        with karpenter(scene.server, ALL_WELL):
            said = paste(scene, line_of(late, "to continue: "))

        assert late.code == 7
        assert [each.code for each in said] == [0, 0], said


class TestFirst:
    """A class of the first apply of all."""

    def test_there_is_nothing_to_go_back_to(self, scene: Scene) -> None:
        scene.says(CHAT, TRAIN)
        with karpenter(scene.server, LATE):
            late = apply(scene, *SHORT)
        back = line_of(late, "to go back: ")
        scene.says(CHAT)
        with karpenter(scene.server, CHAT_ALONE):
            (said,) = paste(scene, back)

        assert back.startswith("take the pools of that class out of the blueprint, then run: ")
        assert (said.code, scene.live(CLASS)) == (0, None), said.err


class TestChanged:
    """A class on which nodes may run."""

    @pytest.mark.parametrize("code", [6, 7])
    def test_it_gets_its_old_fields_back(self, scene: Scene, code: int) -> None:
        good = commit(lambda: scene.says(CHAT, TRAIN))
        with karpenter(scene.server, ALL_WELL):
            assert apply(scene).code == 0
        # Where a pool is to be changed too, it waits for its class: a part is written then.
        commit(lambda: scene.says(CHAT, TAGGED if code == 6 else TAGGED.replace("h100,", "h100, weight: 7,")))

        with karpenter(scene.server, LATE):
            late = apply(scene, *SHORT)
        tagged = scene.there(CLASS)["spec"].get("tags")
        back = line_of(late, "to go back: ")
        git(Path(), "checkout", "-q", good)
        with karpenter(scene.server, ALL_WELL):
            (said,) = paste(scene, back)

        written = "; not written: NodePool/train" * (code == 7)
        assert late.code == code, late.err
        assert line_of(late, "state: ") == f"changed and not Ready: {CLASS}{written}. {NODES}"
        assert back == (
            f"git checkout {good[:12]}, then run: {AGAIN} --yes; a changed class gets its old fields back"
        )
        assert said.code == 0, said.err
        assert ("team" in tagged, "team" in scene.there(CLASS)["spec"].get("tags", {})) == (True, False)

    def test_without_a_commit_it_is_said_in_words(self, scene: Scene) -> None:
        scene.says(CHAT, TRAIN)
        with karpenter(scene.server, ALL_WELL):
            assert apply(scene).code == 0
        scene.says(CHAT, TAGGED)

        with karpenter(scene.server, LATE):
            late = apply(scene, *SHORT, "--on-conflict", "take")

        assert line_of(late, "to go back: ").startswith(
            f"check out the commit before, then run: {AGAIN} --on-conflict take --yes;"
        )


class TestOthers:
    """What is not this apply's to take back."""

    def test_a_class_of_somebody_else(self, scene: Scene) -> None:
        scene.server.apply(changed(EC2_NODE_CLASS, b"  name: rig\n", b"  name: shared\n"))
        statuses.fail(scene.server, "EC2NodeClass", "shared", "SubnetsReady", "NotFound", NO_SUBNETS)
        statuses.record(scene.server, "EC2NodeClass/shared", "Denied", "AWS says no")
        scene.says(ALONE)

        late = apply(scene, *SHORT)

        shared = "EC2NodeClass/shared"
        assert late.code == 7
        assert f"{shared} event Denied (once, last at 2026-11-21T10:00:00Z): AWS says no\n" in late.err
        assert line_of(late, "state: ") == (
            f"not changed by this run, and not Ready: {shared}; not written: NodePool/chat. {NODES}"
        )
        assert line_of(late, "to continue: ").startswith(f"correct {shared} where it is managed, then run: ")
        assert line_of(late, "to go back: ") == ""

    def test_a_class_that_was_taken_over_at_first(self, scene: Scene) -> None:
        """To prune it would delete what was there before gpupool."""
        scene.server.apply(changed(EC2_NODE_CLASS, b"  name: rig\n", b"  name: train\n"))
        scene.says(TRAIN)

        late = apply(scene, *SHORT, "--adopt", CLASS)

        assert late.code == 7, late.err
        assert line_of(late, "state: ").startswith(
            f"changed and not Ready: {CLASS}; not written: NodePool/train."
        )
        assert line_of(late, "to go back: ") == ""

    def test_a_pool_alone(self, scene: Scene) -> None:
        with karpenter(scene.server, {"EC2NodeClass/chat": READY, "NodePool/chat": "wrong in a way"}):
            late = apply(scene, *SHORT)

        assert late.code == 6
        assert [line_of(late, each) for each in ("state: ", "to continue: ", "to go back: ")] == ["", "", ""]

    def test_a_class_that_is_gone(self, scene: Scene) -> None:
        """There is nothing to correct: the same command makes it anew."""
        scene.apply()
        statuses.fail(scene.server, "EC2NodeClass", "chat", "SubnetsReady", "NotFound", NO_SUBNETS)
        scene.hold("EC2NodeClass/chat")
        scene.says(CHAT.replace("8", "16"))

        late = apply(scene, *SHORT)

        assert late.code in {3, 7}, late.err
        assert line_of(late, "state: ") == ""


class TestEvents:
    """What was recorded of an object beside its status."""

    def test_one_look_after_the_wait(self, scene: Scene, faulty: FaultProxy, tmp_path: Path) -> None:
        scene.apply()
        statuses.make_ready(scene.server, "chat", kinds=["EC2NodeClass"])
        statuses.fail(scene.server, "NodePool", "chat", "ValidationSucceeded", "Wrong", "in a way")
        statuses.record(scene.server, "NodePool/chat", "NoTypes", "all filtered out", minute=3, count=4)
        statuses.record(scene.server, "EC2NodeClass/chat", "Old", "all is well since")
        way = str(faulty.kubeconfig(tmp_path))
        faulty.forget()

        late = scene.run("apply", "--yes", "--kubeconfig", way, "--context", "rig", *SHORT)

        looks = [each for each in faulty.seen if each.path == statuses.EVENTS]
        lists = [each for each in faulty.seen if each.path == statuses.SERVED["NodePool"]]
        assert late.code == 6
        assert line_of(late, "NodePool/chat event ") == (
            "NoTypes (4 times, last at 2026-11-21T10:03:00Z): all filtered out"
        )
        assert "all is well since" not in late.err
        assert (len(looks), len(lists) > 3, looks[0].at > lists[-1].at) == (1, True, True)

    def test_it_quotes_no_secret(self, scene: Scene) -> None:
        """Neither what the blueprint calls sensitive in another object, nor user data."""
        words = "nodeClass: {userData: 'export LICENSE=Xk29-ffp1', tags: {licence: lic-55-b7-9d}}"
        scene.says(CHAT, TRAIN.replace("h100", f"h100, {words}"), head="sensitive: [licence]\n")
        scene.apply()
        statuses.make_ready(scene.server, "train", kinds=["NodePool"])
        refused = "AWS refused: licence=lic-55-b7-9d"
        statuses.fail(scene.server, "EC2NodeClass", "train", "ValidationSucceeded", "Invalid", refused)
        statuses.make_ready(scene.server, "chat", kinds=["NodePool"])
        statuses.fail(scene.server, "EC2NodeClass", "chat", "SubnetsReady", "NotFound", NO_SUBNETS)
        statuses.record(scene.server, "EC2NodeClass/chat", "Denied", "no: LICENSE=Xk29-ffp1, lic-55-b7-9d")

        late = apply(scene, *SHORT)

        assert late.code == 6
        assert "): no: (sensitive), (sensitive)\n" in late.err
        assert "ValidationSucceeded=False: Invalid: AWS refused: licence=(sensitive)\n" in late.err
        assert [word for word in ("ffp1", "55-b7") if word in late.err + late.out] == []


def test_what_only_karpenter_s_log_has_is_looked_for_there(scene: Scene) -> None:
    """A role or an AMI date that AWS does not know leaves nothing in the status and no event."""
    scene.apply()
    statuses.make_ready(scene.server, "chat", kinds=["NodePool"])
    conditions = {"SubnetsReady": statuses.TRUE, "AMIsReady": statuses.AWAITED, "Ready": statuses.AWAITED}
    statuses.say(scene.server, "EC2NodeClass", "chat", conditions)

    late = apply(scene, *SHORT)

    assert late.code == 6
    assert (
        "EC2NodeClass/chat not ready (keep): no result for AMIsReady (spec.amiSelectorTerms: al2023@v20260810):"
        " Karpenter failed, and the error is only in its log\n"
    ) in late.err
    assert line_of(late, "to continue: ") == (
        "find the error with `kubectl logs -n kube-system -l app.kubernetes.io/name=karpenter --tail=-1 | grep"
        """ '"EC2NodeClass":{"name":"chat"}'` (-n: where Karpenter runs), correct the blueprint, then run:"""
        f" {AGAIN} --yes"
    )
