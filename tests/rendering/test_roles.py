"""The roles for plan and apply: exactly the rights that are needed, for the subject that was named."""

from typing import Any

import pytest
import yaml

from gpupool.cluster import crds, resources
from gpupool.rendering.roles import (
    CRDS,
    WRITTEN,
    PolicyRule,
    Purpose,
    RoleScope,
    Subject,
    build_rights,
    render_roles,
)

PLACE = RoleScope("demo", "capacity")
GROUP = Subject("Group", "ci-plan")
Granted = set[tuple[str, str, str, str]]


def objects(purpose: Purpose, subject: Subject | None = GROUP) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(render_roles(purpose, PLACE, subject)))


def granted(role: dict[str, Any]) -> Granted:
    """Each verb, group and resource of a role, with the one object that is meant; `*` for all."""
    return {
        (verb, group, resource, name)
        for rule in role["rules"]
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for name in rule.get("resourceNames", ["*"])
    }


def role(purpose: Purpose, kind: str, namespace: str | None = None) -> dict[str, Any]:
    (found,) = (
        each
        for each in objects(purpose)
        if each["kind"] == kind and each["metadata"].get("namespace") == namespace
    )
    return found


def every(*verbs: str) -> Granted:
    return {
        (verb, group, plural, "*")
        for verb in verbs
        for group, plural in (
            ("karpenter.sh", "nodepools"),
            ("karpenter.sh", "nodeoverlays"),
            ("karpenter.k8s.aws", "ec2nodeclasses"),
        )
    }


READS: Granted = {
    ("list", "karpenter.sh", "nodeclaims", "*"),
    ("get", "", "namespaces", "kube-system"),
    *(("get", "apiextensions.k8s.io", "customresourcedefinitions", name) for name in crds.CRDS),
}
LEASES = "coordination.k8s.io", "leases"


def test_plan_needs_this_and_nothing_beyond() -> None:
    assert granted(role("plan", "ClusterRole")) == READS | every("get", "list", "create", "patch")
    assert granted(role("plan", "Role", "capacity")) == {("get", "", "configmaps", "gpupool-demo")}
    assert granted(role("plan", "Role", "default")) == {("list", "", "events", "*")}


def test_apply_needs_this_and_nothing_beyond() -> None:
    verbs = every("get", "list", "create", "patch", "delete", "watch")

    assert granted(role("apply", "ClusterRole")) == READS | verbs
    assert granted(role("apply", "Role", "default")) == {("list", "", "events", "*")}
    assert granted(role("apply", "Role", "capacity")) == {
        ("get", "", "configmaps", "gpupool-demo"),
        ("patch", "", "configmaps", "gpupool-demo"),
        ("create", "", "configmaps", "*"),
        *((verb, *LEASES, "gpupool-demo") for verb in ("get", "update", "delete")),
        ("create", *LEASES, "*"),
    }


def test_they_are_about_the_kinds_that_are_written() -> None:
    written = {(kind.group, kind.plural) for kind in resources.KINDS.values()}

    assert {(group, plural) for group, plurals in WRITTEN.items() for plural in plurals} == written
    assert sorted(CRDS) == sorted(crds.CRDS)


def test_a_name_bounds_what_is_neither_listed_nor_created() -> None:
    """For a list or a create the API server knows no name, and a rule with one grants nothing."""

    def named(rule: PolicyRule) -> bool:
        return bool(rule.names)

    for purpose in ("plan", "apply"):
        found = build_rights(purpose, PLACE)
        within = [
            *found.in_namespace,
            *found.optional,
            *(rule for rule in found.cluster_scoped if rule.group not in WRITTEN),
        ]
        assert {named(rule) for rule in within if {"create", "list"} & {*rule.verbs}} <= {False}
        assert all(named(rule) for rule in within if not {"create", "list"} & {*rule.verbs})


@pytest.mark.parametrize("purpose", ["plan", "apply"])
def test_roles_and_bindings_have_one_name_and_one_place(purpose: Purpose) -> None:
    found = [each for each in objects(purpose) if "Role" in each["kind"]]

    assert [each["kind"] for each in found] == [
        "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Role", "RoleBinding",
    ]  # fmt: skip
    assert {each["metadata"]["name"] for each in objects(purpose)} == {f"gpupool-demo-{purpose}"}
    places = [None, None, "capacity", "capacity", "default", "default"]
    assert [each["metadata"].get("namespace") for each in found] == places
    assert [each["roleRef"]["kind"] for each in found if "roleRef" in each] == ["ClusterRole", "Role", "Role"]


@pytest.mark.parametrize("purpose", ["plan", "apply"])
def test_an_inventory_beside_the_events_has_one_role_with_both(purpose: Purpose) -> None:
    """Two of one name in one namespace would be one, with the rights of the second alone."""
    found = list(yaml.safe_load_all(render_roles(purpose, RoleScope("demo", "default"), GROUP)))

    (one,) = (each for each in found if each["kind"] == "Role")
    assert granted(one) == granted(role(purpose, "Role", "capacity")) | granted(
        role(purpose, "Role", "default")
    )


RBAC = {"apiGroup": "rbac.authorization.k8s.io"}


@pytest.mark.parametrize(
    ("subject", "bound", "condition"),
    [
        (
            Subject("User", "jane@example.com"),
            {**RBAC, "kind": "User", "name": "jane@example.com"},
            'has(request.userInfo.username) && request.userInfo.username == "jane@example.com"',
        ),
        (
            Subject("Group", 'a "b" \\c'),
            {**RBAC, "kind": "Group", "name": 'a "b" \\c'},
            r'has(request.userInfo.groups) && "a \"b\" \\c" in request.userInfo.groups',
        ),
        (
            Subject("ServiceAccount", "planner", "ci"),
            {"kind": "ServiceAccount", "name": "planner", "namespace": "ci"},
            'has(request.userInfo.username) && request.userInfo.username == "system:serviceaccount:ci:planner"',
        ),
        (
            None,
            {**RBAC, "kind": "Group", "name": "gpupool-plan"},
            'has(request.userInfo.groups) && "gpupool-plan" in request.userInfo.groups',
        ),
    ],
    ids=["user", "group", "service account", "nobody named"],
)
def test_roles_and_policy_are_for_the_same_subject(
    subject: Subject | None, bound: dict[str, str], condition: str
) -> None:
    policy, *others = objects("plan", subject)

    assert [each["subjects"] for each in others if "subjects" in each] == [[bound]] * 3
    assert [each["expression"] for each in policy["spec"]["matchConditions"]] == [condition]


def test_the_policy_comes_before_the_rights_that_it_bounds() -> None:
    policy, binding, *_ = objects("plan")

    assert (policy["kind"], policy["spec"]["failurePolicy"]) == ("ValidatingAdmissionPolicy", "Fail")
    assert binding["kind"] == "ValidatingAdmissionPolicyBinding"
    assert binding["spec"] == {"policyName": "gpupool-demo-plan", "validationActions": ["Deny"]}
    assert [
        (rule["apiGroups"], rule["resources"]) for rule in policy["spec"]["matchConstraints"]["resourceRules"]
    ] == [
        (["karpenter.sh"], ["nodepools", "nodepools/*", "nodeoverlays", "nodeoverlays/*"]),
        (["karpenter.k8s.aws"], ["ec2nodeclasses", "ec2nodeclasses/*"]),
    ]
    for rule in policy["spec"]["matchConstraints"]["resourceRules"]:
        assert (rule["apiVersions"], rule["operations"]) == (["*"], ["CREATE", "UPDATE", "DELETE"])


def test_apply_has_no_policy() -> None:
    assert not [each for each in objects("apply") if "Admission" in each["kind"]]


@pytest.mark.parametrize("purpose", ["plan", "apply"])
def test_the_bytes_are_the_same_each_time(purpose: Purpose) -> None:
    assert render_roles(purpose, PLACE, None) == render_roles(purpose, RoleScope("demo", "capacity"), None)
    assert render_roles(purpose, PLACE, None) != render_roles(purpose, RoleScope("other", "capacity"), None)


@pytest.mark.parametrize("purpose", ["plan", "apply"])
def test_the_head_says_whom_the_roles_are_for_where_nobody_was_named(purpose: Purpose) -> None:
    assert f"so it is the group gpupool-{purpose};" in render_roles(purpose, PLACE, None)
    assert "No subject" not in render_roles(purpose, PLACE, GROUP)
