"""CEL rules of the NodePool and NodeOverlay CRDs for a new object."""

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
_LABELS = "spec template metadata labels"
_REQUIREMENTS = "spec template spec requirements"
_KEY = f"{_REQUIREMENTS} {ITEMS} key"
_CLASS = "spec template spec nodeClassRef"
_OVERLAY_REQUIREMENTS = "spec requirements"
_OWN_RESOURCES = frozenset({"cpu", "memory", "ephemeral-storage", "pods"})


def check_in_has_values(requirements: Located) -> Iterator[Complaint]:
    """Check that `In` has values."""
    yield from _check_has_values(requirements, "In")


def check_not_in_has_values(requirements: Located) -> Iterator[Complaint]:
    """Check that `NotIn` has values, which only a NodeOverlay requires."""
    yield from _check_has_values(requirements, "NotIn")


def check_comparison_number(requirements: Located) -> Iterator[Complaint]:
    """Check that a comparison such as `Gt` has one whole number that is not negative."""
    for item in items(requirements):
        operator, values = read_text(item, "operator"), items(find_value(item, "values"))
        if operator in COMPARISONS and not (len(values) == 1 and is_count(str(values[0].value))):
            message = f"`{read_text(item, 'key')}` with `{operator}` needs one whole number, 0 or more"
            at = place((find_values(item, "values", "operator"))[0])
            yield Complaint(at, message, 'write one number in quotes, such as `values: ["8"]`')


def check_min_values(requirements: Located) -> Iterator[Complaint]:
    """Check that `In` has at least `minValues` values."""
    for item in items(requirements):
        least, values = find_value(item, "minValues"), items(find_value(item, "values"))
        count = read_number(item, "minValues") or 0
        if least is not None and read_text(item, "operator") == "In" and len(values) < count:
            quantity = f"{len(values)} value{'s' * (len(values) != 1)}"
            message = f"`{read_text(item, 'key')}` has {quantity}, fewer than `minValues: {least.value}`"
            yield Complaint(place(least), message, "add values, or lower `minValues`")


def is_count(text: str) -> bool:
    """Return whether Go parses `text` as a whole number of 64 bits that is not negative."""
    number = parse_int64(text)
    return number is not None and number >= 0


def build_key_rules(at: str, allowed_aws: Collection[str], *, is_map: bool) -> tuple[FieldRule, ...]:
    """Build the rules that reject keys in Karpenter's domains, for a map of labels or a single key."""

    def check_keys(is_rejected: Callable[[str], bool]) -> FieldCheck:
        return partial(_check_labels if is_map else _check_key, is_rejected)

    return (
        FieldRule(Code.RESTRICTED_DOMAIN, at, check_keys(_is_in_karpenter_domain)),
        FieldRule(Code.RESERVED_LABEL, at, check_keys(_is_hostname)),
        FieldRule(Code.RESTRICTED_DOMAIN, at, check_keys(partial(_is_in_aws_domain, allowed_aws))),
    )


def build_nodepool_key_rule(at: str, *, is_map: bool) -> FieldRule:
    """Build the rule that rejects the label with the pool's own name."""
    return FieldRule(Code.RESERVED_LABEL, at, partial(_check_labels if is_map else _check_key, _is_nodepool))


def _is_in_karpenter_domain(key: str) -> bool:
    return key not in _KARPENTER_ALLOWED and labels.get_domain(key).endswith(labels.KARPENTER)


def _is_in_aws_domain(allowed: Collection[str], key: str) -> bool:
    return key not in allowed and labels.get_domain(key).endswith(labels.AWS)


def _is_hostname(key: str) -> bool:
    return key == labels.HOSTNAME


def _is_nodepool(key: str) -> bool:
    return key == labels.NODEPOOL


def _check_labels(is_rejected: Callable[[str], bool], node_labels: Located) -> Iterator[Complaint]:
    for key, value in mapping(node_labels).items():
        if is_rejected(key):
            yield Complaint(
                value.key or value.at, _describe_rejection(key), "remove it, or use your own domain"
            )


def _check_key(is_rejected: Callable[[str], bool], key: Located) -> Iterator[Complaint]:
    if is_rejected(str(key.value)):
        yield Complaint(place(key), _describe_rejection(str(key.value)), "remove it, or use your own domain")


def _describe_rejection(key: str) -> str:
    problem = labels.find_overlay_key_problem(key) or labels.find_key_problem(key)
    return f"the label `{key}` {problem or 'is rejected'}"


def _check_has_values(requirements: Located, operator: str) -> Iterator[Complaint]:
    for item in items(requirements):
        if read_text(item, "operator") == operator and not items(find_value(item, "values")):
            message = f"`{read_text(item, 'key')}` with `{operator}` needs at least one value"
            yield Complaint(
                place(find_values(item, "values", "operator")[0]),
                message,
                "add a value, or write `operator: Exists`",
            )


def check_static_limits(spec: Located) -> Iterator[Complaint]:
    """Check that a pool with `replicas` limits only `nodes`."""
    if find_value(spec, "replicas") is None:
        return
    for key, limit in mapping(find_value(spec, "limits")).items():
        if key != "nodes":
            message = f"a NodePool with `replicas` can't limit `{key}`, only `nodes`"
            yield Complaint(limit.key or limit.at, message, "remove the limit or `replicas`")


def check_static_weight(spec: Located) -> Iterator[Complaint]:
    """Check that a pool with `replicas` has no weight."""
    weight = find_value(spec, "weight")
    if weight is not None and find_value(spec, "replicas") is not None:
        message = "a NodePool with `replicas` can't have a `weight`: its nodes do not depend on pods"
        yield Complaint(weight.key or weight.at, message, "remove `weight` or `replicas`")


def check_budget_window(budgets: Located) -> Iterator[Complaint]:
    """Check that a budget sets both or neither of `schedule` and `duration`."""
    for budget in items(budgets):
        schedule, duration = find_value(budget, "schedule"), find_value(budget, "duration")
        if (schedule is None) != (duration is None):
            present, other = ("schedule", "duration") if duration is None else ("duration", "schedule")
            at = place(schedule or duration or budget)
            yield Complaint(
                at,
                f"a budget with `{present}` also requires `{other}`",
                f"add `{other}`, or remove `{present}`",
            )


def check_text_not_empty(key: str, value: Located) -> Iterator[Complaint]:
    """Check that a text is not empty."""
    if value.value == "":
        fix = "set `group`, `kind` and `name` of the node class"
        yield Complaint(place(value), f"`{key}` of `nodeClassRef` is empty", fix)


NODEPOOL_RULES: Final = (
    FieldRule(Code.STATIC_POOL_LIMITS, "spec", check_static_limits),
    FieldRule(Code.STATIC_POOL_WEIGHT, "spec", check_static_weight),
    FieldRule(Code.HALF_A_WINDOW, "spec disruption budgets", check_budget_window),
    build_nodepool_key_rule(_LABELS, is_map=True),
    *build_key_rules(_LABELS, AWS_ALLOWED, is_map=True),
    *(
        FieldRule(Code.EMPTY_CLASS_REFERENCE, f"{_CLASS} {key}", partial(check_text_not_empty, key))
        for key in ("group", "kind", "name")
    ),
    FieldRule(Code.IN_WITHOUT_VALUES, _REQUIREMENTS, check_in_has_values),
    FieldRule(Code.COMPARISON_WITHOUT_NUMBER, _REQUIREMENTS, check_comparison_number),
    FieldRule(Code.TOO_FEW_VALUES, _REQUIREMENTS, check_min_values),
    build_nodepool_key_rule(_KEY, is_map=False),
    *build_key_rules(_KEY, AWS_ALLOWED, is_map=False),
)
"""Each rule of the CRD, at its path in the schema; rules about changes are left out."""


def check_one_price(spec: Located) -> Iterator[Complaint]:
    """Check that a price is not both set and adjusted."""
    price, adjustment = find_value(spec, "price"), find_value(spec, "priceAdjustment")
    if price is not None and adjustment is not None:
        message = "`price` and `priceAdjustment` can't both be set"
        yield Complaint(place(adjustment), message, "remove one of them")


def check_overlay_capacity(capacity: Located) -> Iterator[Complaint]:
    """Check that an overlay sets no resource that every instance type has."""
    for key, amount in mapping(capacity).items():
        if key in _OWN_RESOURCES:
            message = f"an overlay can't set `{key}`: the instance type determines it"
            yield Complaint(amount.key or amount.at, message, "set extended resources only")


OVERLAY_RULES: Final = (
    FieldRule(Code.PRICE_TWICE, "spec", check_one_price),
    FieldRule(Code.OVERLAY_CAPACITY, "spec capacity", check_overlay_capacity),
    FieldRule(Code.IN_WITHOUT_VALUES, _OVERLAY_REQUIREMENTS, check_not_in_has_values),
    FieldRule(Code.IN_WITHOUT_VALUES, _OVERLAY_REQUIREMENTS, check_in_has_values),
    FieldRule(Code.COMPARISON_WITHOUT_NUMBER, _OVERLAY_REQUIREMENTS, check_comparison_number),
    *build_key_rules(f"{_OVERLAY_REQUIREMENTS} {ITEMS} key", AWS_ALLOWED - OVERLAY_REFUSED, is_map=False),
)
"""Each rule of the CRD, at its path in the schema."""
