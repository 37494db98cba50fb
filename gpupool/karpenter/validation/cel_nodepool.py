"""The CEL rules of the NodePool CRD that hold for a new object."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from gpupool.codes import Code
from gpupool.karpenter.labels import AWS_ALLOWED
from gpupool.karpenter.validation.cel_requirements import (
    comparison_without_number,
    in_without_values,
    key_rules,
    nodepool_key_rule,
    too_few_values,
)
from gpupool.karpenter.validation.rules import ITEMS, Complaint, Rule, present
from gpupool.yamlio.nodes import Node, items, mapping, place

_LABELS = "spec template metadata labels"
_REQUIREMENTS = "spec template spec requirements"
_KEY = f"{_REQUIREMENTS} {ITEMS} key"
_CLASS = "spec template spec nodeClassRef"


def static_limits(spec: Node) -> Iterator[Complaint]:
    """A pool with `replicas` may limit nothing but `nodes`."""
    if present(spec, "replicas") is None:
        return
    for key, limit in mapping(present(spec, "limits")).items():
        if key != "nodes":
            message = f"a NodePool with `replicas` can't limit `{key}`, only `nodes`"
            yield Complaint(limit.key or limit.at, message, "remove the limit or `replicas`")


def static_weight(spec: Node) -> Iterator[Complaint]:
    """A pool with `replicas` has no weight."""
    weight = present(spec, "weight")
    if weight is not None and present(spec, "replicas") is not None:
        message = "a NodePool with `replicas` can't have a `weight`: its nodes do not depend on pods"
        yield Complaint(weight.key or weight.at, message, "remove `weight` or `replicas`")


def window_half_said(budgets: Node) -> Iterator[Complaint]:
    """`schedule` and `duration` of a budget come together."""
    for budget in items(budgets):
        schedule, duration = present(budget, "schedule"), present(budget, "duration")
        if (schedule is None) != (duration is None):
            said, other = ("schedule", "duration") if duration is None else ("duration", "schedule")
            at = place(schedule or duration or budget)
            yield Complaint(
                at,
                f"a budget with `{said}` also requires `{other}`",
                f"add `{other}`, or remove `{said}`",
            )


def empty_text(key: str, value: Node) -> Iterator[Complaint]:
    """The text may not be empty."""
    if value.value == "":
        fix = "set `group`, `kind` and `name` of the node class"
        yield Complaint(place(value), f"`{key}` of `nodeClassRef` is empty", fix)


RULES: Final = (
    Rule(Code.STATIC_POOL_LIMITS, "spec", static_limits),
    Rule(Code.STATIC_POOL_WEIGHT, "spec", static_weight),
    Rule(Code.HALF_A_WINDOW, "spec disruption budgets", window_half_said),
    nodepool_key_rule(_LABELS, is_map=True),
    *key_rules(_LABELS, AWS_ALLOWED, is_map=True),
    *(
        Rule(Code.EMPTY_CLASS_REFERENCE, f"{_CLASS} {key}", partial(empty_text, key))
        for key in ("group", "kind", "name")
    ),
    Rule(Code.IN_WITHOUT_VALUES, _REQUIREMENTS, in_without_values),
    Rule(Code.COMPARISON_WITHOUT_NUMBER, _REQUIREMENTS, comparison_without_number),
    Rule(Code.TOO_FEW_VALUES, _REQUIREMENTS, too_few_values),
    nodepool_key_rule(_KEY, is_map=False),
    *key_rules(_KEY, AWS_ALLOWED, is_map=False),
)
"""Each rule of the CRD, at the path where it stands there; the rules about changes are left out."""
