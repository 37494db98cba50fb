"""Total requests of a pod: containers, init containers, sidecars, pod-level requests and overhead.

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
    """The requests of a container or pod, and its limits."""

    requests: Resources
    limits: Resources

    def with_defaults(self) -> Resources:
        """Return the requests with the API server's defaults: a limit is also a missing request."""
        return {**self.limits, **self.requests}


class Container(NamedTuple):
    """The resources of a container."""

    resources: RequestsAndLimits
    is_sidecar: bool = False
    """Whether it is an init container that keeps running beside the others."""


def sum_pod_requests(
    containers: Sequence[Container], init: Sequence[Container], pod: RequestsAndLimits, overhead: Resources
) -> Resources:
    """Sum the resources that a scheduler must find on one node, including `pods: 1`."""
    aggregated = _sum_containers(containers, init)
    requested = sum_resources([{**aggregated, **_get_pod_level(pod, aggregated)}, overhead])
    return {**requested, PODS: 1}


def sum_resources(parts: Iterable[Resources]) -> dict[str, Amount]:
    """Sum each resource over all parts."""
    sums: dict[str, Amount] = {}
    for part in parts:
        for name, amount in part.items():
            sums[name] = sums.get(name, 0) + amount
    return sums


def _sum_containers(containers: Sequence[Container], init: Sequence[Container]) -> dict[str, Amount]:
    """Return what the containers need at once: init containers one by one, beside earlier sidecars."""
    sidecars: dict[str, Amount] = {}
    peak: dict[str, Amount] = {}
    for container in init:
        running = sum_resources([sidecars, container.resources.with_defaults()])
        peak = _get_largest(peak, running)
        if container.is_sidecar:
            sidecars = running
    return _get_largest(
        sum_resources([*(container.resources.with_defaults() for container in containers), sidecars]), peak
    )


def _get_pod_level(pod: RequestsAndLimits, aggregated: Resources) -> dict[str, Amount]:
    """Return the pod-level requests, which replace those of its containers."""
    own = {name: amount for name, amount in pod.requests.items() if _is_pod_level(name)}
    if not pod.limits:
        return own
    containers = {name: aggregated[name] for name in _OVERCOMMITTED if name in aggregated}
    own_limits = {name: amount for name, amount in pod.limits.items() if _is_pod_level(name)}
    return {**own_limits, **containers, **own}


def _is_pod_level(name: str) -> bool:
    return name in _OVERCOMMITTED or name.startswith(_HUGE_PAGES)


def _get_largest(one: Resources, other: Resources) -> dict[str, Amount]:
    return {
        name: max(one.get(name, other.get(name, 0)), other.get(name, one.get(name, 0)))
        for name in {**one, **other}
    }
