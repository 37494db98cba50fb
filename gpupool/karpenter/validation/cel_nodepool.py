"""The CEL rules of the NodePool and NodeOverlay CRDs that hold for a new object."""

from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Final

from gpupool.codes import Code
from gpupool.karpenter import labels
from gpupool.karpenter.integers import parse_int64
from gpupool.karpenter.labels import AWS_ALLOWED, OVERLAY_REFUSED
from gpupool.karpenter.validation.rules import (
    ITEMS,
    Complaint,
    FieldCheck,
    FieldRule,
    find_value,
    find_values,
    read_number,
    read_text,
)
from gpupool.yamlio.located import Located, items, mapping, place

COMPARISONS = frozenset({"Gt", "Lt", "Gte", "Lte"})
_KARPENTER_ALLOWED = frozenset({labels.CAPACITY_TYPE, labels.NODEPOOL})


def in_without_values(requirements: Located) -> Iterator[Complaint]:
    """`In` needs values."""
    yield from _without_values(requirements, "In")


def not_in_without_values(requirements: Located) -> Iterator[Complaint]:
    """`NotIn` needs values; only a NodeOverlay asks for that."""
    yield from _without_values(requirements, "NotIn")


def comparison_without_number(requirements: Located) -> Iterator[Complaint]:
    """`Gt` and its like need one whole number that is not negative."""
    for item in items(requirements):
        operator, values = read_text(item, "operator"), items(find_value(item, "values"))
        if operator in COMPARISONS and not (len(values) == 1 and is_count(str(values[0].value))):
            message = f"`{read_text(item, 'key')}` with `{operator}` needs one whole number, 0 or more"
            at = place((find_values(item, "values", "operator"))[0])
            yield Complaint(at, message, 'write one number in quotes, such as `values: ["8"]`')


def too_few_values(requirements: Located) -> Iterator[Complaint]:
    """`In` needs as many values as `minValues` says."""
    for item in items(requirements):
        least, values = find_value(item, "minValues"), items(find_value(item, "values"))
        count = read_number(item, "minValues") or 0
        if least is not None and read_text(item, "operator") == "In" and len(values) < count:
            given = f"{len(values)} value{'s' * (len(values) != 1)}"
            message = f"`{read_text(item, 'key')}` has {given}, fewer than `minValues: {least.value}`"
            yield Complaint(place(least), message, "add values, or lower `minValues`")


def is_count(text: str) -> bool:
    """Return whether Go reads `text` as a whole number of 64 bits that is not negative."""
    number = parse_int64(text)
    return number is not None and number >= 0


def key_rules(at: str, allowed_aws: Collection[str], *, is_map: bool) -> tuple[FieldRule, ...]:
    """Return the rules that keep label keys out of Karpenter's domains, for one map of labels or one key."""

    def over(refuses: Callable[[str], bool]) -> FieldCheck:
        return partial(_in_labels if is_map else _in_key, refuses)

    return (
        FieldRule(Code.RESTRICTED_DOMAIN, at, over(_in_karpenter_domain)),
        FieldRule(Code.RESERVED_LABEL, at, over(_is_hostname)),
        FieldRule(Code.RESTRICTED_DOMAIN, at, over(partial(_in_aws_domain, allowed_aws))),
    )


def nodepool_key_rule(at: str, *, is_map: bool) -> FieldRule:
    """Return the rule against the label that holds the pool's own name."""
    return FieldRule(Code.RESERVED_LABEL, at, partial(_in_labels if is_map else _in_key, _is_nodepool))


def _in_karpenter_domain(key: str) -> bool:
    return key not in _KARPENTER_ALLOWED and labels.get_domain(key).endswith(labels.KARPENTER)


def _in_aws_domain(allowed: Collection[str], key: str) -> bool:
    return key not in allowed and labels.get_domain(key).endswith(labels.AWS)


def _is_hostname(key: str) -> bool:
    return key == labels.HOSTNAME


def _is_nodepool(key: str) -> bool:
    return key == labels.NODEPOOL


def _in_labels(refuses: Callable[[str], bool], said: Located) -> Iterator[Complaint]:
    for key, value in mapping(said).items():
        if refuses(key):
            yield Complaint(value.key or value.at, _refused(key), "remove it, or use your own domain")


def _in_key(refuses: Callable[[str], bool], key: Located) -> Iterator[Complaint]:
    if refuses(str(key.value)):
        yield Complaint(place(key), _refused(str(key.value)), "remove it, or use your own domain")


def _refused(key: str) -> str:
    return f"the label `{key}` {labels.find_overlay_key_problem(key) or labels.find_key_problem(key) or 'is rejected'}"


def _without_values(requirements: Located, operator: str) -> Iterator[Complaint]:
    for item in items(requirements):
        if read_text(item, "operator") == operator and not items(find_value(item, "values")):
            message = f"`{read_text(item, 'key')}` with `{operator}` needs at least one value"
            yield Complaint(
                place(find_values(item, "values", "operator")[0]),
                message,
                "add a value, or write `operator: Exists`",
            )


_LABELS = "spec template metadata labels"
_REQUIREMENTS = "spec template spec requirements"
_KEY = f"{_REQUIREMENTS} {ITEMS} key"
_CLASS = "spec template spec nodeClassRef"
_OVERLAY_REQUIREMENTS = "spec requirements"
_OWN_RESOURCES = frozenset({"cpu", "memory", "ephemeral-storage", "pods"})


def static_limits(spec: Located) -> Iterator[Complaint]:
    """A pool with `replicas` may limit nothing but `nodes`."""
    if find_value(spec, "replicas") is None:
        return
    for key, limit in mapping(find_value(spec, "limits")).items():
        if key != "nodes":
            message = f"a NodePool with `replicas` can't limit `{key}`, only `nodes`"
            yield Complaint(limit.key or limit.at, message, "remove the limit or `replicas`")


def static_weight(spec: Located) -> Iterator[Complaint]:
    """A pool with `replicas` has no weight."""
    weight = find_value(spec, "weight")
    if weight is not None and find_value(spec, "replicas") is not None:
        message = "a NodePool with `replicas` can't have a `weight`: its nodes do not depend on pods"
        yield Complaint(weight.key or weight.at, message, "remove `weight` or `replicas`")


def window_half_said(budgets: Located) -> Iterator[Complaint]:
    """`schedule` and `duration` of a budget come together."""
    for budget in items(budgets):
        schedule, duration = find_value(budget, "schedule"), find_value(budget, "duration")
        if (schedule is None) != (duration is None):
            said, other = ("schedule", "duration") if duration is None else ("duration", "schedule")
            at = place(schedule or duration or budget)
            yield Complaint(
                at,
                f"a budget with `{said}` also requires `{other}`",
                f"add `{other}`, or remove `{said}`",
            )


def empty_text(key: str, value: Located) -> Iterator[Complaint]:
    """The text may not be empty."""
    if value.value == "":
        fix = "set `group`, `kind` and `name` of the node class"
        yield Complaint(place(value), f"`{key}` of `nodeClassRef` is empty", fix)


NODEPOOL_RULES: Final = (
    FieldRule(Code.STATIC_POOL_LIMITS, "spec", static_limits),
    FieldRule(Code.STATIC_POOL_WEIGHT, "spec", static_weight),
    FieldRule(Code.HALF_A_WINDOW, "spec disruption budgets", window_half_said),
    nodepool_key_rule(_LABELS, is_map=True),
    *key_rules(_LABELS, AWS_ALLOWED, is_map=True),
    *(
        FieldRule(Code.EMPTY_CLASS_REFERENCE, f"{_CLASS} {key}", partial(empty_text, key))
        for key in ("group", "kind", "name")
    ),
    FieldRule(Code.IN_WITHOUT_VALUES, _REQUIREMENTS, in_without_values),
    FieldRule(Code.COMPARISON_WITHOUT_NUMBER, _REQUIREMENTS, comparison_without_number),
    FieldRule(Code.TOO_FEW_VALUES, _REQUIREMENTS, too_few_values),
    nodepool_key_rule(_KEY, is_map=False),
    *key_rules(_KEY, AWS_ALLOWED, is_map=False),
)
"""Each rule of the CRD, at the path where it stands there; the rules about changes are left out."""


def price_twice(spec: Located) -> Iterator[Complaint]:
    """A price is set or changed, not both."""
    price, adjustment = find_value(spec, "price"), find_value(spec, "priceAdjustment")
    if price is not None and adjustment is not None:
        message = "`price` and `priceAdjustment` can't both be set"
        yield Complaint(place(adjustment), message, "remove one of them")


def own_capacity(capacity: Located) -> Iterator[Complaint]:
    """The resources that every machine has are not an overlay's to set."""
    for key, amount in mapping(capacity).items():
        if key in _OWN_RESOURCES:
            message = f"an overlay can't set `{key}`: Karpenter knows it from the instance type"
            yield Complaint(amount.key or amount.at, message, "set extended resources only")


OVERLAY_RULES: Final = (
    FieldRule(Code.PRICE_TWICE, "spec", price_twice),
    FieldRule(Code.OVERLAY_CAPACITY, "spec capacity", own_capacity),
    FieldRule(Code.IN_WITHOUT_VALUES, _OVERLAY_REQUIREMENTS, not_in_without_values),
    FieldRule(Code.IN_WITHOUT_VALUES, _OVERLAY_REQUIREMENTS, in_without_values),
    FieldRule(Code.COMPARISON_WITHOUT_NUMBER, _OVERLAY_REQUIREMENTS, comparison_without_number),
    *key_rules(f"{_OVERLAY_REQUIREMENTS} {ITEMS} key", AWS_ALLOWED - OVERLAY_REFUSED, is_map=False),
)
"""Each rule of the CRD, at the path where it stands there."""
