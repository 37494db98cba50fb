"""The rights that plan and apply need, as values, and as the Kubernetes objects that grant them.

To plan is to dry-run, and the API server asks for the right to write before it looks whether it is a dry run.
The roles for planning therefore come with an admission policy that takes nothing else from their subject.
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
"""What gpupool writes, by API group."""

CRDS: Final = (
    "capacitybuffers.autoscaling.x-k8s.io",
    "ec2nodeclasses.karpenter.k8s.aws",
    "nodeclaims.karpenter.sh",
    "nodeoverlays.karpenter.sh",
    "nodepools.karpenter.sh",
)
EVENTS_NAMESPACE: Final = "default"
"""Where the server keeps the events of objects that are in no namespace."""

_RBAC: Final = "rbac.authorization.k8s.io"
_ADMISSION: Final = "admissionregistration.k8s.io/v1"


class PolicyRule(NamedTuple):
    """Verbs on resources of one API group."""

    group: str
    """The empty text for Kubernetes' core."""

    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    names: tuple[str, ...] = ()
    """The only objects that are meant; empty for all. To list and to create have no name to hold on to."""


class Rights(NamedTuple):
    """What one identity may do."""

    everywhere: tuple[PolicyRule, ...]
    """On what is in no namespace."""

    in_namespace: tuple[PolicyRule, ...]
    """Where the inventory and the lock are."""

    optional: tuple[PolicyRule, ...] = (PolicyRule("", ("events",), ("list",)),)
    """In the namespace of events: what gpupool goes on without, and says less."""


class Subject(NamedTuple):
    """Who gets the rights."""

    kind: SubjectKind
    name: str
    namespace: str = ""
    """Of a service account."""


class RoleScope(NamedTuple):
    """Which blueprint the rights are for, and where its inventory is."""

    blueprint: str
    namespace: str

    @property
    def inventory(self) -> str:
        """Return the name of the ConfigMap and the Lease."""
        return f"gpupool-{self.blueprint}"


def build_rights(purpose: Purpose, place: RoleScope) -> Rights:
    """Return what `gpupool plan` or `gpupool apply` needs, and nothing beyond."""
    applies = purpose == "apply"
    verbs = ("get", "list", "create", "patch", *(("delete", "watch") if applies else ()))
    everywhere = (
        *(PolicyRule(group, resources, verbs) for group, resources in WRITTEN.items()),
        PolicyRule(KARPENTER, ("nodeclaims",), ("list",)),
        PolicyRule("", ("namespaces",), ("get",), ("kube-system",)),
        PolicyRule("apiextensions.k8s.io", ("customresourcedefinitions",), ("get",), CRDS),
    )
    only = (place.inventory,)
    if not applies:
        return Rights(everywhere, (PolicyRule("", ("configmaps",), ("get",), only),))
    within = (
        PolicyRule("", ("configmaps",), ("get", "patch"), only),
        PolicyRule("", ("configmaps",), ("create",)),
        PolicyRule("coordination.k8s.io", ("leases",), ("get", "update", "delete"), only),
        PolicyRule("coordination.k8s.io", ("leases",), ("create",)),
    )
    return Rights(everywhere, within)


def group_by_namespace(granted: Rights, place: RoleScope) -> list[tuple[str, tuple[PolicyRule, ...]]]:
    """Return the rules of each namespace, that of the inventory first."""
    if place.namespace == EVENTS_NAMESPACE:
        return [(place.namespace, (*granted.in_namespace, *granted.optional))]
    return [(place.namespace, granted.in_namespace), (EVENTS_NAMESPACE, granted.optional)]


def default_subject(purpose: Purpose) -> Subject:
    """Return the subject where none was named: a group."""
    return Subject("Group", f"gpupool-{purpose}")


def render_roles(purpose: Purpose, place: RoleScope, subject: Subject | None) -> str:
    """Return the objects that grant the rights as YAML for `kubectl apply -f -`, the policy first."""
    who = subject or default_subject(purpose)
    name = f"{place.inventory}-{purpose}"
    objects = [
        *(_policy(name, who) if purpose == "plan" else ()),
        *_roles(name, build_rights(purpose, place), place, who),
    ]
    return dump_all(objects, _head(purpose, place, subject))


def _head(purpose: Purpose, place: RoleScope, subject: Subject | None) -> Iterator[str]:
    yield f"What `gpupool {purpose}` needs for the blueprint {place.blueprint}, and nothing beyond."
    if purpose == "plan":
        yield "The policy lets its subject write in dry runs only; grant the roles together with it."
    if subject is None:
        yield f"No subject was named, so it is the group {default_subject(purpose).name}; on EKS, groups stand in"
        yield "access entries. Name another subject with --user, --group or --service-account."


def _roles(name: str, granted: Rights, place: RoleScope, who: Subject) -> Iterator[Plain]:
    subjects: list[Plain] = [_subject(who)]
    for prefix, rules, metadata in (
        ("Cluster", granted.everywhere, {"name": name}),
        *(
            ("", rules, {"name": name, "namespace": each})
            for each, rules in group_by_namespace(granted, place)
        ),
    ):
        head: dict[str, Plain] = {
            "apiVersion": f"{_RBAC}/v1",
            "kind": f"{prefix}Role",
            "metadata": dict(metadata),
        }
        yield {**head, "rules": [_rule(rule) for rule in rules]}
        yield {
            **head,
            "kind": f"{prefix}RoleBinding",
            "roleRef": {"apiGroup": _RBAC, "kind": f"{prefix}Role", "name": name},
            "subjects": subjects,
        }


def _rule(rule: PolicyRule) -> Plain:
    found: dict[str, Plain] = {"apiGroups": [rule.group], "resources": list(rule.resources)}
    if rule.names:
        found["resourceNames"] = list(rule.names)
    return {**found, "verbs": list(rule.verbs)}


def _subject(who: Subject) -> Plain:
    if who.kind == "ServiceAccount":
        return {"kind": who.kind, "name": who.name, "namespace": who.namespace}
    return {"apiGroup": _RBAC, "kind": who.kind, "name": who.name}


def _policy(name: str, who: Subject) -> Iterator[Plain]:
    """Yield the policy that takes nothing but dry runs from the subject, and what puts it into force."""
    message = f"{_words(who)} may plan only: dry runs are allowed, writes are not"
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
                        "resources": [each for plural in plurals for each in (plural, f"{plural}/*")],
                    }
                    for group, plurals in WRITTEN.items()
                ]
            },
            "matchConditions": [{"name": "plans-only", "expression": _is_subject(who)}],
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


def _is_subject(who: Subject) -> str:
    """Return the CEL condition for the subject's requests; one that fails would refuse everybody's."""
    if who.kind == "Group":
        return f"has(request.userInfo.groups) && {_text(who.name)} in request.userInfo.groups"
    return f"has(request.userInfo.username) && request.userInfo.username == {_text(_username(who))}"


def _username(who: Subject) -> str:
    account = f"system:serviceaccount:{who.namespace}:{who.name}"
    return account if who.kind == "ServiceAccount" else who.name


def _words(who: Subject) -> str:
    kind = "the group" if who.kind == "Group" else "the user"
    return f"{kind} {_username(who)}"


def _text(said: str) -> str:
    """Return a text as CEL writes it, which is as JSON does; names hold no control characters."""
    return json.dumps(said, ensure_ascii=False)
