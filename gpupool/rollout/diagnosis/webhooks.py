"""Which admission webhooks see what gpupool writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpupool.cluster.kinds import KINDS
from gpupool.cluster.port import Request
from gpupool.cluster.refusals import refuse
from gpupool.rollout.diagnosis.check import Check, State
from gpupool.yamlio.nodes import plain_list, plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpupool.cluster.kinds import Kind
    from gpupool.cluster.port import Cluster
    from gpupool.yamlio.nodes import Plain

_ADMISSION: Final = "/apis/admissionregistration.k8s.io/v1"
_WRITES: Final = frozenset({"*", "CREATE", "UPDATE", "DELETE"})
_FORBIDDEN: Final = 403


def webhooks(cluster: Cluster) -> Check:
    """Name the webhooks that see Karpenter's objects; one that changes them is a warning.

    Raises:
        ClusterError: where the server does not answer.
    """
    mutating, validating = _matching(cluster, "mutating"), _matching(cluster, "validating")
    if mutating is None or validating is None:
        return Check("webhooks", State.UNKNOWN, "may not list webhook configurations")
    items = (*(f"mutating {each}" for each in mutating), *(f"validating {each}" for each in validating))
    if mutating:
        fix = "have them pass over Karpenter's groups, or expect that they change what is applied"
        return Check("webhooks", State.WARNING, "some may change what gpupool writes", fix, items)
    if validating:
        return Check("webhooks", State.OK, "some may refuse what gpupool writes", items=items)
    return Check("webhooks", State.OK, "none sees Karpenter's objects")


def _matching(cluster: Cluster, sort: str) -> list[str] | None:
    """Name those of one sort, with what becomes of a write when they don't answer; None if not allowed to."""
    request = Request("GET", f"{_ADMISSION}/{sort}webhookconfigurations")
    answer = cluster.ask(request)
    if answer.status == _FORBIDDEN:
        return None
    if not answer.ok:
        refuse(request, answer, f"list {sort} webhooks")
    return [
        name
        for configuration in map(plain_map, plain_list(answer.body.get("items")))
        for name in _names(configuration)
    ]


def _names(configuration: Mapping[str, Plain]) -> Iterator[str]:
    owner = plain_text(plain_map(configuration.get("metadata")).get("name"))
    for webhook in map(plain_map, plain_list(configuration.get("webhooks"))):
        if any(
            _sees(plain_map(rule), kind)
            for rule in plain_list(webhook.get("rules"))
            for kind in KINDS.values()
        ):
            policy = plain_text(webhook.get("failurePolicy"))
            yield f"{owner}: {plain_text(webhook.get('name'))} (failurePolicy {policy})"


def _sees(rule: Mapping[str, Plain], kind: Kind) -> bool:
    def said(key: str) -> set[str]:
        return set(map(plain_text, plain_list(rule.get(key))))

    return (
        bool(said("operations") & _WRITES)
        and bool(said("apiGroups") & {"*", kind.group})
        and bool(said("apiVersions") & {"*", kind.version})
        and bool(said("resources") & {"*", "*/*", kind.plural, f"{kind.plural}/*"})
        and rule.get("scope") != "Namespaced"
    )
