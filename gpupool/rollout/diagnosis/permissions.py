"""Whether the user may do what plan and apply do, asked of the API server's own authorizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.parallel import each as in_parallel
from gpupool.cluster.port import Request
from gpupool.cluster.refusals import message
from gpupool.rendering.roles import EVENTS_NAMESPACE, Place, rights
from gpupool.rollout.diagnosis.check import Check, State
from gpupool.yamlio.nodes import plain_map

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from gpupool.rendering.roles import Purpose, Rule
    from gpupool.rollout.reach import Reached
    from gpupool.yamlio.nodes import Plain

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
        """Give what it is a right on, as in `configmaps/gpupool-demo in kube-system`."""
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
        """Say whether the user has the rights of this verb and resource that are needed."""
        wanted = {
            right for right in (*self.plan, *self.apply) if (right.verb, right.resource) == (verb, resource)
        }
        return not self.unasked and bool(wanted) and not wanted & self.missing


def permissions(reached: Reached, place: Place | None) -> Permissions:
    """Ask for each right; without a blueprint's place for those alone that are in no namespace.

    Raises:
        ClusterError: where the server does not answer.
    """
    plan = tuple(_rights("plan", place))
    more = tuple(right for right in _rights("apply", place) if right not in plan)
    wanted = (*plan, *more)
    answers = in_parallel(reached.way.concurrency, reached.cluster.ask, map(_review, wanted))
    refused = [answer for answer in answers if not answer.ok]
    if refused:
        return Permissions(plan, more, frozenset(), unasked=message(refused[0]))
    allowed = [plain_map(answer.body.get("status")).get("allowed") is True for answer in answers]
    missing = frozenset(right for right, may in zip(wanted, allowed, strict=True) if not may)
    return Permissions(plan, more, missing, frozenset(_optional("plan")))


def rights_to_plan(found: Permissions) -> Check:
    """Say whether the user may do what `diff` and `plan` need."""
    return _rights_to("plan", found, found.plan, "diff and plan need")


def rights_to_apply(found: Permissions) -> Check:
    """Say whether the user may do what `apply` needs beside that; to be able to plan alone is no failure."""
    if found.missing - found.optional == {*found.apply}:
        words = "none of what apply needs beyond plan: this user can only plan"
        return Check(_TO_APPLY, State.WARNING, words, "to apply, grant what `gpupool rbac apply` prints")
    return _rights_to("apply", found, found.apply, "apply needs beyond plan")


def _rights_to(purpose: Purpose, found: Permissions, wanted: Collection[Right], words: str) -> Check:
    name = f"rights to {purpose}"
    if found.unasked:
        return Check(name, State.UNKNOWN, found.unasked)
    missing = [right for right in wanted if right in found.missing]
    if not missing:
        return Check(name, State.OK, f"all that {words}")
    said = f"{len(missing)} of {len(wanted)} that {words} are missing"
    fix = f"grant what `gpupool rbac {purpose}` prints"
    items = tuple(_by_resource(missing))
    if found.optional.issuperset(missing):
        said = f"all that {words}, but for what explains objects that are not Ready"
        return Check(name, State.WARNING, said, fix, items)
    return Check(name, State.FAILED, said, fix, items)


def _by_resource(missing: Iterable[Right]) -> Iterator[str]:
    verbs: dict[str, list[str]] = {}
    for right in missing:
        verbs.setdefault(right.on, []).append(right.verb)
    return (f"{', '.join(said)} {on}" for on, said in verbs.items())


def _rights(purpose: Purpose, place: Place | None) -> Iterator[Right]:
    granted = rights(purpose, place or Place("", ""))
    yield from _each(granted.everywhere, "")
    if place is not None:
        yield from _each(granted.in_namespace, place.namespace)
    yield from _optional(purpose)


def _optional(purpose: Purpose) -> Iterator[Right]:
    return _each(rights(purpose, Place("", "")).optional, EVENTS_NAMESPACE)


def _each(rules: Iterable[Rule], namespace: str) -> Iterator[Right]:
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
