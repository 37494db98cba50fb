"""What a pod requests in all: containers, init containers, sidecars, the pod's own and its overhead.

Sources: component-helpers `resource/helpers.go` and core `v1/defaults.go` of Kubernetes 1.35 and 1.36.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpupool.karpenter.pods import PODS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gpupool.karpenter.pods import Resources
    from gpupool.karpenter.quantities import Amount

_OVERCOMMITTED = ("cpu", "memory")
_HUGE_PAGES = "hugepages-"


class RequestsAndLimits(NamedTuple):
    """What somebody requests, and the most that it may use."""

    requests: Resources
    limits: Resources

    def defaulted(self) -> Resources:
        """Return the requests as the API server fills them in: what is only limited is requested too."""
        return {**self.limits, **self.requests}


class Container(NamedTuple):
    """A container as far as its resources go."""

    asked: RequestsAndLimits
    is_sidecar: bool = False
    """An init container that keeps running beside the others."""


def sum_pod_requests(
    containers: Sequence[Container], init: Sequence[Container], pod: RequestsAndLimits, overhead: Resources
) -> Resources:
    """Return what a scheduler has to find on one node, `pods: 1` with it."""
    aggregated = _aggregated(containers, init)
    requested = sum_resources([{**aggregated, **_pod_level(pod, aggregated)}, overhead])
    return {**requested, PODS: 1}


def sum_resources(parts: Iterable[Resources]) -> dict[str, Amount]:
    """Return the sum of each resource."""
    found: dict[str, Amount] = {}
    for part in parts:
        for name, amount in part.items():
            found[name] = found.get(name, 0) + amount
    return found


def _aggregated(containers: Sequence[Container], init: Sequence[Container]) -> dict[str, Amount]:
    """Return what the containers need at once: init containers in turn, beside the sidecars before."""
    sidecars: dict[str, Amount] = {}
    starting: dict[str, Amount] = {}
    for container in init:
        beside = sum_resources([sidecars, container.asked.defaulted()])
        starting = _largest(starting, beside)
        if container.is_sidecar:
            sidecars = beside
    return _largest(sum_resources([*(each.asked.defaulted() for each in containers), sidecars]), starting)


def _pod_level(pod: RequestsAndLimits, aggregated: Resources) -> dict[str, Amount]:
    """Return what the pod requests as a whole, which counts instead of what its containers do."""
    own = {name: amount for name, amount in pod.requests.items() if _is_pod_level(name)}
    if not pod.limits:
        return own
    containers = {name: aggregated[name] for name in _OVERCOMMITTED if name in aggregated}
    limited = {name: amount for name, amount in pod.limits.items() if _is_pod_level(name)}
    return {**limited, **containers, **own}


def _is_pod_level(name: str) -> bool:
    return name in _OVERCOMMITTED or name.startswith(_HUGE_PAGES)


def _largest(one: Resources, other: Resources) -> dict[str, Amount]:
    return {
        name: max(one.get(name, other.get(name, 0)), other.get(name, one.get(name, 0)))
        for name in {**one, **other}
    }
