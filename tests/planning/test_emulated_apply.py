"""What an apply would make of an object, worked out without the server.

The same is held against the API server, on objects that others have written to, in `tests/server/laws`.
"""

from typing import Any

import pytest

from gpupool.planning.emulated_apply import emulate_apply
from tests.planning.managed import Body, entry, owned, pool, wanted

OTHER = "kubectl-edit"
LABELS = {"team": "ml", "tier": "gold"}

CASES: dict[str, tuple[Body, Body, Body]] = {
    "a value that is said anew": (
        pool({"weight": 1}, entry(owned("spec.weight"))),
        wanted({"weight": 2}),
        {"weight": 2},
    ),
    "a value that is no longer said": (
        pool({"weight": 1, "limits": {"cpu": "1"}}, entry(owned("spec.weight", "spec.limits.cpu"))),
        wanted({"limits": {"cpu": "1"}}),
        {"limits": {"cpu": "1"}},
    ),
    "what others wrote stays": (
        pool({"weight": 1, "replicas": 2}, entry(owned("spec.weight")), entry(owned("spec.replicas"), OTHER)),
        wanted({"weight": 1}),
        {"weight": 1, "replicas": 2},
    ),
    "what others say too stays": (
        pool({"weight": 1}, entry(owned("spec.weight")), entry(owned("spec.weight"), OTHER)),
        wanted({}),
        {"weight": 1},
    ),
    "what was edited under our own name stays": (
        pool({"weight": 1}, entry(owned("spec.weight")), entry(owned("spec.weight"), operation="Update")),
        wanted({}),
        {"weight": 1},
    ),
    "one key of a map goes, another is somebody's": (
        pool(
            {"limits": {"cpu": "1", "memory": "1Gi"}},
            entry(owned("spec.limits.cpu")),
            entry(owned("spec.limits.memory"), OTHER),
        ),
        wanted({}),
        {"limits": {"memory": "1Gi"}},
    ),
    "a map goes with its last key": (
        pool({"weight": 1, "limits": {"cpu": "1"}}, entry(owned("spec.weight", "spec.limits.cpu"))),
        wanted({"weight": 1}),
        {"weight": 1},
    ),
    "a map that is said to be empty stays as one": (
        pool({"limits": {"cpu": "1"}}, entry(owned("spec.limits.cpu"))),
        wanted({"limits": {}}),
        {"limits": {}},
    ),
    "a list is one value": (
        pool({"template": {"spec": {"taints": [{"key": "a"}]}}}, entry(owned("spec.template.spec.taints"))),
        wanted({"template": {"spec": {"taints": [{"key": "b"}]}}}),
        {"template": {"spec": {"taints": [{"key": "b"}]}}},
    ),
    "so are a template's labels": (
        pool({"template": {"metadata": {"labels": LABELS}}}, entry(owned("spec.template.metadata.labels"))),
        wanted({"template": {"metadata": {"labels": {"team": "ml"}}}}),
        {"template": {"metadata": {"labels": {"team": "ml"}}}},
    ),
    "a template's annotations are not": (
        pool(
            {"template": {"metadata": {"annotations": LABELS}}},
            entry(owned("spec.template.metadata.annotations.team")),
        ),
        wanted({"template": {"metadata": {"annotations": {"team": "cv"}}}}),
        {"template": {"metadata": {"annotations": {"team": "cv", "tier": "gold"}}}},
    ),
    "what was never applied keeps all": (
        pool({"weight": 1, "replicas": 2}, entry(owned("spec.weight", "spec.replicas"), OTHER, "Update")),
        wanted({"weight": 3}),
        {"weight": 3, "replicas": 2},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_spec(case: str) -> None:
    live, body, spec = CASES[case]
    assert emulate_apply(live, body)["spec"] == spec


def test_a_label_that_is_no_longer_said_goes() -> None:
    labels = {"team": "ml", "argocd.argoproj.io/instance": "x"}
    live = pool({}, entry(owned("metadata.labels.team")), labels=labels)
    found: Any = emulate_apply(live, wanted({}, labels={"gpupool.dev/blueprint": "ml"}))
    assert found["metadata"]["labels"] == {"argocd.argoproj.io/instance": "x", "gpupool.dev/blueprint": "ml"}
    assert found["metadata"]["uid"] == "u-1"


def test_nothing_that_it_is_made_of_changes() -> None:
    for live, body, _ in CASES.values():
        before = repr((live, body))
        emulate_apply(live, body)
        assert repr((live, body)) == before


def test_the_same_again_changes_nothing() -> None:
    for live, body, _ in CASES.values():
        once = emulate_apply(live, body)
        assert emulate_apply(once, body) == once
