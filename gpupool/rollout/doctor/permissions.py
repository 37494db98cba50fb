"""Whether the user may do what plan and apply do, asked of the API server's own authorizer."""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.client import FIELD_MANAGER, MERGE, Request
from gpupool.cluster.parallel import map_parallel
from gpupool.cluster.rejections import message
from gpupool.cluster.resources import KINDS, NODE_POOL
from gpupool.errors import GpupoolError
from gpupool.rendering.roles import EVENTS_NAMESPACE, RoleScope, rights
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


class Right(NamedTuple):
    """One verb on one resource."""

    verb: str
    group: str
    resource: str
    name: str
    """The one object that is meant; empty for all."""

    namespace: str
    """Empty for what is in none."""

    @property
    def on(self) -> str:
        """Return what it is a right on, as in `configmaps/gpupool-demo in kube-system`."""
        resource = f"{self.resource}.{self.group}" if self.group else self.resource
        name = f"/{self.name}" if self.name else ""
        return f"{resource}{name}{f' in {self.namespace}' if self.namespace else ''}"


class Permissions(NamedTuple):
    """Which of the rights that a blueprint's plan and apply need the user has."""

    plan: tuple[Right, ...]
    apply: tuple[Right, ...]
    """What apply needs beside those of plan."""

    missing: frozenset[Right]
    optional: frozenset[Right] = frozenset()
    """Those without which plan and apply go on."""

    unasked: str = ""
    """Why nobody knows; empty where it is known."""

    def allow(self, verb: str, resource: str) -> bool:
        """Return whether the user has the rights of this verb and resource that are needed."""
        wanted = {
            right for right in (*self.plan, *self.apply) if (right.verb, right.resource) == (verb, resource)
        }
        return not self.unasked and bool(wanted) and not wanted & self.missing


def read_permissions(reached: ReachedCluster, place: RoleScope | None) -> Permissions:
    """Ask for each right; without a blueprint's place for those alone that are in no namespace.

    Raises:
        ClusterError: where the server does not answer.
    """
    plan = tuple(_rights("plan", place))
    more = tuple(right for right in _rights("apply", place) if right not in plan)
    wanted = (*plan, *more)
    answers = map_parallel(reached.way.concurrency, reached.cluster.ask, map(_review, wanted))
    refused = [answer for answer in answers if not answer.ok]
    if refused:
        return Permissions(plan, more, frozenset(), unasked=message(refused[0]))
    allowed = [plain_map(answer.body.get("status")).get("allowed") is True for answer in answers]
    missing = frozenset(right for right, may in zip(wanted, allowed, strict=True) if not may)
    return Permissions(plan, more, missing, frozenset(_optional("plan")))


def check_plan_rights(found: Permissions) -> Check:
    """Return whether the user may do what `diff` and `plan` need."""
    return _rights_to("plan", found, found.plan, "diff and plan need")


def check_apply_rights(found: Permissions) -> Check:
    """Return whether the user may do what `apply` needs beside that; to be able to plan alone is no failure."""
    if found.missing - found.optional == {*found.apply}:
        words = "none of what apply needs beyond plan: this user can only plan"
        return Check(_TO_APPLY, CheckState.WARNING, words, "to apply, grant what `gpupool rbac apply` prints")
    return _rights_to("apply", found, found.apply, "apply needs beyond plan")


def _rights_to(purpose: Purpose, found: Permissions, wanted: Collection[Right], words: str) -> Check:
    name = f"rights to {purpose}"
    if found.unasked:
        return Check(name, CheckState.UNKNOWN, found.unasked)
    missing = [right for right in wanted if right in found.missing]
    if not missing:
        return Check(name, CheckState.OK, f"all that {words}")
    said = f"{len(missing)} of {len(wanted)} that {words} are missing"
    fix = f"grant what `gpupool rbac {purpose}` prints"
    items = tuple(_by_resource(missing))
    if found.optional.issuperset(missing):
        said = f"all that {words}, but for what explains objects that are not Ready"
        return Check(name, CheckState.WARNING, said, fix, items)
    return Check(name, CheckState.FAILED, said, fix, items)


def _by_resource(missing: Iterable[Right]) -> Iterator[str]:
    verbs: dict[str, list[str]] = {}
    for right in missing:
        verbs.setdefault(right.on, []).append(right.verb)
    return (f"{', '.join(said)} {on}" for on, said in verbs.items())


def _rights(purpose: Purpose, place: RoleScope | None) -> Iterator[Right]:
    granted = rights(purpose, place or RoleScope("", ""))
    yield from _each(granted.everywhere, "")
    if place is not None:
        yield from _each(granted.in_namespace, place.namespace)
    yield from _optional(purpose)


def _optional(purpose: Purpose) -> Iterator[Right]:
    return _each(rights(purpose, RoleScope("", "")).optional, EVENTS_NAMESPACE)


def _each(rules: Iterable[PolicyRule], namespace: str) -> Iterator[Right]:
    for rule in rules:
        for resource in rule.resources:
            for name in rule.names or ("",):
                yield from (Right(verb, rule.group, resource, name, namespace) for verb in rule.verbs)


def _review(right: Right) -> Request:
    """Ask whether the user has a right: that is a POST, and stores nothing."""
    attributes: dict[str, Plain] = {
        "verb": right.verb,
        "group": right.group,
        "resource": right.resource,
        **({"name": right.name} if right.name else {}),
        **({"namespace": right.namespace} if right.namespace else {}),
    }
    kind = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
    return Request("POST", _REVIEWS, body={**kind, "spec": {"resourceAttributes": attributes}})


_NAME: Final = "plan only"
_CREATED, _FORBIDDEN, _NOT_FOUND, _CONFLICT = 201, 403, 404, 409
_POLICY: Final = re.compile(r"ValidatingAdmissionPolicy '([^']+)'")
_CLEANUP_SECONDS: Final = 5.0


class WriteAttempt(NamedTuple):
    """A write that was tried."""

    what: str
    """As in `a create`."""

    answer: Response
    left: str = ""
    """What it left behind, and could not be deleted."""

    @property
    def is_allowed(self) -> bool:
        """Return whether the server did it, or would have."""
        return self.answer.ok or self.answer.status == _CONFLICT

    @property
    def is_denied(self) -> bool:
        """Return whether it is not allowed to this user."""
        return self.answer.status == _FORBIDDEN

    @property
    def policy(self) -> str:
        """Return the policy that denied it; empty where another thing did."""
        found = _POLICY.search(message(self.answer))
        return found[1] if found and self.is_denied else ""


def prove_plan_only(cluster: Cluster) -> Check:
    """Try to create and to update, and say whether both were denied.

    Raises:
        ClusterError: where the server does not answer.
        StoppedError: where a signal came.
    """
    there = {kind: name for kind in KINDS.values() if (name := _one_of(cluster, kind))}
    attempts = [_create(cluster, there.get(NODE_POOL, ""))]
    if there:
        kind, name = next(iter(there.items()))
        request = Request("PATCH", kind.path_of(name), {"fieldManager": FIELD_MANAGER}, {}, MERGE)
        attempts.append(WriteAttempt("an update", cluster.ask(request)))
    return _judged(attempts)


def _judged(attempts: Sequence[WriteAttempt]) -> Check:
    if allowed := [attempt for attempt in attempts if attempt.is_allowed]:
        words = f"{_were(allowed)} not denied: this user can write"
        fix = "take its other roles from it, and grant it all that `gpupool rbac plan` prints"
        left = tuple(f"delete {attempt.left}: it was created" for attempt in allowed if attempt.left)
        return Check(
            _NAME, CheckState.FAILED, words if left else f"{words}; nothing is left of it", fix, left
        )
    if unclear := [attempt for attempt in attempts if not attempt.is_denied]:
        said = f"{_were(unclear)} refused, but not denied: {message(unclear[0].answer)}"
        return Check(_NAME, CheckState.FAILED, said, "that proves nothing; ask again once it is mended")
    policies = sorted({attempt.policy for attempt in attempts if attempt.policy})
    if not policies:
        words = f"{_were(attempts)} denied, but for want of the right: it can't dry-run either"
        return Check(_NAME, CheckState.OK, words)
    return Check(_NAME, CheckState.OK, f"{_were(attempts)} denied by {', '.join(policies)}")


def _were(attempts: Sequence[WriteAttempt]) -> str:
    return f"{' and '.join(attempt.what for attempt in attempts)} {'were' if len(attempts) > 1 else 'was'}"


def _create(cluster: Cluster, existing: str) -> WriteAttempt:
    name = existing or f"gpupool-doctor-probe-{secrets.token_hex(4)}"
    request = Request("POST", NODE_POOL.path, {"fieldManager": FIELD_MANAGER}, _probe(name))
    try:
        answer = cluster.ask(request)
    except GpupoolError:
        if not existing:
            _delete(cluster, name)
        raise
    # A conflict over a name that nobody else has: an earlier try, whose answer was lost, made it.
    made = not existing and answer.status in {_CREATED, _CONFLICT}
    left = "" if not made or _delete(cluster, name) else f"NodePool/{name}"
    return WriteAttempt("a create", answer, left)


def _delete(cluster: Cluster, name: str) -> bool:
    """Delete the probe, also after a signal; say whether it is gone."""
    try:
        answer = cluster.with_deadline(_CLEANUP_SECONDS).ask(Request("DELETE", NODE_POOL.path_of(name)))
    except GpupoolError:
        return False
    return answer.ok or answer.status == _NOT_FOUND


def _one_of(cluster: Cluster, kind: ResourceKind) -> str:
    """Return the name of any object of a kind; empty where there is none, or they can't be listed."""
    answer = cluster.ask(Request("GET", kind.path, {"limit": "1"}))
    items = plain_list(answer.body.get("items")) if answer.ok else []
    return plain_text(plain_map(plain_map(items[0]).get("metadata")).get("name")) if items else ""


def _probe(name: str) -> Plain:
    """Return a NodePool that launches nothing: it has no room, and its class does not exist."""
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
