"""A pod's wishes in the order in which Karpenter gives them up, one at a time, until some pool does.

Source: pkg/controllers/provisioning/scheduling/preferences.go and pkg/scheduling/requirements.go of
Karpenter v1.14.1. Wishes about other pods are left out, as there are none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from gpupool.karpenter.pods import PREFER_NO_SCHEDULE
from gpupool.karpenter.requirements import build_requirement, combine_requirements, labels_to_requirements

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gpupool.karpenter.pods import Pod, Term
    from gpupool.karpenter.requirements import Requirements


class Attempt(NamedTuple):
    """What the pod asks of a node's labels at one time, and the pod with its tolerations then."""

    wanted: Requirements
    pod: Pod


def list_attempts(pod: Pod, *, tolerates_soft_taints: bool) -> Iterator[Attempt]:
    """Yield what is tried, in order.

    Soft taints (PreferNoSchedule) are tolerated in the end, where any pool has one.
    """
    required, preferred = list(pod.required), list(pod.preferred)
    while True:
        yield Attempt(combine_pod_requirements(pod, [*preferred[:1], *required[:1]]), pod)
        if len(required) > 1:
            del required[0]
        elif preferred:
            del preferred[0]
        elif tolerates_soft_taints and PREFER_NO_SCHEDULE not in pod.tolerations:
            pod = replace(pod, tolerations=(*pod.tolerations, PREFER_NO_SCHEDULE))
        else:
            return


def list_minimal_attempts(pod: Pod) -> Iterator[Attempt]:
    """Yield what the pod can't do without: once for each of its required terms."""
    willing = replace(pod, tolerations=(*pod.tolerations, PREFER_NO_SCHEDULE))
    for term in pod.required or ((),):
        yield Attempt(combine_pod_requirements(pod, [term]), willing)


def combine_pod_requirements(pod: Pod, terms: Iterable[Term]) -> Requirements:
    """Return what a node has to be for the pod's selector and these terms of its affinity."""
    return combine_requirements(
        [
            *labels_to_requirements(pod.node_selector or {}),
            *(build_requirement(each.key, each.operator, each.values) for term in terms for each in term),
        ]
    )
