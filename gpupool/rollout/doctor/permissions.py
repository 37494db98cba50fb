"""Permissions of the user for plan and apply, as the API server's authorizer reports them."""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.client import FIELD_MANAGER, MERGE, Request
from gpupool.cluster.parallel import map_parallel
from gpupool.cluster.rejections import message
from gpupool.cluster.resources import KINDS, NODE_POOL
from gpupool.errors import GpupoolError
from gpupool.rendering.roles import EVENTS_NAMESPACE, RoleScope, build_rights
from gpupool.rollout.doctor.check import Check, CheckState
from gpupool.yamlio.located import plain_list, plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from gpupool.cluster.client import Cluster, Response
    from gpupool.cluster.resources import ResourceKind
    from gpupool.rendering.roles import PolicyRule, Purpose
    from gpupool.rollout.connection import ReachedCluster
    from gpupool.yamlio.located import Plain


_TO_APPLY: Final = "rights to apply"
_REVIEWS: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_NAME: Final = "plan only"
_CREATED, _FORBIDDEN, _NOT_FOUND, _CONFLICT = 201, 403, 404, 409
_POLICY: Final = re.compile(r"ValidatingAdmissionPolicy '([^']+)'")
_CLEANUP_SECONDS: Final = 5.0


class Right(NamedTuple):
    """A verb on a resource."""

    verb: str
    group: str
    resource: str
    name: str
    """The name of the one object; empty for all."""

    namespace: str
    """The namespace; empty for cluster-scoped resources."""

    @property
    def target(self) -> str:
        """Return the resource as text, as in `configmaps/gpupool-demo in kube-system`."""
        resource = f"{self.resource}.{self.group}" if self.group else self.resource
        name = f"/{self.name}" if self.name else ""
        return f"{resource}{name}{f' in {self.namespace}' if self.namespace else ''}"


class Permissions(NamedTuple):
    """The rights that a blueprint's plan and apply need, and those that the user lacks."""

    plan: tuple[Right, ...]
    apply: tuple[Right, ...]
    """The rights that apply needs beyond those of plan."""

    missing: frozenset[Right]
    optional: frozenset[Right] = frozenset()
    """Rights that plan and apply can do without."""

    error: str = ""
    """Why the rights are unknown; empty where they are known."""

    def allow(self, verb: str, resource: str) -> bool:
        """Return whether the user has the required rights of this verb and resource."""
        required = {
            right for right in (*self.plan, *self.apply) if (right.verb, right.resource) == (verb, resource)
        }
        return not self.error and bool(required) and not required & self.missing


def read_permissions(reached: ReachedCluster, place: RoleScope | None) -> Permissions:
    """Review each right; without a blueprint only those on cluster-scoped resources.

    Raises:
        ClusterError: where the server does not answer.
    """
    plan = tuple(_rights("plan", place))
    more = tuple(right for right in _rights("apply", place) if right not in plan)
    required = (*plan, *more)
    answers = map_parallel(reached.options.concurrency, reached.cluster.ask, map(_review, required))
    rejected = [answer for answer in answers if not answer.ok]
    if rejected:
        return Permissions(plan, more, frozenset(), error=message(rejected[0]))
    allowed = [plain_map(answer.body.get("status")).get("allowed") is True for answer in answers]
    missing = frozenset(right for right, is_allowed in zip(required, allowed, strict=True) if not is_allowed)
    return Permissions(plan, more, missing, frozenset(_optional("plan")))


def check_plan_rights(permissions: Permissions) -> Check:
    """Check the rights that `diff` and `plan` need."""
    return _check_rights("plan", permissions, permissions.plan, "diff and plan need")


def check_apply_rights(permissions: Permissions) -> Check:
    """Check the rights that `apply` needs beyond plan; a user who can only plan is a warning."""
    if permissions.missing - permissions.optional == {*permissions.apply}:
        text = "none of what apply needs beyond plan: this user can only plan"
        return Check(_TO_APPLY, CheckState.WARNING, text, "to apply, grant what `gpupool rbac apply` prints")
    return _check_rights("apply", permissions, permissions.apply, "apply needs beyond plan")


def _check_rights(
    purpose: Purpose, permissions: Permissions, required: Collection[Right], purpose_text: str
) -> Check:
    name = f"rights to {purpose}"
    if permissions.error:
        return Check(name, CheckState.UNKNOWN, permissions.error)
    missing = [right for right in required if right in permissions.missing]
    if not missing:
        return Check(name, CheckState.OK, f"all that {purpose_text}")
    text = f"{len(missing)} of {len(required)} that {purpose_text} are missing"
    fix = f"grant what `gpupool rbac {purpose}` prints"
    items = tuple(_by_resource(missing))
    if permissions.optional.issuperset(missing):
        text = f"all that {purpose_text}, but for what explains objects that are not Ready"
        return Check(name, CheckState.WARNING, text, fix, items)
    return Check(name, CheckState.FAILED, text, fix, items)


def _by_resource(missing: Iterable[Right]) -> Iterator[str]:
    verbs: dict[str, list[str]] = {}
    for right in missing:
        verbs.setdefault(right.target, []).append(right.verb)
    return (f"{', '.join(names)} {target}" for target, names in verbs.items())


def _rights(purpose: Purpose, place: RoleScope | None) -> Iterator[Right]:
    granted = build_rights(purpose, place or RoleScope("", ""))
    yield from _expand(granted.cluster_scoped, "")
    if place is not None:
        yield from _expand(granted.in_namespace, place.namespace)
    yield from _optional(purpose)


def _optional(purpose: Purpose) -> Iterator[Right]:
    return _expand(build_rights(purpose, RoleScope("", "")).optional, EVENTS_NAMESPACE)


def _expand(rules: Iterable[PolicyRule], namespace: str) -> Iterator[Right]:
    for rule in rules:
        for resource in rule.resources:
            for name in rule.names or ("",):
                yield from (Right(verb, rule.group, resource, name, namespace) for verb in rule.verbs)


def _review(right: Right) -> Request:
    """Return the review of a right: a POST that stores nothing."""
    attributes: dict[str, Plain] = {
        "verb": right.verb,
        "group": right.group,
        "resource": right.resource,
        **({"name": right.name} if right.name else {}),
        **({"namespace": right.namespace} if right.namespace else {}),
    }
    kind = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
    return Request("POST", _REVIEWS, body={**kind, "spec": {"resourceAttributes": attributes}})


class WriteAttempt(NamedTuple):
    """An attempted write."""

    action: str
    """The write as text, as in `a create`."""

    answer: Response
    left: str = ""
    """The object that it created and that could not be deleted."""

    @property
    def is_allowed(self) -> bool:
        """Return whether the server made the write, or would have."""
        return self.answer.ok or self.answer.status == _CONFLICT

    @property
    def is_denied(self) -> bool:
        """Return whether the server denied the permission."""
        return self.answer.status == _FORBIDDEN

    @property
    def policy(self) -> str:
        """Return the admission policy that denied it; empty for other reasons."""
        match = _POLICY.search(message(self.answer))
        return match[1] if match and self.is_denied else ""


def prove_plan_only(cluster: Cluster) -> Check:
    """Check that attempts to create and to update an object are denied.

    Raises:
        ClusterError: where the server does not answer.
        StoppedError: after a signal.
    """
    existing = {kind: name for kind in KINDS.values() if (name := _one_of(cluster, kind))}
    attempts = [_create(cluster, existing.get(NODE_POOL, ""))]
    if existing:
        kind, name = next(iter(existing.items()))
        request = Request("PATCH", kind.path_of(name), {"fieldManager": FIELD_MANAGER}, {}, MERGE)
        attempts.append(WriteAttempt("an update", cluster.ask(request)))
    return _check_attempts(attempts)


def _check_attempts(attempts: Sequence[WriteAttempt]) -> Check:
    if allowed := [attempt for attempt in attempts if attempt.is_allowed]:
        text = f"{_were(allowed)} not denied: this user can write"
        fix = "take its other roles from it, and grant it all that `gpupool rbac plan` prints"
        left = tuple(f"delete {attempt.left}: it was created" for attempt in allowed if attempt.left)
        return Check(_NAME, CheckState.FAILED, text if left else f"{text}; nothing is left of it", fix, left)
    if unclear := [attempt for attempt in attempts if not attempt.is_denied]:
        problem = f"{_were(unclear)} refused, but not denied: {message(unclear[0].answer)}"
        return Check(_NAME, CheckState.FAILED, problem, "that proves nothing; ask again once it is mended")
    policies = sorted({attempt.policy for attempt in attempts if attempt.policy})
    if not policies:
        text = f"{_were(attempts)} denied, but for want of the right: it can't dry-run either"
        return Check(_NAME, CheckState.OK, text)
    return Check(_NAME, CheckState.OK, f"{_were(attempts)} denied by {', '.join(policies)}")


def _were(attempts: Sequence[WriteAttempt]) -> str:
    return f"{' and '.join(attempt.action for attempt in attempts)} {'were' if len(attempts) > 1 else 'was'}"


def _create(cluster: Cluster, existing: str) -> WriteAttempt:
    name = existing or f"gpupool-doctor-probe-{secrets.token_hex(4)}"
    request = Request("POST", NODE_POOL.path, {"fieldManager": FIELD_MANAGER}, _probe(name))
    try:
        answer = cluster.ask(request)
    except GpupoolError:
        if not existing:
            _delete(cluster, name)
        raise
    # A conflict over this random name: an earlier try, whose response was lost, created it.
    is_created = not existing and answer.status in {_CREATED, _CONFLICT}
    left = "" if not is_created or _delete(cluster, name) else f"NodePool/{name}"
    return WriteAttempt("a create", answer, left)


def _delete(cluster: Cluster, name: str) -> bool:
    """Delete the probe, also after a signal; return whether it no longer exists."""
    try:
        answer = cluster.with_deadline(_CLEANUP_SECONDS).ask(Request("DELETE", NODE_POOL.path_of(name)))
    except GpupoolError:
        return False
    return answer.ok or answer.status == _NOT_FOUND


def _one_of(cluster: Cluster, kind: ResourceKind) -> str:
    """Return the name of any object of a kind; empty where there is none, or where listing fails."""
    answer = cluster.ask(Request("GET", kind.path, {"limit": "1"}))
    items = plain_list(answer.body.get("items")) if answer.ok else []
    return plain_text(plain_map(plain_map(items[0]).get("metadata")).get("name")) if items else ""


def _probe(name: str) -> Plain:
    """Return a NodePool that launches nothing, as its limit is 0 and its class does not exist."""
    reference: Plain = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": name}
    return {
        "apiVersion": NODE_POOL.api_version,
        "kind": NODE_POOL.name,
        "metadata": {"name": name},
        "spec": {
            "limits": {"cpu": "0"},
            "template": {"spec": {"nodeClassRef": reference, "requirements": []}},
        },
    }
