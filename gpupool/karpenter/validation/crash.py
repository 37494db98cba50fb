"""Values that the API server and the controller's checks accept, and that crash or stall Karpenter.

Some end its process, some keep it from reading any object of the kind, some make it select everything.
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
from gpupool.karpenter.validation.rules import ITEMS, Complaint, FieldRule, find_value, find_values
from gpupool.yamlio.located import Located, mapping, place

_TEMPLATE = "spec template spec"
_NO_POOL = "Karpenter then can't read any NodePool"
_NO_CLASS = "Karpenter then can't read any EC2NodeClass"
_CLASS_KIND = "EC2NodeClass"
_LONGEST_LABEL_VALUE = 63
_MOST_NODES = 2**31 - 1
_PARSED_SIGNALS = ("memory.available", "nodefs.available")


def endless(stalls: str, duration: Located) -> Iterator[Complaint]:
    """A duration fits into Go's 64 bits of nanoseconds."""
    text = str(duration.value)
    if text != "Never" and not is_duration(text):
        message = f"`{text}` is longer than 292 years, the most that Karpenter can parse; {stalls}"
        yield Complaint(place(duration), message, "set a shorter duration, or `Never` where it is allowed")


def unreadable_amounts(stalls: str, amounts: Located) -> Iterator[Complaint]:
    """Each amount is one that Go can read."""
    for amount in mapping(amounts).values():
        if isinstance(amount.value, str) and (problem := quantities.find_quantity_problem(amount.value)):
            message = f"the quantity `{amount.value}` {problem}; {stalls}"
            yield Complaint(
                place(amount), message, "write the number without an exponent, or with a suffix such as `Gi`"
            )


def unreadable_time(taint: Located) -> Iterator[Complaint]:
    """A taint's time is one that Go can read."""
    for moment in find_values(taint, "timeAdded"):
        text = moment.value if isinstance(moment.value, str) else "a list"
        if not is_rfc3339(text):
            message = f"Karpenter can't parse the time `{text}`; {_NO_POOL}"
            yield Complaint(place(moment), message, "remove `timeAdded`: it has no effect in a template")


def slashed_value(taint: Located) -> Iterator[Complaint]:
    """A taint's value is one that a node can have."""
    for value in find_values(taint, "value"):
        if "/" in str(value.value):
            message = f"the taint value `{value.value}` contains `/`: the API server rejects nodes with it"
            yield Complaint(place(value), message, "use only letters, digits, `-`, `_` and `.`")


def too_many_nodes(nodes: Located) -> Iterator[Complaint]:
    """A budget's number fits into 32 bits."""
    text = str(nodes.value)
    number = parse_int64(text)
    if text.isdecimal() and (number is None or number > _MOST_NODES):
        message = f"`{text}` is more than Karpenter can count, so the budget allows no disruption"
        yield Complaint(place(nodes), message, 'write `nodes: "100%"` for no limit')


def alias_crash(alias: Located) -> Iterator[Complaint]:
    """An alias has one `@`."""
    text = str(alias.value)
    if text.count("@") > 1:
        message = f"the alias `{text}` has more than one `@`: Karpenter crashes on it repeatedly"
        yield Complaint(place(alias), message, "write an alias such as `al2023@v20260810`")


def no_spec(whole: Located) -> Iterator[Complaint]:
    """A class has a spec."""
    if find_value(whole, "spec") is None:
        at = place(mapping(whole).get("kind") or whole)
        message = "`spec` is missing: the API server accepts that, but no node can be launched"
        fix = "add `spec` with a role, subnets, security groups and AMIs"
        yield Complaint(at, message, fix)


def selects_everything(term: Located) -> Iterator[Complaint]:
    """A term has something that selects, and not only an empty map of tags."""
    said = [value for value in mapping(term).values() if value.value is not None]
    if said and not any(value.value for value in said):
        message = "this term has only empty fields, so it selects everything in the region"
        yield Complaint(place(said[0]), message, "set a tag, an id or a name")


def unreadable_grace(periods: Located) -> Iterator[Complaint]:
    """Each grace period is a duration to Go."""
    for period in mapping(periods).values():
        if not is_duration(str(period.value)):
            message = f"`{period.value}` is not a duration; {_NO_CLASS}"
            yield Complaint(place(period), message, "write a duration such as `90s` or `1m30s`")


def reserve_crash(reserved: Located) -> Iterator[Complaint]:
    """Each reserve is a quantity to Go."""
    for key, value in mapping(reserved).items():
        if problem := quantities.find_quantity_problem(str(value.value)):
            message = f"the quantity `{value.value}` for `{key}` {problem}; Karpenter crashes on it"
            yield Complaint(
                place(value), message, "write the number without an exponent, or with a suffix such as `Gi`"
            )


def eviction_crash(thresholds: Located) -> Iterator[Complaint]:
    """The thresholds that Karpenter reckons with are percentages or quantities to Go."""
    for signal in _PARSED_SIGNALS:
        for value in find_values(thresholds, signal):
            text = str(value.value)
            if not text.endswith("%") and (problem := quantities.find_quantity_problem(text)):
                message = f"the threshold `{text}` for `{signal}` {problem}; Karpenter crashes on it"
                yield Complaint(place(value), message, "write a threshold such as `5%` or `500Mi`")


def disk_crash(volume: Located) -> Iterator[Complaint]:
    """A volume has what Karpenter reads without looking whether it is there."""
    for key in ("ebs", "deviceName"):
        if find_value(volume, key) is None:
            message = f"the volume has no `{key}`: Karpenter crashes on it, or EC2 rejects it"
            yield Complaint(volume.at, message, f"add `{key}`")


def ignored(reference: Located) -> Iterator[Complaint]:
    """Group and kind of the node class fit each other; those of other providers are not judged."""
    group, kind = find_value(reference, "group"), find_value(reference, "kind")
    if group is None or kind is None or (group.value == AWS) == (kind.value == _CLASS_KIND):
        return
    wrong, right = (kind, _CLASS_KIND) if group.value == AWS else (group, AWS)
    message = f"no controller handles `{kind.value}` in `{group.value}`, so the NodePool is ignored"
    yield Complaint(place(wrong), message, f"write `{right}`")


def name_no_label(name: Located) -> Iterator[Complaint]:
    """The name fits into the label that Karpenter puts on the nodes."""
    size = len(str(name.value))
    if size > _LONGEST_LABEL_VALUE:
        message = f"the name has {size} characters, but Karpenter sets it as a node label, which allows 63"
        yield Complaint(place(name), message, "shorten the name")


_NAMED: Final = FieldRule(Code.NAME_NO_LABEL, "metadata name", name_no_label)

NODEPOOL: Final = (
    _NAMED,
    FieldRule(Code.IGNORED_POOL, f"{_TEMPLATE} nodeClassRef", ignored),
    *(
        FieldRule(Code.ENDLESS_DURATION, at, partial(endless, _NO_POOL))
        for at in (
            f"{_TEMPLATE} expireAfter",
            f"{_TEMPLATE} terminationGracePeriod",
            "spec disruption consolidateAfter",
            f"spec disruption budgets {ITEMS} duration",
        )
    ),
    FieldRule(Code.UNREADABLE_QUANTITY, "spec limits", partial(unreadable_amounts, _NO_POOL)),
    *(
        FieldRule(Code.UNREADABLE_TIME, f"{_TEMPLATE} {name} {ITEMS}", unreadable_time)
        for name in ("taints", "startupTaints")
    ),
    *(
        FieldRule(Code.TAINT_WITH_SLASH, f"{_TEMPLATE} {name} {ITEMS}", slashed_value)
        for name in ("taints", "startupTaints")
    ),
    FieldRule(Code.BUDGET_OVERFLOW, f"spec disruption budgets {ITEMS} nodes", too_many_nodes),
)
NODEOVERLAY: Final = (
    FieldRule(
        Code.UNREADABLE_QUANTITY,
        "spec capacity",
        partial(unreadable_amounts, "Karpenter then can't read any NodeOverlay"),
    ),
)
EC2NODECLASS: Final = (
    _NAMED,
    FieldRule(Code.NO_SPEC, "", no_spec),
    FieldRule(Code.ALIAS_CRASH, f"spec amiSelectorTerms {ITEMS} alias", alias_crash),
    *(
        FieldRule(Code.SELECTS_EVERYTHING, f"spec {terms} {ITEMS}", selects_everything)
        for terms in (
            "amiSelectorTerms",
            "subnetSelectorTerms",
            "securityGroupSelectorTerms",
            "capacityReservationSelectorTerms",
        )
    ),
    FieldRule(Code.UNREADABLE_GRACE, "spec kubelet evictionSoftGracePeriod", unreadable_grace),
    *(
        FieldRule(Code.RESERVE_CRASH, f"spec kubelet {name}", reserve_crash)
        for name in ("kubeReserved", "systemReserved")
    ),
    FieldRule(Code.RESERVE_CRASH, "spec kubelet evictionHard", eviction_crash),
    FieldRule(Code.DISK_CRASH, f"spec blockDeviceMappings {ITEMS}", disk_crash),
)
