"""A plan file that somebody edited and sealed anew, on the real server: nothing is written that was not shown."""

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpupool.planning.compare import find_differences
from gpupool.planning.fingerprint import calculate_fingerprint, collect_planned_paths
from gpupool.planning.plan import Change, Consent, FieldChange, Plan
from gpupool.rendering.roles import RoleScope
from tests.cli.run import Outcome
from tests.planning.test_file import sealed
from tests.planning.test_signature import KEY, OTHER, private, public
from tests.server.commands.scene import ALONE, CHAT, NAME, QUICK, TRAIN, Scene
from tests.server.identities import granted_but

POOL, CLASS = "NodePool/chat", "EC2NodeClass/chat"
Edit = Callable[[Any], object]


def forged(edit: Edit) -> None:
    """Edit plan.json as JSON, and seal it anew."""
    path = Path("plan.json")
    document = json.loads(path.read_text("utf-8"))
    edit(document)
    path.write_text(sealed(document), "utf-8")


def refused(scene: Scene, code: int, words: str) -> Outcome:
    """Apply the plan, which has to be refused, with nothing written."""
    before = scene.versions()

    said = scene.run("apply", "plan.json", *QUICK)

    assert (said.code, "Traceback" in said.err) == (code, False), said.err
    assert words in said.err
    assert scene.versions() == before
    return said


@pytest.fixture
def planned_update(scene: Scene) -> Scene:
    """A pool with a limit of 8, and a plan that makes it 16."""
    scene.apply()
    scene.says(CHAT.replace("gpus: 8", "gpus: 16"))
    scene.plan()
    return scene


def pool_of(document: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    return next(each for each in document["changes"] if each["address"] == POOL)


def put(*path: str, to: object) -> Edit:
    """Return what writes a value of the pool's change."""

    def edit(document: Any) -> None:  # noqa: ANN401 - whatever JSON holds
        here = pool_of(document)
        for key in path[:-1]:
            here = here[key]
        here[path[-1]] = to

    return edit


def less(*path: str) -> Edit:
    """Return what takes a value out of the pool's change."""

    def edit(document: Any) -> None:  # noqa: ANN401 - whatever JSON holds
        here = pool_of(document)
        for key in path[:-1]:
            here = here[key]
        del here[path[-1]]

    return edit


FILES: dict[str, tuple[Edit, str]] = {
    "more is sent than shown": (put("body", "spec", "limits", "nvidia.com/gpu", to=1600), "limits[nvidia.com/gpu]`: this would be sent"),
    "a path in the address": (put("address", to="NodePool/../../../../api/v1/namespaces/kube-system/secrets/x"), "is not the address of"),
    "another kind": (put("body", "kind", to="EC2NodeClass"), "expected `NodePool` in the body of"),
    "another object": (put("body", "metadata", "name", to="other"), "expected `chat` in the body of"),
    "a finalizer": (put("body", "metadata", "finalizers", to=["x/y"]), "no plan shows it"),
    "no body": (put("body", to=None), "every change but a deletion sends an object"),
    "a namespace with a path": (lambda document: document["inventory"].update(namespace="../../x"), "is not the name of a namespace"),
}  # fmt: skip


@pytest.mark.parametrize(("edit", "words"), FILES.values(), ids=FILES)
def test_a_file_that_contradicts_itself(planned_update: Scene, edit: Edit, words: str) -> None:
    forged(edit)
    mark = planned_update.server.audit.mark()

    said = refused(planned_update, 1, words)

    assert "error GP0100" in said.err
    assert planned_update.server.audit.since(mark) == []


@pytest.mark.parametrize("path", [("expireAfter",), ("terminationGracePeriod",)])
def test_a_field_that_is_left_out_would_vanish(planned_update: Scene, path: tuple[str, ...]) -> None:
    """The file can't tell who owns the field: what `after` shows is what the server is asked for."""
    inner = ("spec", "template", "spec", *path)
    there: Any = planned_update.there(POOL)
    for key in inner:
        there = there[key]
    forged(less("body", *inner))

    refused(planned_update, 5, f"{POOL} was changed since: {'.'.join(inner)}")


def test_a_limit_that_would_vanish_without_a_word(scene: Scene) -> None:
    scene.apply()
    scene.says(CHAT.replace("gpus: 8}", "gpus: 8}, weight: 7"))
    scene.plan()
    forged(less("body", "spec", "limits"))

    refused(scene, 5, f"{POOL} was changed since: spec.limits")
    assert scene.there(POOL)["spec"]["limits"] == {"nvidia.com/gpu": 8}


def test_a_new_object_that_shows_more_than_is_sent(scene: Scene) -> None:
    scene.plan()
    forged(less("body", "spec", "limits"))

    refused(scene, 5, f"{POOL}: what would be sent does not give what the plan shows: spec.limits")


def test_a_change_that_is_shown_and_not_sent(planned_update: Scene) -> None:
    scene = planned_update
    scene.resave(_with_more(scene.saved()))

    refused(scene, 5, f"{POOL}: what would be sent does not give what the plan shows: spec.weight")


def _with_more(plan: Plan) -> Plan:
    """Return a plan that shows a weight that is not sent, with all that follows from it."""

    def shown(change: Change) -> Change:
        if change.address != POOL:
            return change
        after = deepcopy(change.after)
        after["spec"]["weight"] = 9
        found = find_differences(change.before, after)
        paths = collect_planned_paths(each.keys for each in found)
        fields = tuple(
            FieldChange(each.path, each.op, each.before, each.after, each.semantic, "", "intent")
            for each in found
        )
        pre = replace(change.pre, paths=paths, fingerprint=calculate_fingerprint(change.before, paths))
        return replace(change, after=after, fields=fields, summaries=(), pre=pre)

    return replace(plan, changes=tuple(map(shown, plan.changes)))


def test_an_update_that_is_called_nothing(planned_update: Scene) -> None:
    def edit(document: Any) -> None:  # noqa: ANN401 - whatever JSON holds
        change = pool_of(document)
        change.update(actions=["no-op"], before=None, after=None, fields=[], summaries=[])
        change["pre"].update(fingerprint="", paths=[])
        document["summary"].update(update=0, unchanged=2)

    forged(edit)

    refused(planned_update, 5, f"{POOL} was changed since: spec.limits[nvidia.com/gpu]")


def test_other_owners_are_not_overwritten_unless_that_is_shown(planned_update: Scene) -> None:
    scene = planned_update
    scene.edit(POOL, {"spec": {"limits": {"nvidia.com/gpu": 12}}})
    assert scene.run("plan", "-o", "json=plan.json").code == 4
    plan = scene.saved()
    changes = tuple(replace(each, conflicts=()) for each in plan.changes)
    summary = replace(plan.summary, conflicts=0)
    scene.resave(replace(plan, changes=changes, summary=summary, consent=Consent(on_conflict="take")))

    refused(scene, 5, f"{POOL}: fields of other owners would be overwritten, and the plan does not show that")


def test_a_guard_that_was_taken_out_of_the_file(scene: Scene) -> None:
    scene.says(ALONE)
    assert scene.run("plan", "-o", "json=plan.json").code == 3
    forged(lambda document: document["guards"].clear())

    refused(scene, 3, f"references: {POOL} refers to EC2NodeClass/shared, which does not exist")


def test_a_deletion_that_shows_another_object(scene: Scene) -> None:
    scene.says(CHAT, TRAIN)
    scene.apply()
    scene.says(CHAT)
    scene.plan("--prune")

    def edit(document: Any) -> None:  # noqa: ANN401 - whatever JSON holds
        change = next(each for each in document["changes"] if each["address"] == "NodePool/train")
        change["before"]["spec"]["limits"] = {"nvidia.com/gpu": 0}

    forged(edit)

    refused(scene, 5, "NodePool/train is not what the plan shows, and would be deleted")


def test_a_deletion_with_values_that_only_the_blueprint_hides(scene: Scene) -> None:
    """The plan shows none of them, so that the blueprint has to be there to compare them."""
    head = "sensitive: [owner]\n"
    named = TRAIN.replace("h100", "h100, nodeClass: {tags: {owner: nobody-else}}")
    scene.says(CHAT, named, head=head)
    scene.apply()
    scene.says(CHAT, head=head)
    scene.plan("--prune")
    assert "nobody-else" not in Path("plan.json").read_text("utf-8")

    said = scene.run("apply", "plan.json", *QUICK)

    assert said.code == 0, said.err
    assert (scene.live("NodePool/train"), scene.live("EC2NodeClass/train")) == (None, None)


class TestWithoutTheServersWord:
    """A plan of somebody who may read, and not even try."""

    @pytest.fixture(autouse=True)
    def _planned(self, scene: Scene) -> None:
        scene.apply()
        scene.says(CHAT.replace("gpus: 8}", "gpus: 16}"))
        with granted_but(
            scene.server, "plan", RoleScope(NAME, "kube-system"), ("nodepools", "patch")
        ) as user:
            plan = scene.plan("--as", user)
        assert [each.verified for each in plan.changes] == ["server", "read-only"]

    def test_it_is_applied(self, scene: Scene) -> None:
        said = scene.run("apply", "plan.json", *QUICK)

        assert said.code == 0, said.err
        assert scene.there(POOL)["spec"]["limits"] == {"nvidia.com/gpu": 16}

    def test_a_field_that_is_left_out_would_vanish(self, scene: Scene) -> None:
        forged(less("body", "spec", "template", "spec", "expireAfter"))

        refused(scene, 5, f"{POOL} was changed since: spec.template.spec.expireAfter")

    def test_more_is_sent_than_shown(self, scene: Scene) -> None:
        forged(put("body", "spec", "limits", "cpu", to=1))

        refused(
            scene, 1, "`changes[1].body.spec.limits.cpu`: this would be sent, and `after` does not show it"
        )


class TestSignatures:
    """`plan --sign-key` and `apply --verify-key`."""

    @pytest.fixture(autouse=True)
    def _keys(self, scene: Scene) -> None:
        for name, raw in (
            ("plan.key", private(KEY)),
            ("plan.pub", public(KEY)),
            ("other.pub", public(OTHER)),
        ):
            Path(name).write_bytes(raw)
        scene.plan("--sign-key", "plan.key")

    def test_a_signed_plan_is_applied(self, scene: Scene) -> None:
        said = scene.run("apply", "plan.json", *QUICK, "--verify-key", "plan.pub")

        assert said.code == 0, said.err
        assert scene.listed() == [CLASS, POOL]

    def test_a_signed_plan_is_applied_without_the_key_too(self, scene: Scene) -> None:
        assert scene.run("apply", "plan.json", *QUICK).code == 0

    def test_another_key(self, scene: Scene) -> None:
        self._refused(
            scene, "other.pub", "invalid signature: the plan was changed, or signed with another key"
        )

    def test_a_plan_that_is_not_signed(self, scene: Scene) -> None:
        scene.plan()

        self._refused(scene, "plan.pub", "the plan is not signed")

    def test_a_plan_that_was_sealed_anew(self, scene: Scene) -> None:
        scene.resave(replace(scene.saved(), warnings=("all is well",)))

        self._refused(
            scene, "plan.pub", "invalid signature: the plan was changed, or signed with another key"
        )

    def test_a_key_that_cannot_sign_ends_it_before_the_cluster_is_asked(self, scene: Scene) -> None:
        mark = scene.server.audit.mark()

        said = scene.run("plan", "--sign-key", "plan.pub", "-o", "json=other.json")

        assert (said.code, said.out, Path("other.json").exists()) == (1, "", False)
        assert "error: --sign-key plan.pub: not an Ed25519 private key in PEM" in said.err
        assert scene.server.audit.since(mark) == []

    @staticmethod
    def _refused(scene: Scene, key: str, words: str) -> None:
        before = scene.versions()

        said = scene.run("apply", "plan.json", *QUICK, "--verify-key", key)

        assert (said.code, said.out) == (3, "")
        assert words in said.err
        assert scene.versions() == before
