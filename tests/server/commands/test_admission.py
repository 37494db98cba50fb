"""Policies that change what is sent: what the cluster stores is said beside what the blueprint says, or nothing is written."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.server.commands.scene import CHAT, QUICK, TRAIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.server.commands.scene import Scene

POLICIES = "/apis/admissionregistration.k8s.io/v1"
NAME = "rig-rewrites"
SECONDS = 60.0
"""A policy counts from the moment when the server has compiled it."""

PATCH = '[JSONPatch{op: "replace", path: "/spec/weight", value: 42}]'
FROM_TEN = "has(object.spec.weight) && object.spec.weight == 10"
SAID = "spec.weight is changed by admission: 10 → 42"
WEIGHTED = CHAT.replace("{profile", "{weight: 10, profile")


def policy() -> dict[str, dict[str, Any]]:
    """Return a policy that takes the weight 10 for 42, and where it holds."""
    matches = {
        "resourceRules": [
            {"apiGroups": ["karpenter.sh"], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"], "resources": ["nodepools"]}
        ]
    }  # fmt: skip
    spec = {
        "matchConstraints": matches,
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "matchConditions": [{"name": "ten", "expression": FROM_TEN}],
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": PATCH}}],
    }
    return {
        "mutatingadmissionpolicies": {"kind": "MutatingAdmissionPolicy", "spec": spec},
        "mutatingadmissionpolicybindings": {
            "kind": "MutatingAdmissionPolicyBinding",
            "spec": {"policyName": NAME},
        },
    }


@pytest.fixture
def rewriting(scene: Scene) -> Iterator[Scene]:
    """A cluster in which the weight 10 becomes 42."""
    scene.says(WEIGHTED)
    for plural, said in policy().items():
        body = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": NAME}, **said}
        answer = scene.server.request("POST", f"{POLICIES}/{plural}", json.dumps(body).encode())
        assert answer.status == 201, answer.body
    until = time.monotonic() + SECONDS
    while SAID not in scene.run("diff").out and time.monotonic() < until:
        time.sleep(0.2)
    yield scene
    for plural in policy():
        scene.server.request("DELETE", f"{POLICIES}/{plural}/{NAME}")


def weight(scene: Scene) -> int:
    found: int = scene.there("NodePool/chat")["spec"]["weight"]
    return found


def test_it_is_said_before_and_after(rewriting: Scene) -> None:
    """At its place in the blueprint, as long as it is so."""
    diff = rewriting.run("diff")

    assert diff.code == 2
    assert f"NodePool/chat: {SAID} (gpupool.yaml:7:18)" in diff.out

    applied = rewriting.apply()

    assert f"NodePool/chat created: {SAID}\n" in applied.err
    assert weight(rewriting) == 42

    again = rewriting.run("diff")

    assert (again.code, SAID in again.out) == (0, True), again.out


def test_nothing_is_written_where_that_may_not_be(rewriting: Scene) -> None:
    rewriting.says(WEIGHTED, TRAIN)

    said = rewriting.run("apply", *QUICK, "--yes", "--context", "rig", "--fail-on-admission")

    assert said.code == 3
    assert (
        "error: blocked by a guard; nothing was applied: admission: NodePool/chat: admission would store something else than the"
        " blueprint says\n"
    ) in said.err
    assert rewriting.live("NodePool/chat") is None
    assert rewriting.run("plan", "--fail-on-admission").code == 3


def test_what_it_leaves_alone_is_not_mentioned(rewriting: Scene) -> None:
    rewriting.says(WEIGHTED.replace("10", "11"))

    said = rewriting.apply("--fail-on-admission")

    assert "changed by admission" not in said.out + said.err
    assert weight(rewriting) == 11
