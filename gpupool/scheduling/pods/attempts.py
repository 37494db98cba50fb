"""Scheduling attempts of a pod, in the order in which Karpenter drops its preferences.

Source: pkg/controllers/provisioning/scheduling/preferences.go and pkg/scheduling/requirements.go of
Karpenter v1.14.1. Preferences about other pods are left out, because there are no other pods.
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
    """One attempt: the requirements on a node's labels, and the pod with its tolerations."""

    requirements: Requirements
    pod: Pod


def list_attempts(pod: Pod, *, tolerates_soft_taints: bool) -> Iterator[Attempt]:
    """Yield the attempts in order.

    The last attempt tolerates soft taints (PreferNoSchedule), if any pool has one.
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
    """Yield an attempt without preferences for each of the pod's required terms."""
    tolerant_pod = replace(pod, tolerations=(*pod.tolerations, PREFER_NO_SCHEDULE))
    for term in pod.required or ((),):
        yield Attempt(combine_pod_requirements(pod, [term]), tolerant_pod)


def combine_pod_requirements(pod: Pod, terms: Iterable[Term]) -> Requirements:
    """Return the requirements of the pod's selector and these terms of its affinity."""
    return combine_requirements(
        [
            *labels_to_requirements(pod.node_selector or {}),
            *(
                build_requirement(expression.key, expression.operator, expression.values)
                for term in terms
                for expression in term
            ),
        ]
    )
