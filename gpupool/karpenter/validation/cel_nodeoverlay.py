"""The CEL rules of the NodeOverlay CRD."""

from collections.abc import Iterator
from typing import Final

from gpupool.codes import Code
from gpupool.karpenter.labels import AWS_ALLOWED, OVERLAY_REFUSED
from gpupool.karpenter.validation.cel_requirements import (
    comparison_without_number,
    in_without_values,
    key_rules,
    not_in_without_values,
)
from gpupool.karpenter.validation.rules import ITEMS, Complaint, Rule, present
from gpupool.yamlio.nodes import Node, mapping, place

_REQUIREMENTS = "spec requirements"
_OWN_RESOURCES = frozenset({"cpu", "memory", "ephemeral-storage", "pods"})


def price_twice(spec: Node) -> Iterator[Complaint]:
    """A price is set or changed, not both."""
    price, adjustment = present(spec, "price"), present(spec, "priceAdjustment")
    if price is not None and adjustment is not None:
        message = "`price` and `priceAdjustment` can't both be set"
        yield Complaint(place(adjustment), message, "remove one of them")


def own_capacity(capacity: Node) -> Iterator[Complaint]:
    """The resources that every machine has are not an overlay's to set."""
    for key, amount in mapping(capacity).items():
        if key in _OWN_RESOURCES:
            message = f"an overlay can't set `{key}`: the instance type determines it"
            yield Complaint(amount.key or amount.at, message, "set extended resources only")


RULES: Final = (
    Rule(Code.PRICE_TWICE, "spec", price_twice),
    Rule(Code.OVERLAY_CAPACITY, "spec capacity", own_capacity),
    Rule(Code.IN_WITHOUT_VALUES, _REQUIREMENTS, not_in_without_values),
    Rule(Code.IN_WITHOUT_VALUES, _REQUIREMENTS, in_without_values),
    Rule(Code.COMPARISON_WITHOUT_NUMBER, _REQUIREMENTS, comparison_without_number),
    *key_rules(f"{_REQUIREMENTS} {ITEMS} key", AWS_ALLOWED - OVERLAY_REFUSED, is_map=False),
)
"""Each rule of the CRD, at the path where it stands there."""
