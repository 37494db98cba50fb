"""Fields that somebody else owns: named with path, owner and time, and overwritten only where that was agreed to."""

import json
from typing import Any

import pytest

from tests.server.commands.scene import CHAT, QUICK, TRAIN, Scene

POOL, CLASS = "NodePool/chat", "EC2NodeClass/chat"
LIMIT: dict[str, Any] = {"spec": {"limits": {"nvidia.com/gpu": 12}}}
EXPIRY: dict[str, Any] = {"spec": {"template": {"spec": {"expireAfter": "24h"}}}}
TAKE = "--on-conflict"
LIMIT_PLACE = ("gpupool.yaml", 7, 62)
"""Where the blueprint sets the limit."""


@pytest.fixture
def applied(scene: Scene) -> Scene:
    """A pool, as the blueprint says."""
    scene.apply()
    return scene


def owned_by(scene: Scene, manager: str) -> list[dict[str, Any]]:
    """Return what a manager owns, by its own Update or Apply."""
    fields = scene.there(POOL)["metadata"]["managedFields"]
    return [each["fieldsV1"] for each in fields if each["manager"] == manager]


def when(scene: Scene, manager: str) -> str:
    fields = scene.there(POOL)["metadata"]["managedFields"]
    return next(str(each["time"]) for each in fields if each["manager"] == manager)


ADVICE = {
    "people": "To keep what people changed, write it into the blueprint; to overwrite it, pass --on-conflict take or take=PATHS",
    "gitops": "Remove what another tool applies from that tool or from the blueprint",
    "controller": "Leave what a controller writes out of the blueprint",
}
OWNERS = {
    "kubectl-edit": "people",
    "kubectl": "people",
    "k9s": "people",
    "Mozilla": "people",
    "argocd-controller": "gitops",
    "helm": "gitops",
    "kustomize-controller": "gitops",
    "Terraform": "gitops",
    "karpenter": "controller",
    "cluster-autoscaler": "controller",
}


@pytest.mark.parametrize(("manager", "kind"), OWNERS.items(), ids=OWNERS)
def test_a_conflict_is_named_with_its_owner(applied: Scene, manager: str, kind: str) -> None:
    applied.edit(POOL, LIMIT, by=manager)
    before = applied.versions()

    said = applied.run("diff")

    line = f"    {':'.join(map(str, LIMIT_PLACE))} {POOL} spec.limits[nvidia.com/gpu] is owned by {manager} ({kind}), who wrote the object at "
    assert said.code == 4
    assert f"{line}{when(applied, manager)}\n" in said.out
    assert said.err == f"error: conflict: another owner manages {POOL}. Nothing was applied. {ADVICE[kind]}\n"
    assert [applied.run(*command).code for command in (["plan"], ["apply", *QUICK, "--yes"])] == [4, 4]
    assert applied.versions() == before


@pytest.mark.parametrize("manager", OWNERS)
def test_only_what_people_changed_is_overwritten(applied: Scene, manager: str) -> None:
    applied.edit(POOL, LIMIT, by=manager)
    before = applied.versions()

    said = applied.run("apply", *QUICK, "--yes", "--context", "rig", TAKE, "take")

    limit = applied.there(POOL)["spec"]["limits"]["nvidia.com/gpu"]
    if OWNERS[manager] == "people":
        assert (said.code, limit, owned_by(applied, manager)) == (0, 8, []), said.err
        assert applied.run("diff").code == 0
    else:
        assert (said.code, limit) == (4, 12)
        assert applied.versions() == before


def test_it_is_all_in_json(applied: Scene) -> None:
    applied.edit(POOL, LIMIT)
    applied.edit(CLASS, {"spec": {"role": "another"}}, by="helm")

    said = applied.run("plan", "-o", "json")

    found = {each["address"]: each["conflicts"] for each in json.loads(said.out)["changes"]}
    assert {
        address: [{**each, "when": "", "cause": ""} for each in conflicts]
        for address, conflicts in found.items()
    } == {
        POOL: [
            {
                "path": "spec.limits[nvidia.com/gpu]",
                "manager": "kubectl-edit",
                "kind": "people",
                "when": "",
                "cause": "",
            }
        ],
        CLASS: [{"path": "spec.role", "manager": "helm", "kind": "gitops", "when": "", "cause": ""}],
    }
    place = dict(zip(("file", "line", "column"), LIMIT_PLACE, strict=True))
    assert found[POOL][0]["cause"] == {"place": place, "layer": "pool", "field": "limits.gpus"}
    assert found[CLASS][0]["cause"]["layer"] == "built-in"
    assert found[CLASS][0]["cause"]["field"] == "cluster.name"
    assert found[POOL][0]["when"] == when(applied, "kubectl-edit")


@pytest.mark.parametrize(
    ("patch", "path"),
    [
        (
            {"spec": {"template": {"spec": {"taints": [{"key": "a", "effect": "NoExecute"}]}}}},
            "spec.template.spec.taints",
        ),
        ({"metadata": {"labels": {"gpupool.dev/blueprint": "b"}}}, "metadata.labels[gpupool.dev/blueprint]"),
        ({"spec": {"disruption": {"budgets": [{"nodes": "50%"}]}}}, "spec.disruption.budgets"),
        ({"spec": {"template": {"metadata": {"labels": {"a": "b"}}}}}, "spec.template.metadata.labels"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_lists_and_labels(applied: Scene, patch: dict[str, Any], path: str) -> None:
    applied.edit(POOL, patch)

    said = applied.run("diff")
    taken = applied.run("apply", *QUICK, "--yes", "--context", "rig", TAKE, f"take={path}")

    assert said.code == 4
    assert f"{POOL} {path} is owned by kubectl-edit (people), " in said.out
    assert (taken.code, applied.run("diff").code) == (0, 0), taken.err


class TestPaths:
    """Two fields of one pool that two people changed."""

    @pytest.fixture(autouse=True)
    def _edited(self, applied: Scene) -> None:
        applied.edit(POOL, LIMIT, by="kubectl-edit")
        applied.edit(POOL, EXPIRY, by="k9s")

    @pytest.mark.parametrize(
        "paths",
        [
            "spec",
            "spec.limits,spec.template",
            "spec.limits[nvidia.com/gpu],spec.template.spec.expireAfter",
            "spec.limits.nvidia.com/gpu,spec.template.spec.expireAfter",
        ],
    )
    def test_that_cover_both(self, scene: Scene, paths: str) -> None:
        said = scene.run("apply", *QUICK, "--yes", "--context", "rig", TAKE, f"take={paths}")

        assert said.code == 0, said.err
        assert scene.there(POOL)["spec"]["limits"]["nvidia.com/gpu"] == 8
        assert (owned_by(scene, "kubectl-edit"), owned_by(scene, "k9s")) == ([], [])

    @pytest.mark.parametrize(
        "paths", ["spec.limits", "spec.template.spec.expire", "spec.limits.nvidia", "metadata"]
    )
    def test_that_do_not(self, scene: Scene, paths: str) -> None:
        """An object is one write: with one field contested, none of its fields is written."""
        before = scene.versions()

        said = scene.run("apply", *QUICK, "--yes", "--context", "rig", TAKE, f"take={paths}")

        assert said.code == 4
        assert scene.versions() == before


def test_people_and_a_tool_on_one_object(applied: Scene) -> None:
    applied.edit(POOL, LIMIT)
    applied.edit(POOL, EXPIRY, by="argocd-controller")
    before = applied.versions()

    said = applied.run("apply", *QUICK, "--yes", "--context", "rig", TAKE, "take")

    assert said.code == 4
    assert "spec.limits[nvidia.com/gpu] is owned by kubectl-edit (people)" in said.out
    assert "spec.template.spec.expireAfter is owned by argocd-controller (gitops)" in said.out
    assert (ADVICE["people"] in said.err, ADVICE["gitops"] in said.err) == (True, True)
    assert applied.versions() == before


def test_nothing_at_all_is_written_beside_a_conflict(applied: Scene) -> None:
    applied.edit(POOL, LIMIT)
    applied.says(CHAT, TRAIN)
    before = applied.versions()

    said = applied.run("apply", *QUICK, "--yes", "--context", "rig")

    assert said.code == 4
    assert "+ create NodePool/train" in said.out
    assert (applied.live("NodePool/train"), applied.versions()) == (None, before)


def test_the_same_value_is_no_conflict(applied: Scene) -> None:
    applied.impose(POOL, {"limits": {"nvidia.com/gpu": 8}}, "argocd-controller")
    before = applied.versions()

    said = applied.run("apply", *QUICK, "--yes", "--context", "rig")

    assert (said.code, said.err) == (0, "nothing to do\n")
    assert applied.versions() == before


def test_what_is_beside_a_taken_field_stays(applied: Scene) -> None:
    applied.edit(POOL, {"spec": {"limits": {"nvidia.com/gpu": 12, "cpu": "100"}, "weight": 7}})

    applied.apply(TAKE, "take")

    spec = applied.there(POOL)["spec"]
    assert (spec["limits"], spec["weight"]) == ({"cpu": "100", "nvidia.com/gpu": 8}, 7)
    said = applied.run("diff")
    assert said.code == 0
    assert f'    {POOL} spec.limits.cpu: "100"; by kubectl-edit\n' in said.out
    assert f"    {POOL} spec.weight: 7; by kubectl-edit\n" in said.out


def test_a_plan_takes_what_it_shows_and_no_more(applied: Scene) -> None:
    applied.edit(POOL, LIMIT)
    plan = applied.plan(TAKE, "take")
    assert [each.force for each in plan.changes] == [False, True]

    applied.edit(POOL, EXPIRY, by="k9s")
    stale = applied.run("apply", "plan.json", *QUICK)
    applied.plan(TAKE, "take")
    said = applied.run("apply", "plan.json", *QUICK)

    assert stale.code == 5
    assert "now:      spec.template.spec.expireAfter: 24h -> 336h\n" in stale.err
    assert said.code == 0, said.err
    assert (owned_by(applied, "kubectl-edit"), owned_by(applied, "k9s")) == ([], [])


PRIVATE = "hunter2-is-no-password"


def test_a_contested_sensitive_value_is_not_shown(scene: Scene) -> None:
    scene.says(
        CHAT.replace("accelerator: l4,", f"accelerator: l4, nodeClass: {{userData: 'echo {PRIVATE}'}},")
    )
    scene.apply()
    scene.edit(CLASS, {"spec": {"userData": "echo another-password"}})

    every = [scene.run("diff", "-o", each) for each in ("text", "json", "patch", "markdown", "github")]

    assert {each.code for each in every} == {4}
    assert f"{CLASS} spec.userData is owned by kubectl-edit (people)" in every[0].out
    shown = "".join(each.out + each.err for each in every)
    assert (PRIVATE in shown, "another-password" in shown) == (False, False)
