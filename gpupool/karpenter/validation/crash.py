"""Rules about values that pass all checks but crash or stall Karpenter.

Some crash its process, some keep it from reading any object of the kind, some select everything.
"""

from collections.abc import Iterator
from functools import partial
from typing import Final

from gpupool.codes import Code
from gpupool.karpenter import quantities
from gpupool.karpenter.durations import is_duration
from gpupool.karpenter.instants import is_rfc3339
from gpupool.karpenter.integers import parse_int64
from gpupool.karpenter.labels import AWS
from gpupool.karpenter.validation.rules import ITEMS, Complaint, FieldRule, brief, find_value, find_values
from gpupool.yamlio.located import Located, mapping, place

_TEMPLATE = "spec template spec"
_NO_POOL = "Karpenter then can't read any NodePool"
_NO_CLASS = "Karpenter then can't read any EC2NodeClass"
_CLASS_KIND = "EC2NodeClass"
_LONGEST_LABEL_VALUE = 63
_MOST_NODES = 2**31 - 1
_PARSED_SIGNALS = ("memory.available", "nodefs.available")


def check_duration_range(consequence: str, duration: Located) -> Iterator[Complaint]:
    """Check that a duration fits into Go's 64 bits of nanoseconds."""
    text = str(duration.value)
    if text != "Never" and not is_duration(text):
        message = (
            f"`{brief(text)}` is longer than 292 years, the most that Karpenter can parse; {consequence}"
        )
        yield Complaint(place(duration), message, "set a shorter duration, or `Never` where it is allowed")


def check_amounts(consequence: str, amounts: Located) -> Iterator[Complaint]:
    """Check that Go can parse each amount."""
    for amount in mapping(amounts).values():
        if isinstance(amount.value, str) and (problem := quantities.find_quantity_problem(amount.value)):
            message = f"the quantity `{brief(amount.value)}` {problem}; {consequence}"
            yield Complaint(
                place(amount), message, "write the number without an exponent, or with a suffix such as `Gi`"
            )


def check_taint_time(taint: Located) -> Iterator[Complaint]:
    """Check that Go can parse a taint's time."""
    for moment in find_values(taint, "timeAdded"):
        text = moment.value if isinstance(moment.value, str) else ""
        if not is_rfc3339(text):
            problem = f"Karpenter can't parse the time `{text}`" if text else "`timeAdded` is not a time"
            message = f"{problem}; {_NO_POOL}"
            yield Complaint(place(moment), message, "remove `timeAdded`: it has no effect in a template")


def check_taint_value(taint: Located) -> Iterator[Complaint]:
    """Check that a node can have a taint's value."""
    for value in find_values(taint, "value"):
        if "/" in str(value.value):
            message = f"the taint value `{value.value}` contains `/`: the API server rejects nodes with it"
            yield Complaint(place(value), message, "use only letters, digits, `-`, `_` and `.`")


def check_budget_nodes(nodes: Located) -> Iterator[Complaint]:
    """Check that a budget's number fits into 32 bits."""
    text = str(nodes.value)
    number = parse_int64(text)
    if text.isdecimal() and (number is None or number > _MOST_NODES):
        message = f"`{brief(text)}` is more than Karpenter can count, so the budget allows no disruption"
        yield Complaint(place(nodes), message, 'write `nodes: "100%"` for no limit')


def check_alias_separator(alias: Located) -> Iterator[Complaint]:
    """Check that an alias has only one `@`."""
    text = str(alias.value)
    if text.count("@") > 1:
        message = f"the alias `{text}` has more than one `@`: Karpenter crashes on it repeatedly"
        yield Complaint(place(alias), message, "write an alias such as `al2023@v20260810`")


def check_has_spec(body: Located) -> Iterator[Complaint]:
    """Check that a class has a spec."""
    if find_value(body, "spec") is None:
        at = place(mapping(body).get("kind") or body)
        message = "`spec` is missing: the API server accepts that, but no node can be launched"
        fix = "add `spec` with a role, subnets, security groups and AMIs"
        yield Complaint(at, message, fix)


def check_term_not_empty(term: Located) -> Iterator[Complaint]:
    """Check that a term has more than empty fields, such as an empty map of tags."""
    fields = [value for value in mapping(term).values() if value.value is not None]
    if fields and not any(value.value for value in fields):
        message = "this term has only empty fields, so it selects everything in the region"
        yield Complaint(place(fields[0]), message, "set a tag, an id or a name")


def check_grace_periods(periods: Located) -> Iterator[Complaint]:
    """Check that Go can parse each grace period."""
    for period in mapping(periods).values():
        if not is_duration(str(period.value)):
            message = f"`{period.value}` is not a duration; {_NO_CLASS}"
            yield Complaint(place(period), message, "write a duration such as `90s` or `1m30s`")


def check_reserved_amounts(reserved: Located) -> Iterator[Complaint]:
    """Check that Go can parse each reserved amount."""
    for key, value in mapping(reserved).items():
        if problem := quantities.find_quantity_problem(str(value.value)):
            amount = brief(str(value.value))
            subject = f"the quantity `{amount}`" if amount else "the quantity"
            message = f"{subject} for `{key}` {problem}; Karpenter crashes on it"
            yield Complaint(
                place(value), message, "write the number without an exponent, or with a suffix such as `Gi`"
            )


def check_eviction_thresholds(thresholds: Located) -> Iterator[Complaint]:
    """Check that Go can parse the thresholds that Karpenter calculates with."""
    for signal in _PARSED_SIGNALS:
        for value in find_values(thresholds, signal):
            text = str(value.value)
            if not text.endswith("%") and (problem := quantities.find_quantity_problem(text)):
                subject = f"the threshold `{brief(text)}`" if text else "the threshold"
                message = f"{subject} for `{signal}` {problem}; Karpenter crashes on it"
                yield Complaint(place(value), message, "write a threshold such as `5%` or `500Mi`")


def check_volume_fields(volume: Located) -> Iterator[Complaint]:
    """Check that a volume has the fields that Karpenter reads without checking for them."""
    for key in ("ebs", "deviceName"):
        if find_value(volume, key) is None:
            message = f"the volume has no `{key}`: Karpenter crashes on it, or EC2 rejects it"
            yield Complaint(volume.at, message, f"add `{key}`")


def check_class_reference(reference: Located) -> Iterator[Complaint]:
    """Check that group and kind of the node class match; those of other providers are not checked."""
    group, kind = find_value(reference, "group"), find_value(reference, "kind")
    if group is None or kind is None or (group.value == AWS) == (kind.value == _CLASS_KIND):
        return
    wrong, right = (kind, _CLASS_KIND) if group.value == AWS else (group, AWS)
    message = f"no controller handles `{kind.value}` in `{group.value}`, so the NodePool is ignored"
    yield Complaint(place(wrong), message, f"write `{right}`")


def check_name_length(name: Located) -> Iterator[Complaint]:
    """Check that the name fits into the label that Karpenter sets on the nodes."""
    size = len(str(name.value))
    if size > _LONGEST_LABEL_VALUE:
        message = f"the name has {size} characters, but Karpenter sets it as a node label, which allows 63"
        yield Complaint(place(name), message, "shorten the name")


_NAMED: Final = FieldRule(Code.NAME_NO_LABEL, "metadata name", check_name_length)

NODEPOOL: Final = (
    _NAMED,
    FieldRule(Code.IGNORED_POOL, f"{_TEMPLATE} nodeClassRef", check_class_reference),
    *(
        FieldRule(Code.ENDLESS_DURATION, at, partial(check_duration_range, _NO_POOL))
        for at in (
            f"{_TEMPLATE} expireAfter",
            f"{_TEMPLATE} terminationGracePeriod",
            "spec disruption consolidateAfter",
            f"spec disruption budgets {ITEMS} duration",
        )
    ),
    FieldRule(Code.UNREADABLE_QUANTITY, "spec limits", partial(check_amounts, _NO_POOL)),
    *(
        FieldRule(Code.UNREADABLE_TIME, f"{_TEMPLATE} {name} {ITEMS}", check_taint_time)
        for name in ("taints", "startupTaints")
    ),
    *(
        FieldRule(Code.TAINT_WITH_SLASH, f"{_TEMPLATE} {name} {ITEMS}", check_taint_value)
        for name in ("taints", "startupTaints")
    ),
    FieldRule(Code.BUDGET_OVERFLOW, f"spec disruption budgets {ITEMS} nodes", check_budget_nodes),
)
NODEOVERLAY: Final = (
    FieldRule(
        Code.UNREADABLE_QUANTITY,
        "spec capacity",
        partial(check_amounts, "Karpenter then can't read any NodeOverlay"),
    ),
)
EC2NODECLASS: Final = (
    _NAMED,
    FieldRule(Code.NO_SPEC, "", check_has_spec),
    FieldRule(Code.ALIAS_CRASH, f"spec amiSelectorTerms {ITEMS} alias", check_alias_separator),
    *(
        FieldRule(Code.SELECTS_EVERYTHING, f"spec {terms} {ITEMS}", check_term_not_empty)
        for terms in (
            "amiSelectorTerms",
            "subnetSelectorTerms",
            "securityGroupSelectorTerms",
            "capacityReservationSelectorTerms",
        )
    ),
    FieldRule(Code.UNREADABLE_GRACE, "spec kubelet evictionSoftGracePeriod", check_grace_periods),
    *(
        FieldRule(Code.RESERVE_CRASH, f"spec kubelet {name}", check_reserved_amounts)
        for name in ("kubeReserved", "systemReserved")
    ),
    FieldRule(Code.RESERVE_CRASH, "spec kubelet evictionHard", check_eviction_thresholds),
    FieldRule(Code.DISK_CRASH, f"spec blockDeviceMappings {ITEMS}", check_volume_fields),
)
