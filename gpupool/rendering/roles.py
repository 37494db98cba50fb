"""RBAC rights that plan and apply need, and the Kubernetes objects that grant them.

Planning uses dry runs, and the API server requires the right to write for a dry run as well. The roles for
planning therefore include an admission policy that rejects all other writes of their subject.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from gpupool.yamlio.write import dump_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.yamlio.located import Plain

Purpose: TypeAlias = Literal["plan", "apply"]
SubjectKind: TypeAlias = Literal["User", "Group", "ServiceAccount"]

KARPENTER: Final = "karpenter.sh"
AWS: Final = "karpenter.k8s.aws"
WRITTEN: Final = {KARPENTER: ("nodepools", "nodeoverlays"), AWS: ("ec2nodeclasses",)}
"""The resources that gpupool writes, by API group."""

CRDS: Final = (
    "capacitybuffers.autoscaling.x-k8s.io",
    "ec2nodeclasses.karpenter.k8s.aws",
    "nodeclaims.karpenter.sh",
    "nodeoverlays.karpenter.sh",
    "nodepools.karpenter.sh",
)
EVENTS_NAMESPACE: Final = "default"
"""The namespace of events about cluster-scoped objects."""

_RBAC: Final = "rbac.authorization.k8s.io"
_ADMISSION: Final = "admissionregistration.k8s.io/v1"


class PolicyRule(NamedTuple):
    """The verbs that are allowed on resources of one API group."""

    group: str
    """The API group; empty for the core group."""

    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    names: tuple[str, ...] = ()
    """The names of the allowed objects; empty for all. `list` and `create` cannot be limited by name."""


class Rights(NamedTuple):
    """The rules that one identity needs."""

    cluster_scoped: tuple[PolicyRule, ...]
    """Rules on cluster-scoped objects."""

    in_namespace: tuple[PolicyRule, ...]
    """Rules in the namespace of the inventory and the lock."""

    optional: tuple[PolicyRule, ...] = (PolicyRule("", ("events",), ("list",)),)
    """Rules in the namespace of events; without them, gpupool works but reports less."""


class Subject(NamedTuple):
    """The identity that gets the rights."""

    kind: SubjectKind
    name: str
    namespace: str = ""
    """The namespace of a service account; empty for other kinds."""


class RoleScope(NamedTuple):
    """The blueprint that the rights are for, and the namespace of its inventory."""

    blueprint: str
    namespace: str

    @property
    def inventory(self) -> str:
        """Return the name of the ConfigMap and the Lease."""
        return f"gpupool-{self.blueprint}"


def build_rights(purpose: Purpose, scope: RoleScope) -> Rights:
    """Return exactly the rights that `gpupool plan` or `gpupool apply` needs."""
    is_apply = purpose == "apply"
    verbs = ("get", "list", "create", "patch", *(("delete", "watch") if is_apply else ()))
    cluster_scoped = (
        *(PolicyRule(group, resources, verbs) for group, resources in WRITTEN.items()),
        PolicyRule(KARPENTER, ("nodeclaims",), ("list",)),
        PolicyRule("", ("namespaces",), ("get",), ("kube-system",)),
        PolicyRule("apiextensions.k8s.io", ("customresourcedefinitions",), ("get",), CRDS),
    )
    names = (scope.inventory,)
    if not is_apply:
        return Rights(cluster_scoped, (PolicyRule("", ("configmaps",), ("get",), names),))
    in_namespace = (
        PolicyRule("", ("configmaps",), ("get", "patch"), names),
        PolicyRule("", ("configmaps",), ("create",)),
        PolicyRule("coordination.k8s.io", ("leases",), ("get", "update", "delete"), names),
        PolicyRule("coordination.k8s.io", ("leases",), ("create",)),
    )
    return Rights(cluster_scoped, in_namespace)


def group_by_namespace(rights: Rights, scope: RoleScope) -> list[tuple[str, tuple[PolicyRule, ...]]]:
    """Return the rules of each namespace, the inventory's namespace first."""
    if scope.namespace == EVENTS_NAMESPACE:
        return [(scope.namespace, (*rights.in_namespace, *rights.optional))]
    return [(scope.namespace, rights.in_namespace), (EVENTS_NAMESPACE, rights.optional)]


def default_subject(purpose: Purpose) -> Subject:
    """Return the default subject: a group."""
    return Subject("Group", f"gpupool-{purpose}")


def render_roles(purpose: Purpose, scope: RoleScope, subject: Subject | None) -> str:
    """Return the objects that grant the rights, as YAML for `kubectl apply -f -`; the policy comes first."""
    grantee = subject or default_subject(purpose)
    name = f"{scope.inventory}-{purpose}"
    objects = [
        *(_build_policy(name, grantee) if purpose == "plan" else ()),
        *_build_roles(name, build_rights(purpose, scope), scope, grantee),
    ]
    return dump_all(objects, _header(purpose, scope, subject))


def _header(purpose: Purpose, scope: RoleScope, subject: Subject | None) -> Iterator[str]:
    yield f"What `gpupool {purpose}` needs for the blueprint {scope.blueprint}, and nothing beyond."
    if purpose == "plan":
        yield "The policy lets its subject write in dry runs only; grant the roles together with it."
    if subject is None:
        group = default_subject(purpose).name
        yield f"No subject was named, so it is the group {group}; on EKS, groups stand in"
        yield "access entries. Name another subject with --user, --group or --service-account."


def _build_roles(name: str, rights: Rights, scope: RoleScope, subject: Subject) -> Iterator[Plain]:
    subjects: list[Plain] = [_format_subject(subject)]
    namespaced = group_by_namespace(rights, scope)
    for prefix, rules, metadata in (
        ("Cluster", rights.cluster_scoped, {"name": name}),
        *(("", rules, {"name": name, "namespace": namespace}) for namespace, rules in namespaced),
    ):
        head: dict[str, Plain] = {
            "apiVersion": f"{_RBAC}/v1",
            "kind": f"{prefix}Role",
            "metadata": dict(metadata),
        }
        yield {**head, "rules": [_format_rule(rule) for rule in rules]}
        yield {
            **head,
            "kind": f"{prefix}RoleBinding",
            "roleRef": {"apiGroup": _RBAC, "kind": f"{prefix}Role", "name": name},
            "subjects": subjects,
        }


def _format_rule(rule: PolicyRule) -> Plain:
    fields: dict[str, Plain] = {"apiGroups": [rule.group], "resources": list(rule.resources)}
    if rule.names:
        fields["resourceNames"] = list(rule.names)
    return {**fields, "verbs": list(rule.verbs)}


def _format_subject(subject: Subject) -> Plain:
    if subject.kind == "ServiceAccount":
        return {"kind": subject.kind, "name": subject.name, "namespace": subject.namespace}
    return {"apiGroup": _RBAC, "kind": subject.kind, "name": subject.name}


def _build_policy(name: str, subject: Subject) -> Iterator[Plain]:
    """Yield the policy that allows only dry runs to the subject, and its binding."""
    message = f"{_describe(subject)} may plan only: dry runs are allowed, writes are not"
    yield {
        "apiVersion": _ADMISSION,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": [group],
                        "apiVersions": ["*"],
                        "operations": ["CREATE", "UPDATE", "DELETE"],
                        "resources": [resource for plural in plurals for resource in (plural, f"{plural}/*")],
                    }
                    for group, plurals in WRITTEN.items()
                ]
            },
            "matchConditions": [{"name": "plans-only", "expression": _subject_condition(subject)}],
            "validations": [
                {"expression": "request.dryRun == true", "message": message, "reason": "Forbidden"}
            ],
        },
    }
    yield {
        "apiVersion": _ADMISSION,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    }


def _subject_condition(subject: Subject) -> str:
    """Return the CEL condition for the subject's requests; an error in it would reject all requests."""
    if subject.kind == "Group":
        return f"has(request.userInfo.groups) && {_quote_cel(subject.name)} in request.userInfo.groups"
    return f"has(request.userInfo.username) && request.userInfo.username == {_quote_cel(_username(subject))}"


def _username(subject: Subject) -> str:
    account = f"system:serviceaccount:{subject.namespace}:{subject.name}"
    return account if subject.kind == "ServiceAccount" else subject.name


def _describe(subject: Subject) -> str:
    kind = "the group" if subject.kind == "Group" else "the user"
    return f"{kind} {_username(subject)}"


def _quote_cel(text: str) -> str:
    """Return a CEL string literal, which equals that of JSON; names contain no control characters."""
    return json.dumps(text, ensure_ascii=False)
