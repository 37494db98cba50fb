"""Pods that Karpenter looks at and then launches nothing for, whatever pools there are.

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
    part: str
    """The key of the pod's spec that is at fault."""


def find_ignore_reason(pod: Pod) -> IgnoredPod | None:
    """Return why Karpenter launches nothing for a pod, or give None."""
    return next(_reasons(pod), None)


def _reasons(pod: Pod) -> Iterator[IgnoredPod]:
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
        if problem := _problem(Expression(key, "In", (value,))):
            yield IgnoredPod(f"Karpenter skips pods that select {key!r}: it {problem}", "nodeSelector")
    for expression in (each for term in pod.required for each in term):
        if problem := _problem(expression):
            message = f"Karpenter skips pods with affinity to {expression.key!r}: it {problem}"
            yield IgnoredPod(message, "affinity")
    yield from _keeps_off(pod)


def _keeps_off(pod: Pod) -> Iterator[IgnoredPod]:
    """Find the selector with which a pod keeps off all of Karpenter's nodes."""
    first = next(list_attempts(pod, tolerates_soft_taints=False)).wanted.get(NODEPOOL)
    if first is not None and first.operator == "DoesNotExist":
        yield IgnoredPod(
            f"it requires a node without the label {NODEPOOL}, which all of Karpenter's have", "affinity"
        )


def _problem(each: Expression) -> str:
    """Return why Karpenter refuses a condition; the words go on from its key."""
    key = ALIASES.get(each.key, each.key)
    if problem := _restricted(key) or find_syntax_problem(key):
        return problem
    known = WELL_KNOWN.get(key)
    if each.operator == "In" and known and known.enforced and not set(each.values) & set(known.values):
        return f"is one of {', '.join(known.values)}, not {', '.join(each.values)}"
    for value in each.values:
        if len(value) > _LONGEST_VALUE or not re.fullmatch(LABEL_VALUE_PATTERN[:-1], value, re.ASCII):
            return f"can't be {value!r}, which is not a valid label value"
    if each.operator in _BOUNDS and not all((parse_int64(value) or 0) >= 0 for value in each.values):
        return "is compared with a number below 0"
    return ""


def _restricted(key: str) -> str:
    if key in WELL_KNOWN or key == NODEPOOL:
        return ""
    if key == HOSTNAME:
        return "is different on every new node"
    for own in RESTRICTED_DOMAINS:
        if "/" in key and (get_domain(key) == own or get_domain(key).endswith(f".{own}")):
            return f"is in Karpenter's own domain {own} and not a label that can select nodes"
    return ""
