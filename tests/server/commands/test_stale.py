"""A saved plan is applied as long as it is true: what makes it untrue, and what does not."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from gpupool.rendering.roles import RoleScope
from tests.cli.run import Outcome
from tests.server import statuses
from tests.server.commands.scene import CHAT, NAME, QUICK, TRAIN, Scene
from tests.server.identities import granted_but
from tests.server.objects import NODE_POOL, changed

POOL, CLASS = "NodePool/chat", "EC2NodeClass/chat"
MORE = CHAT.replace("gpus: 8", "gpus: 16")
"""What the plan is for: the limit of a pool that is there."""

PART_OF = "applyset.kubernetes.io/part-of"
ELSEWHERE = f"{POOL} was changed since, in nothing that the plan touches\n"

Act = Callable[[Scene], None]


def limit(scene: Scene, address: str = POOL) -> int:
    found = scene.there(address)["spec"]["limits"]["nvidia.com/gpu"]
    assert isinstance(found, int)
    return found


@pytest.fixture
def planned(scene: Scene) -> Scene:
    """A pool with a limit of 8, and a plan that makes it 16."""
    scene.apply()
    scene.says(MORE)
    plan = scene.plan()
    assert [(each.address, each.actions) for each in plan.changes] == [
        (CLASS, ("no-op",)),
        (POOL, ("update",)),
    ]
    return scene


def apply_plan(scene: Scene, *arguments: str) -> Outcome:
    return scene.run("apply", "plan.json", *QUICK, *arguments)


def edited(patch: dict[str, object], address: str = POOL, by: str = "kubectl-edit") -> Act:
    return lambda scene: scene.edit(address, patch, by)


def anew(scene: Scene) -> None:
    scene.delete(POOL)
    scene.create(changed(NODE_POOL, b"  name: rig\n", b"  name: chat\n"))


def another_apply(scene: Scene) -> None:
    scene.says(CHAT.replace("gpus: 8", "gpus: 12"))
    scene.apply()


BESIDE = f"{POOL}\n  approved: spec.limits[nvidia.com/gpu]: 8 -> 16\n"
STALE: dict[str, tuple[Act, list[str]]] = {
    "the planned field, edited": (
        edited({"spec": {"limits": {"nvidia.com/gpu": 12}}}),
        [
            f"{BESIDE}  now:      spec.limits[nvidia.com/gpu]: 12 -> 16\n",
            "  now:      spec.limits[nvidia.com/gpu] is owned by kubectl-edit now\n",
            f"error: the plan is stale: {POOL} was changed since",
        ],
    ),
    "the planned field, applied by another tool": (
        lambda scene: scene.impose(POOL, {"limits": {"nvidia.com/gpu": 12}}, "argocd-controller"),
        [BESIDE, "owned by argocd-controller now\n"],
    ),
    "another field of the blueprint": (
        edited({"spec": {"template": {"spec": {"expireAfter": "24h"}}}}),
        [BESIDE, "  now:      spec.template.spec.expireAfter: 24h -> 336h\n"],
    ),
    "a field of an object that the plan leaves as it is": (
        edited({"spec": {"role": "another"}}, CLASS),
        [f"{CLASS}\n  approved: no-op\n  now:      spec.role: another -> KarpenterNodeRole-my-cluster\n"],
    ),
    "a label of gpupool's": (
        edited({"metadata": {"labels": {"gpupool.dev/blueprint": "another"}}}),
        [BESIDE, "metadata.labels[gpupool.dev/blueprint]: another -> demo\n"],
    ),
    "a label of gpupool's on an object that the plan leaves as it is": (
        edited({"metadata": {"labels": {"gpupool.dev/blueprint": None}}}, CLASS),
        [f"{CLASS}\n  approved: no-op\n  now:      metadata.labels[gpupool.dev/blueprint]: None -> demo\n"],
    ),
    "whose it is": (
        edited({"metadata": {"labels": {PART_OF: "applyset-of-another-tool"}}}),
        [BESIDE, f"it belongs to another ApplySet ({PART_OF}: applyset-of-another-tool)"],
    ),
    "deleted": (lambda scene: scene.delete(POOL), [f"{BESIDE}  now:      create\n", f"{POOL} was deleted since"]),
    "deleted and created anew": (anew, [BESIDE, f"{POOL} was deleted and created anew since"]),
    "about to be deleted": (
        lambda scene: scene.hold(POOL), [BESIDE, "  now:      it is being deleted since ", "example.com/hold"],
    ),
    "another apply in between": (
        another_apply,
        [
            f"{BESIDE}  now:      spec.limits[nvidia.com/gpu]: 12 -> 16\n",
            "another run applied this blueprint since (the inventory's serial is 2, and was 1)",
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("act", "words"), STALE.values(), ids=STALE)
def test_a_plan_that_is_no_longer_true_is_refused(planned: Scene, act: Act, words: list[str]) -> None:
    act(planned)
    before = planned.versions()

    said = apply_plan(planned)

    assert said.code == 5, said.err
    assert [each for each in words if each not in said.err] == []
    assert said.err.endswith(". Make a new one\n")
    assert planned.versions() == before


KARPENTER = {"karpenter.sh/nodepool-hash": "1", "karpenter.sh/nodepool-hash-version": "v3"}
TRUE: dict[str, tuple[Act, str]] = {
    "a status, written again and again": (
        lambda scene: statuses.make_ready(scene.server, "chat", "chat", "chat"), "",
    ),
    "Karpenter's hash": (edited({"metadata": {"annotations": KARPENTER}}, by="karpenter"), ""),
    "kubectl's own annotation": (
        edited({"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"}}}), "",
    ),
    "a label and an annotation of others": (
        edited({"metadata": {"labels": {"team": "a"}, "annotations": {"example.com/contact": "b"}}}), "",
    ),
    "a field that the blueprint does not say": (edited({"spec": {"weight": 7}}), ELSEWHERE),
    "such a field of an object that the plan leaves as it is": (
        edited({"spec": {"tags": {"team": "a"}}}, CLASS), ELSEWHERE.replace(POOL, CLASS),
    ),
    "the planned field, as the plan says": (edited({"spec": {"limits": {"nvidia.com/gpu": 16}}}), ELSEWHERE),
}  # fmt: skip


@pytest.mark.parametrize(("act", "note"), TRUE.values(), ids=TRUE)
def test_a_plan_that_is_still_true_is_applied(planned: Scene, act: Act, note: str) -> None:
    act(planned)
    foreign = planned.there(POOL)["metadata"]["labels"].get("team"), planned.there(POOL)["spec"].get("weight")

    said = apply_plan(planned)

    assert (said.code, limit(planned)) == (0, 16), said.err
    assert said.err.count("was changed since") == bool(note)
    assert note in said.err
    assert (
        planned.there(POOL)["metadata"]["labels"].get("team"),
        planned.there(POOL)["spec"].get("weight"),
    ) == foreign
    assert planned.run("diff").code == 0


def test_what_people_did_before_the_blueprint_said_so_becomes_gpupool_s(planned: Scene) -> None:
    """What the blueprint says is gpupool's own, whoever wrote it first; who did so owns it too, until it changes."""
    planned.edit(POOL, {"spec": {"limits": {"nvidia.com/gpu": 16}}})
    shown = planned.run("diff")
    applied = planned.apply()
    settled = planned.run("diff")
    planned.says(MORE.replace("16", "24"))

    again = planned.apply("--on-conflict", "take")

    assert (shown.code, settled.code) == (2, 0)
    assert f"~ update {POOL}  gpupool.yaml:7\n    not managed by gpupool yet\n" in shown.out
    assert f"{POOL} configured\n" in applied.err
    assert (f"{POOL} configured\n" in again.err, limit(planned)) == (True, 24)
    assert [each["manager"] for each in planned.there(POOL)["metadata"]["managedFields"]] == ["gpupool"]


def test_a_plan_is_applied_once(planned: Scene) -> None:
    first = apply_plan(planned)
    before = planned.versions()

    second = apply_plan(planned)

    assert (first.code, second.code) == (0, 5)
    assert "another run applied this blueprint since" in second.err
    assert planned.versions() == before


def test_a_first_plan_is_applied_once(scene: Scene) -> None:
    scene.plan()
    assert apply_plan(scene).code == 0
    scene.delete(POOL)

    again = apply_plan(scene)

    assert (again.code, scene.live(POOL)) == (5, None)


def test_an_object_that_comes_before_it_is_created(scene: Scene) -> None:
    scene.plan()
    scene.create(changed(NODE_POOL, b"  name: rig\n", b"  name: chat\n"))
    before = scene.versions()

    said = apply_plan(scene)

    assert said.code == 5
    assert f"{POOL}\n  approved: create\n  now:      not created by gpupool (kubectl-create)" in said.err
    assert f"{POOL} was created by someone else since" in said.err
    assert scene.versions() == before


class TestDeletions:
    """A plan that deletes the pool `train`, and its class."""

    @pytest.fixture(autouse=True)
    def _planned(self, scene: Scene) -> None:
        scene.says(CHAT, TRAIN)
        scene.apply()
        scene.says(CHAT)
        plan = scene.plan("--prune")
        assert [each.address for each in plan.changes if each.actions == ("delete",)] == [
            "NodePool/train",
            "EC2NodeClass/train",
        ]

    def test_of_what_is_as_it_was(self, scene: Scene) -> None:
        statuses.make_ready(scene.server, "train")

        said = apply_plan(scene)

        assert said.code == 0, said.err
        assert "NodePool/train deleted\nEC2NodeClass/train deleted\n" in said.err
        assert (scene.live("NodePool/train"), scene.listed()) == (None, [CLASS, POOL])

    @pytest.mark.parametrize(
        "act",
        [
            edited({"spec": {"weight": 7}}, "NodePool/train"),
            edited({"metadata": {"labels": {"team": "a"}}}, "NodePool/train"),
            edited({"metadata": {"annotations": {"gpupool.dev/protect": "yes"}}}, "EC2NodeClass/train"),
        ],
        ids=["edited", "labelled", "protected"],
    )
    def test_of_what_was_changed(self, scene: Scene, act: Act) -> None:
        act(scene)
        before = scene.versions()

        said = apply_plan(scene)

        assert said.code == 5
        assert "/train was changed since, and would be deleted" in said.err
        assert scene.versions() == before

    def test_of_what_was_created_anew(self, scene: Scene) -> None:
        scene.delete("NodePool/train")
        scene.create(changed(NODE_POOL, b"  name: rig\n", b"  name: train\n"))

        said = apply_plan(scene)

        assert said.code == 5
        assert "NodePool/train was deleted and created anew since" in said.err
        assert scene.live("NodePool/train") is not None

    def test_of_a_pool_that_got_nodes(self, scene: Scene) -> None:
        """Deleting it would end them: it is kept, its class as well, and the next run tries again."""
        statuses.claim(scene.server, "node", "train")

        said = apply_plan(scene)

        assert said.code == 3
        assert "NodePool/train blocked (delete): it still has 1 NodeClaim\n" in said.err
        assert "EC2NodeClass/train blocked (delete): NodePool/train refers to it\n" in said.err
        assert scene.live("NodePool/train") is not None
        assert scene.listed() == [CLASS, "EC2NodeClass/train", POOL, "NodePool/train"]
        statuses.delete(scene.server, "NodeClaim", "node")
        assert "NodePool/train deleted\n" in scene.apply("--prune").err

    def test_of_what_is_gone(self, scene: Scene) -> None:
        scene.delete("NodePool/train")

        said = apply_plan(scene)

        assert said.code == 0, said.err
        assert "NodePool/train deleted: it is gone already\n" in said.err
        assert scene.listed() == [CLASS, POOL]

    def test_of_what_is_about_to_go(self, scene: Scene) -> None:
        scene.hold("EC2NodeClass/train")

        said = apply_plan(scene)

        assert said.code == 0, said.err
        assert scene.listed() == [CLASS, "EC2NodeClass/train", POOL]

    def test_what_is_about_to_go_holds_nothing_back(self, scene: Scene) -> None:
        scene.hold("EC2NodeClass/train")

        said = scene.apply("--prune")

        words = (
            "- DELETE EC2NodeClass/train  with no NodeClaims\n"
            "    no longer in the blueprint; it is being deleted since "
        )
        assert words in said.out
        assert "EC2NodeClass/train deleting (finalizer example.com/hold)\n" in said.err
        assert scene.listed() == [CLASS, "EC2NodeClass/train", POOL]


class TestTheFile:
    """What a plan is held against beside the objects."""

    def test_another_folder_and_no_blueprint(
        self, planned: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        Path("plan.json").rename(elsewhere / "plan.json")
        Path("gpupool.yaml").unlink()
        monkeypatch.chdir(elsewhere)

        said = apply_plan(planned)

        assert (said.code, limit(planned)) == (0, 16), said.err

    def test_expired(self, planned: Scene) -> None:
        old = replace(planned.saved(), created_at="2025-12-31T00:00:00Z", expires_at="2026-01-01T00:00:00Z")
        planned.resave(old)

        self._refused(planned, 5, "the plan has expired at 2026-01-01T00:00:00Z: make a new one")

    def test_made_later_than_now(self, planned: Scene) -> None:
        """Whoever may choose when a plan was made may choose when it expires."""
        early = replace(planned.saved(), created_at="2099-01-01T00:00:00Z", expires_at="2099-01-02T00:00:00Z")
        planned.resave(early)

        self._refused(planned, 5, "the plan was made at 2099-01-01T00:00:00Z, which is in the future")

    def test_for_another_cluster(self, planned: Scene) -> None:
        plan = planned.saved()
        planned.resave(replace(plan, target=replace(plan.target, uid="other-uid")))

        self._refused(planned, 5, "the plan is for another cluster: its uid is other-uid, not ")

    def test_for_another_schema(self, planned: Scene) -> None:
        """The server's CRDs are no longer those that judged the plan."""
        plan = planned.saved()
        crds = {**plan.target.crds, "nodepools.karpenter.sh": "0" * 64}
        assert plan.target.crds.keys() == crds.keys()
        planned.resave(replace(plan, target=replace(plan.target, crds=crds)))

        self._refused(planned, 5, "the CRDs were changed since the plan was made: nodepools.karpenter.sh.")

    def test_changed_by_hand(self, planned: Scene) -> None:
        written = Path("plan.json").read_text("utf-8")
        Path("plan.json").write_text(
            written.replace('"nvidia.com/gpu": 16', '"nvidia.com/gpu": 1600'), "utf-8"
        )

        self._refused(planned, 1, "changed by hand or damaged")

    def test_cut_off(self, planned: Scene) -> None:
        written = Path("plan.json").read_text("utf-8")
        Path("plan.json").write_text(written[: len(written) // 2], "utf-8")

        self._refused(planned, 1, "the file ends too early")

    def test_of_another_format(self, planned: Scene) -> None:
        planned.resave(replace(planned.saved(), format_version="2.0"))

        self._refused(planned, 5, "unsupported plan format 2.0")

    def test_absent(self, planned: Scene) -> None:
        Path("plan.json").unlink()

        self._refused(planned, 1, "can't read it: No such file or directory")

    def test_that_could_not_be_agreed_to(self, planned: Scene) -> None:
        """A plan that was held back when it was made is held back when it is applied."""
        planned.edit(POOL, {"spec": {"limits": {"nvidia.com/gpu": 12}}})
        assert planned.run("plan", "-o", "json=plan.json").code == 4

        self._refused(planned, 4, f"conflict: another owner manages {POOL}")

    @staticmethod
    def _refused(scene: Scene, code: int, words: str) -> None:
        before = scene.versions()

        said = apply_plan(scene)

        assert said.code == code, said.err
        assert words in said.err
        assert scene.versions() == before


PRIVATE = "hunter2-is-no-password"
GUARDED = CHAT.replace(
    "accelerator: l4,", f"accelerator: l4, nodeClass: {{userData: 'echo {PRIVATE}', tags: {{team: a}}}},"
)


class TestSensitiveValues:
    """They are not in the plan: the blueprint is read again, and has to be the one that was planned."""

    @pytest.fixture(autouse=True)
    def _planned(self, scene: Scene) -> None:
        scene.says(GUARDED)
        scene.plan()

    def test_are_not_in_the_file_and_reach_the_cluster(self, scene: Scene) -> None:
        assert PRIVATE not in Path("plan.json").read_text("utf-8")

        said = apply_plan(scene)

        assert said.code == 0, said.err
        assert PRIVATE not in said.out + said.err
        assert PRIVATE in scene.there(CLASS)["spec"]["userData"]

    def test_from_the_file_that_is_named(
        self, scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "elsewhere").mkdir()
        Path("plan.json").rename("elsewhere/plan.json")
        monkeypatch.chdir(tmp_path / "elsewhere")

        missing, named = apply_plan(scene), apply_plan(scene, "-f", "../gpupool.yaml")

        assert (missing.code, named.code) == (1, 0), named.err
        assert "gpupool.yaml: error GP0001 can't read the file" in missing.err

    @pytest.mark.parametrize(
        ("old", "new"), [(PRIVATE, "another-secret"), ("team: a", "team: b"), ("gpus: 8", "gpus: 9")]
    )
    def test_from_another_blueprint(self, scene: Scene, old: str, new: str) -> None:
        scene.says(GUARDED.replace(old, new))
        before = scene.versions()

        said = apply_plan(scene)

        assert said.code == 5
        assert "the blueprint has changed since the plan was made: " in said.err
        assert (PRIVATE in said.err, scene.versions()) == (False, before)


def test_the_lock_and_the_inventory_tell_one_plan_from_another(planned: Scene) -> None:
    """An inventory that was deleted and made anew has changed since the plan was made."""
    path = f"/api/v1/namespaces/kube-system/configmaps/gpupool-{NAME}"
    planned.server.request("DELETE", path)

    said = apply_plan(planned)

    assert said.code == 5
    assert "the inventory's serial is 0, and was 1" in said.err


class TestRights:
    """Whoever may not try a change in a dry run may not write it either."""

    LACKING: Final = ("nodepools", "create")
    PLACE: Final = RoleScope("demo", "kube-system")

    def test_nothing_is_written_where_one_change_can_not_be_tried(self, scene: Scene) -> None:
        before = scene.versions()

        with granted_but(scene.server, "apply", self.PLACE, self.LACKING) as user:
            said = scene.run("apply", *QUICK, "--yes", "--context", "rig", "--as", user)

        assert said.code == 1
        assert (
            f"can't try {POOL} in a dry run, and so nothing is written: the API server answers 403"
            in said.err
        )
        assert 'cannot create resource "nodepools"' in said.err
        assert scene.versions() == before

    def test_a_plan_that_was_worked_out_is_tried_by_whoever_applies_it(self, scene: Scene) -> None:
        with granted_but(scene.server, "plan", self.PLACE, self.LACKING) as user:
            plan = scene.plan("--as", user)

        said = apply_plan(scene)

        assert [each.verified for each in plan.changes] == ["server", "read-only"]
        assert said.code == 0, said.err
        assert scene.listed() == [CLASS, POOL]
