"""Who owns what, and what an object itself proves. The proof is held against the server in `tests/server/laws`."""

from typing import Any

import pytest

from gpupool.planning.ownership import (
    classify_owner,
    find_applied_entry,
    find_owner,
    find_value_path,
    is_applied_already,
    is_equal,
    is_shared,
    parse_entries,
)
from tests.planning.managed import Body, entry, owned, pool, wanted

SPEC: Body = {
    "weight": 10,
    "limits": {"nvidia.com/gpu": "8"},
    "template": {
        "metadata": {"labels": {"team": "ml"}},
        "spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"},
            "taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}],
        },
    },
}
REFERENCE = "spec.template.spec.nodeClassRef"
PATHS = (
    "metadata.labels.gpupool~dev/blueprint", "spec.weight", "spec.limits.nvidia~com/gpu",
    "spec.template.metadata.labels", f"{REFERENCE}.group", f"{REFERENCE}.kind", f"{REFERENCE}.name",
    "spec.template.spec.taints",
)  # fmt: skip
LABELS = {"gpupool.dev/blueprint": "ml"}
BODY = wanted(SPEC, labels=LABELS)
LIVE = pool(
    SPEC | {"disruption": {"consolidateAfter": "0s"}},
    entry(owned(*PATHS)),
    labels={**LABELS, "example.com/of-others": "x"},
)


def live(*paths: str, more: tuple[Body, ...] = (), spec: Body = SPEC) -> Body:
    """Return the object with other paths owned, other entries, or another spec."""
    return pool(spec, entry(owned(*(paths or PATHS))), *more, labels=LIVE["metadata"]["labels"])


def without(path: str) -> tuple[str, ...]:
    return tuple(each for each in PATHS if each != path)


def changed(**spec: Any) -> Body:  # noqa: ANN401 - whatever JSON holds
    return wanted(SPEC | spec, labels=LABELS)


def template(**parts: Body) -> Body:
    return {"template": {key: {**SPEC["template"][key], **parts.get(key, {})} for key in SPEC["template"]}}


PROVES: dict[str, tuple[Body, Body]] = {
    "it is as it was applied": (LIVE, BODY),
    "others own the same": (live(more=(entry(owned("spec.weight"), "argocd-controller"),)), BODY),
    "others own other things": (
        live(more=(entry(owned("spec.disruption.consolidateAfter"), "kubectl-edit", "Update"),)),
        BODY,
    ),
    "Karpenter writes its status": (
        live(more=(entry(owned("status.conditions"), "karpenter", "Update", subresource="status"),)),
        BODY,
    ),
    "another number for the same": (LIVE, changed(weight=10.0)),
    "with what it has to be still": (LIVE, {**BODY, "metadata": {**BODY["metadata"], "uid": "u", "resourceVersion": "7"}}),
}  # fmt: skip


@pytest.mark.parametrize("case", PROVES)
def test_what_proves_that_nothing_would_change(case: str) -> None:
    assert is_applied_already(*PROVES[case])


def _with_dot(*path: str) -> Body:
    fields = owned(*PATHS)
    at = fields
    for key in path:
        at = at[f"f:{key}"]
    at["."] = {}
    return pool(SPEC, entry(fields), labels=LABELS)


PROVES_NOTHING: dict[str, tuple[Body, Body]] = {
    "another value is said": (LIVE, changed(weight=11)),
    "more is said": (LIVE, changed(replicas=1)),
    "less is said": (LIVE, wanted({key: SPEC[key] for key in ("weight", "template")}, labels=LABELS)),
    "a label less is said": (LIVE, wanted(SPEC)),
    "a label more is said": (LIVE, wanted(SPEC, labels={**LABELS, "team": "ml"})),
    "an annotation is said": (LIVE, wanted(SPEC, labels=LABELS, annotations={"a": "b"})),
    "equivalent": (LIVE, changed(limits={"nvidia.com/gpu": "8000m"})),
    "true is not 1": (live(spec=SPEC | {"weight": 1}), changed(weight=True)),
    "a list in another order": (
        live(spec=SPEC | template(spec={"taints": [{"key": "a"}, {"key": "b"}]})),
        changed(**template(spec={"taints": [{"key": "b"}, {"key": "a"}]})),
    ),
    "a template's label less": (
        live(spec=SPEC | template(metadata={"labels": {"team": "ml", "tier": "gold"}})),
        BODY,
    ),
    "somebody took a value out": (live(spec={key: SPEC[key] for key in ("limits", "template")}), BODY),
    "somebody took a value over": (live(*without("spec.weight")), BODY),
    "we own what we no longer say": (live(*PATHS, "spec.replicas"), BODY),
    "we own a map beside its keys": (_with_dot("spec", "limits"), BODY),
    "we own a map and none of its keys": (live(*without("spec.limits.nvidia~com/gpu"), "spec.limits"), BODY),
    "we own metadata's labels and none of them": (live(*PATHS[1:], "metadata.labels"), BODY),
    "we own a reference and none of its keys": (
        live(*(each for each in PATHS if not each.startswith(REFERENCE)), REFERENCE),
        BODY,
    ),
    "an older version of the kind": (
        pool(SPEC, entry(owned(*PATHS), apiVersion="karpenter.sh/v1beta1"), labels=LABELS),
        BODY,
    ),
    "it was not applied but written": (
        pool(SPEC, entry(owned(*PATHS), operation="Update"), labels=LABELS),
        BODY,
    ),
    "only its status was applied": (
        pool(SPEC, entry(owned(*PATHS), subresource="status"), labels=LABELS),
        BODY,
    ),
    "nobody knows who owns it": (pool(SPEC, labels=LABELS), BODY),
    "somebody else applied it": (pool(SPEC, entry(owned(*PATHS), "gpupool-cli"), labels=LABELS), BODY),
    "a null is said": (LIVE, changed(replicas=None)),
    "a map is said to be empty": (LIVE, changed(limits={})),
    "a text is said to be a map": (LIVE, changed(weight={"a": 1})),
    "a map is said to be a text": (LIVE, changed(limits="8")),
}


@pytest.mark.parametrize("case", PROVES_NOTHING)
def test_what_has_to_be_asked(case: str) -> None:
    assert not is_applied_already(*PROVES_NOTHING[case])


@pytest.mark.parametrize("part", ["spec", "metadata", "kind"])
def test_an_object_that_is_cut_off_proves_nothing(part: str) -> None:
    """`kind` alone is not what anything is applied to, and says nothing."""
    rest = {key: value for key, value in LIVE.items() if key != part}
    assert is_applied_already(rest, BODY) == (part == "kind")


class TestOwner:
    """Who wrote a field last."""

    MANY = pool(
        SPEC,
        entry(owned("spec.weight", "spec.limits.cpu"), time="2026-01-01T00:00:00Z"),
        entry(owned("spec.weight"), "kubectl-edit", "Update", time="2026-02-01T00:00:00Z"),
        entry(
            {"f:spec": {"f:template": {"f:spec": {"f:taints": {}}}}}, "argocd", time="2026-03-01T00:00:00Z"
        ),
        entry(
            {"f:status": {"f:conditions": {'k:{"type":"Ready"}': {".": {}}}}},
            "karpenter",
            "Update",
            subresource="status",
            time="2026-04-01T00:00:00Z",
        ),
    )

    @pytest.mark.parametrize(
        ("path", "manager"),
        [
            (("spec", "weight"), "kubectl-edit"),
            (("spec", "limits", "cpu"), "gpupool"),
            (("spec", "limits", "memory"), ""),
            (("spec", "template", "spec", "taints"), "argocd"),
            (("spec", "template", "spec", "taints", 0, "key"), "argocd"),
            (("status", "conditions", 0, "status"), "karpenter"),
            (("spec", "replicas"), ""),
        ],
    )
    def test_of_a_path(self, path: tuple[str | int, ...], manager: str) -> None:
        found = find_owner(self.MANY, path)
        assert (found.manager if found else "") == manager

    def test_what_is_one_value(self) -> None:
        taints = ("spec", "template", "spec", "taints")
        argocd = parse_entries(self.MANY)[2]
        assert find_value_path(argocd, (*taints, 0, "key")) == taints
        assert find_value_path(argocd, taints) == taints


def test_who_applied_it() -> None:
    mine, status = entry(owned("spec.weight")), entry(owned("status.nodes"), subresource="status")
    others = entry(owned("spec.weight"), "kubectl")
    found = find_applied_entry(pool({}, status, others, mine))
    assert found is not None
    assert found.fields == owned("spec.weight")
    assert find_applied_entry(pool({}, status, others)) is None
    assert find_applied_entry({}) is None


@pytest.mark.parametrize(
    ("entries", "shared"),
    [
        ((), False),
        ((entry(owned("spec.weight")),), False),
        ((entry(owned("metadata.annotations.a"), "karpenter", "Update"),), False),
        ((entry(owned("spec.weight"), "karpenter", "Update", subresource="status"),), False),
        ((entry(owned("spec.weight"), "kubectl-edit", "Update"),), True),
    ],
)
def test_whether_others_own_a_part(entries: tuple[Body, ...], shared: bool) -> None:
    assert is_shared(pool({}, *entries)) == shared


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True), (True, 1, False), (False, 0, False), (True, True, True), ("1", 1, False), (None, None, True),
        (None, False, False), ({}, [], False), ({"a": 1}, {"a": 1.0}, True), ({"a": True}, {"a": 1}, False),
        ({"a": None}, {}, False), ([1, 2], [2, 1], False), ([[]], [[]], True), ([], [None], False),
    ],
)  # fmt: skip
def test_equal_is_what_json_takes_for_equal(one: Any, other: Any, same: bool) -> None:  # noqa: ANN401
    assert is_equal(one, other) == is_equal(other, one) == same


@pytest.mark.parametrize(
    ("manager", "kind"),
    [
        ("kubectl-edit", "people"), ("kubectl-client-side-apply", "people"), ("k9s", "people"), ("Mozilla", "people"),
        ("node-fetch", "people"), ("", "people"), ("before-first-apply", "people"),
        ("argocd-controller", "gitops"), ("kustomize-controller", "gitops"), ("helm", "gitops"), ("Terraform", "gitops"),
        ("pulumi-kubernetes-1a2b", "gitops"), ("flux-client-side-apply", "gitops"), ("fleetagent", "gitops"),
        ("karpenter", "controller"), ("cluster-autoscaler", "controller"), ("kube-controller-manager", "controller"),
        ("gpu-operator", "controller"),
    ],
)  # fmt: skip
def test_what_kind_of_writer(manager: str, kind: str) -> None:
    assert classify_owner(manager) == kind
