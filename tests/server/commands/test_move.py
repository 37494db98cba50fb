"""`gpupool move` on the real server: a renamed blueprint keeps what it had, and no object changes but its labels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from gpupool.planning.foreign_fields import BLUEPRINT, PART_OF
from gpupool.rendering import roles as rights
from gpupool.rollout.inventory.store import InventoryRef
from tests.server import leases
from tests.server.commands.scene import CHAT, TRAIN, Scene
from tests.server.identities import granted_but

if TYPE_CHECKING:
    from tests.cli.run import Outcome

OLD, NEW = InventoryRef("kube-system", "gpupool-demo"), InventoryRef("kube-system", "gpupool-gpus")
FOUR = ("EC2NodeClass/chat", "EC2NodeClass/train", "NodePool/chat", "NodePool/train")
MOVES = ("move", "--from", "demo", "--context", "rig")


def rename(scene: Scene) -> None:
    scene.rewrite("name: demo", "name: gpus")


def applied(scene: Scene) -> Outcome:
    return scene.run("apply", "--wait", "none", "--yes", "--context", "rig")


@pytest.fixture
def two(scene: Scene) -> Scene:
    """A blueprint of two pools that was applied, and then got another name."""
    scene.says(CHAT, TRAIN)
    scene.apply()
    rename(scene)
    return scene


def without_labels(body: dict[str, Any]) -> dict[str, Any]:
    """Return what an object is beside whose it is, and when and by whom that was written."""
    volatile = {"labels", "managedFields", "resourceVersion"}
    metadata = {key: value for key, value in body["metadata"].items() if key not in volatile}
    return {**body, "metadata": metadata}


def data(scene: Scene, place: InventoryRef) -> dict[str, Any]:
    path = f"/api/v1/namespaces/{place.namespace}/configmaps/{place.name}"
    return {key: json.loads(text) for key, text in scene.server.request("GET", path).body["data"].items()}


def test_an_apply_under_another_name_says_what_to_do(two: Scene) -> None:
    said = applied(two)

    assert said.code == 4
    assert (
        "If a blueprint was renamed, or its inventory moved: gpupool move --from kube-system/demo" in said.err
    )
    assert (
        f"it belongs to another blueprint, demo ({PART_OF}: {OLD.id}); remove it there first or" in said.out
    )


def test_everything_is_moved_and_the_next_apply_has_nothing_to_do(two: Scene) -> None:
    before = {address: two.there(address) for address in FOUR}

    said = two.run(*MOVES, "--yes")

    assert said.code == 0, said.err
    assert said.out == (
        "Move from the inventory kube-system/gpupool-demo to kube-system/gpupool-gpus:\n"
        "  EC2NodeClass/chat\n  EC2NodeClass/train\n  NodePool/chat\n  NodePool/train\n"
        "Only the labels applyset.kubernetes.io/part-of and gpupool.dev/blueprint change; no node is disrupted.\n"
    )
    assert said.err.endswith(
        "Moved 4 objects.\nThe inventory kube-system/gpupool-demo is empty now; to delete it:"
        " kubectl delete configmap gpupool-demo --namespace kube-system\n"
    )
    after = {address: two.there(address) for address in FOUR}
    assert {address: without_labels(each) for address, each in after.items()} == {
        address: without_labels(each) for address, each in before.items()
    }
    for each in after.values():
        assert each["metadata"]["labels"] == {PART_OF: NEW.id, BLUEPRINT: "gpus"}
        assert {entry["manager"] for entry in each["metadata"]["managedFields"]} == {"gpupool"}
    assert data(two, OLD)["current"] == []
    assert leases.read(two.server, OLD.name) is None
    assert leases.read(two.server, NEW.name) is None

    versions = {address: each["metadata"]["resourceVersion"] for address, each in after.items()}
    again = applied(two)
    assert (again.code, again.err.endswith("nothing to do\n")) == (0, True), again
    assert {each: two.there(each)["metadata"]["resourceVersion"] for each in FOUR} == versions


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--from", "gpus"), 64, "--from kube-system/gpus: this is the blueprint itself; pass the name"),
        (("--from", "a b"), 64, "--from a b: expected a blueprint's name, such as demo or kube-system/demo"),
        (
            ("--from", "Kube/demo"),
            64,
            "--from Kube/demo: expected a blueprint's name, such as demo or kube-system/demo",
        ),
        (
            ("--from", "../../demo"),
            64,
            "--from ../../demo: expected a blueprint's name, such as demo or kube-system/demo",
        ),
        (("--from", "other"), 1, "the inventory kube-system/gpupool-other does not exist: nothing to move"),
        (("--from", "demo"), 3, "cannot prompt: stdin is not a terminal; pass --yes"),
    ],
)
def test_what_is_refused(two: Scene, words: tuple[str, ...], code: int, message: str) -> None:
    before = two.versions()

    said = two.run("move", *words, "--context", "rig")

    assert (said.code, said.err.count("error: ")) == (code, 1), said
    assert message in said.err
    assert two.versions() == before


def test_a_cluster_that_is_not_named_is_refused(two: Scene) -> None:
    before = two.versions()

    said = two.run("move", "--from", "demo", "--yes")

    assert said.code == 3
    assert "refusing to write to the current context `rig`" in said.err
    assert two.versions() == before


def test_a_second_time_there_is_nothing_to_do(two: Scene) -> None:
    assert two.run(*MOVES, "--yes").code == 0
    before = two.versions()

    said = two.run(*MOVES, "--yes")

    assert (said.code, said.err) == (0, "")
    assert said.out == "Nothing to do: the inventory kube-system/gpupool-demo lists no objects.\n"
    assert two.versions() == before


def test_the_old_blueprint_changes_nothing_any_more(two: Scene) -> None:
    assert two.run(*MOVES, "--yes").code == 0
    two.rewrite("name: gpus", "name: demo")
    before = two.versions()

    said = two.run("apply", "--wait", "none", "--yes", "--prune", "--context", "rig")

    assert said.code == 4
    assert "gpupool move --from kube-system/gpus" in said.err
    assert two.versions() == before


def test_into_another_namespace_and_back(scene: Scene) -> None:
    scene.apply()
    scene.rewrite("pools:", "inventory: {namespace: kube-public}\npools:")

    assert scene.run("move", "--from", "kube-system/demo", "--yes", "--context", "rig").code == 0

    there = InventoryRef("kube-public", "gpupool-demo")
    assert scene.there("NodePool/chat")["metadata"]["labels"] == {PART_OF: there.id, BLUEPRINT: "demo"}
    assert [each["name"] for each in data(scene, there)["current"]] == ["chat", "chat"]
    assert applied(scene).err.endswith("nothing to do\n")

    scene.rewrite("inventory: {namespace: kube-public}\n", "")
    assert "NAMESPACE/demo" in applied(scene).err
    assert scene.run("move", "--from", "kube-public/demo", "--yes", "--context", "rig").code == 0
    assert applied(scene).err.endswith("nothing to do\n")


def test_what_the_blueprint_does_not_have_is_moved_too_and_named(two: Scene) -> None:
    two.says(CHAT)
    rename(two)

    said = two.run(*MOVES, "--yes")

    assert said.code == 0, said.err
    assert "  NodePool/train      not in the blueprint: `gpupool apply --prune` would delete it\n" in said.out
    assert "  NodePool/chat\n" in said.out
    pruned = two.run("apply", "--wait", "none", "--yes", "--prune", "--context", "rig")
    assert pruned.code == 0, pruned.err
    assert [two.live(each) is None for each in FOUR] == [False, True, False, True]


def test_what_is_no_longer_of_the_old_one_is_left_alone(two: Scene) -> None:
    """One was made anew by somebody else, one is another tool's, one is gone, and one was never listed."""
    copy = two.there("NodePool/chat")
    two.delete("NodePool/chat")
    fresh = {"apiVersion": copy["apiVersion"], "kind": "NodePool", "spec": copy["spec"]}
    two.create(json.dumps({**fresh, "metadata": {"name": "chat"}}))
    two.create(json.dumps({**fresh, "metadata": {"name": "orphan", "labels": {PART_OF: OLD.id}}}))
    two.edit("EC2NodeClass/chat", {"metadata": {"labels": {PART_OF: "applyset-of-another-tool"}}})
    two.delete("NodePool/train")
    others = {each: two.there(each) for each in ("NodePool/chat", "NodePool/orphan", "EC2NodeClass/chat")}

    said = two.run(*MOVES, "--yes")

    assert said.code == 0, said.err
    assert said.out.split("Not moved:\n")[1].splitlines()[:-1] == [
        f"  EC2NodeClass/chat  its label {PART_OF} is not that blueprint's",
        "  NodePool/chat      it is another object of the same name: what gpupool applied was deleted since",
        "  NodePool/orphan    the old inventory does not list it, so gpupool may not have applied it",
        "  NodePool/train     it does not exist any more",
    ]
    assert {each: two.there(each) for each in others} == others
    assert [each["name"] for each in data(two, NEW)["current"]] == ["train"]


def test_a_label_that_somebody_took_away_comes_back(two: Scene) -> None:
    two.edit("NodePool/chat", {"metadata": {"labels": {PART_OF: None}}})

    assert two.run(*MOVES, "--yes").code == 0

    assert two.there("NodePool/chat")["metadata"]["labels"][PART_OF] == NEW.id
    assert applied(two).err.endswith("nothing to do\n")


def test_what_people_changed_stays_theirs(two: Scene) -> None:
    two.edit("NodePool/chat", {"spec": {"weight": 77}})

    assert two.run(*MOVES, "--yes").code == 0

    pool = two.there("NodePool/chat")
    assert pool["spec"]["weight"] == 77
    owners = {
        each["manager"]
        for each in pool["metadata"]["managedFields"]
        if "f:weight" in each["fieldsV1"].get("f:spec", {})
    }
    assert owners == {"kubectl-edit"}
    assert applied(two).code == 0


@pytest.mark.parametrize("place", [OLD, NEW])
def test_nothing_is_moved_while_a_run_holds_either_lock(two: Scene, place: InventoryRef) -> None:
    leases.held_by_another(two.server, place.name)
    before = two.versions()

    said = two.run(*MOVES, "--yes", "--lock-timeout", "1s")

    assert said.code == 3
    assert f"the lock kube-system/{place.name} is held by other@runner" in said.err
    assert two.versions() == before


def test_what_an_interrupted_apply_left_is_moved(two: Scene) -> None:
    """The old inventory still has the list of what was about to be written."""
    said = data(two, OLD)
    pending = {"entries": said["current"], "plan": "sha256:dead"}
    body = {"data": {"current": "[]", "pending": json.dumps(pending)}}
    path = f"/api/v1/namespaces/{OLD.namespace}/configmaps/{OLD.name}"
    two.server.request("PATCH", path, json.dumps(body).encode(), "application/merge-patch+json")

    assert two.run(*MOVES, "--yes").code == 0

    assert len(data(two, NEW)["current"]) == 4
    assert "pending" not in data(two, OLD)
    assert applied(two).err.endswith("nothing to do\n")


def test_it_does_with_the_rights_of_both_blueprints(two: Scene) -> None:
    places = (rights.RoleScope("demo", "kube-system"), rights.RoleScope("gpus", "kube-system"))
    with granted_but(two.server, "apply", places[1], None) as user:
        alone = two.run(*MOVES, "--yes", "--as", user)
        with granted_but(two.server, "apply", places[0], None):
            both = two.run(*MOVES, "--yes", "--as", user)

    assert alone.code == 1
    assert "can't read the inventory kube-system/gpupool-demo: the API server answers 403" in alone.err
    assert both.code == 0, both.err
    assert "Moved 4 objects." in both.err
