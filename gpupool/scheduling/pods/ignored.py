"""Pods that Karpenter ignores, regardless of the pools.

Source: Provisioner.Validate and ValidateRequirement of Karpenter v1.14.1, and the DRA error of its scheduler.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from gpupool.karpenter.integers import parse_int64
from gpupool.karpenter.labels import (
    ALIASES,
    HOSTNAME,
    LABEL_VALUE_PATTERN,
    NODEPOOL,
    RESTRICTED_DOMAINS,
    WELL_KNOWN,
    find_syntax_problem,
    get_domain,
)
from gpupool.karpenter.pods import Expression
from gpupool.scheduling.pods.attempts import list_attempts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.karpenter.pods import Pod

_LONGEST_VALUE = 63
_BOUNDS = ("Gt", "Lt")


class IgnoredPod(NamedTuple):
    """Why Karpenter launches nothing for a pod."""

    message: str
    spec_key: str
    """The key of the pod spec that causes it."""


def find_ignore_reason(pod: Pod) -> IgnoredPod | None:
    """Find why Karpenter launches nothing for a pod; None if it may."""
    return next(_find_reasons(pod), None)


def _find_reasons(pod: Pod) -> Iterator[IgnoredPod]:
    if pod.node_name:
        yield IgnoredPod(f"it is bound to node {pod.node_name!r}, so no scheduler places it", "nodeName")
    if pod.claims_devices:
        message = (
            "it requests devices with resource claims (DRA), which Karpenter does not support:"
            " request nvidia.com/gpu or another resource under `resources`"
        )
        yield IgnoredPod(message, "resourceClaims")
    if pod.selects_by_field:
        yield IgnoredPod("its node affinity has `matchFields`, which Karpenter does not support", "affinity")
    for key, value in (pod.node_selector or {}).items():
        if problem := _find_problem(Expression(key, "In", (value,))):
            yield IgnoredPod(f"Karpenter skips pods that select {key!r}: it {problem}", "nodeSelector")
    for condition in (expression for term in pod.required for expression in term):
        if problem := _find_problem(condition):
            message = f"Karpenter skips pods with affinity to {condition.key!r}: it {problem}"
            yield IgnoredPod(message, "affinity")
    yield from _find_exclusion(pod)


def _find_exclusion(pod: Pod) -> Iterator[IgnoredPod]:
    """Find a selector that excludes all of Karpenter's nodes."""
    first = next(list_attempts(pod, tolerates_soft_taints=False)).requirements.get(NODEPOOL)
    if first is not None and first.operator == "DoesNotExist":
        yield IgnoredPod(
            f"it requires a node without the label {NODEPOOL}, which all of Karpenter's have", "affinity"
        )


def _find_problem(condition: Expression) -> str:
    """Return why Karpenter rejects a condition, as text that continues a sentence about its key."""
    key = ALIASES.get(condition.key, condition.key)
    if problem := _find_restriction(key) or find_syntax_problem(key):
        return problem
    label = WELL_KNOWN.get(key)
    if (
        condition.operator == "In"
        and label
        and label.is_enforced
        and not set(condition.values) & set(label.values)
    ):
        return f"is one of {', '.join(label.values)}, not {', '.join(condition.values)}"
    for value in condition.values:
        if len(value) > _LONGEST_VALUE or not re.fullmatch(LABEL_VALUE_PATTERN[:-1], value, re.ASCII):
            return f"can't be {value!r}, which is not a valid label value"
    if condition.operator in _BOUNDS and not all(
        (parse_int64(value) or 0) >= 0 for value in condition.values
    ):
        return "is compared with a number below 0"
    return ""


def _find_restriction(key: str) -> str:
    if key in WELL_KNOWN or key == NODEPOOL:
        return ""
    if key == HOSTNAME:
        return "is different on every new node"
    for domain in RESTRICTED_DOMAINS:
        if "/" in key and (get_domain(key) == domain or get_domain(key).endswith(f".{domain}")):
            return f"is in Karpenter's own domain {domain} and not a label that can select nodes"
    return ""
