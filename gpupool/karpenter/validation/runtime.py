"""What Karpenter's controller rejects although the API server accepts it: the object never becomes Ready."""

from collections.abc import Iterator
from typing import Final

from gpupool.codes import Code
from gpupool.karpenter import labels
from gpupool.karpenter.validation.rules import (
    ITEMS,
    Complaint,
    FieldRule,
    find_value,
    find_values,
    read_number,
    read_text,
)
from gpupool.shapes.annotations import matches
from gpupool.yamlio.located import Located, items, mapping, place

_TEMPLATE = "spec template spec"
_LONGEST_VALUE = 63
_MOST_USER_DATA = 16 * 1024
_COUNTED_RESOURCES = frozenset(
    {
        "vpc.amazonaws.com/pod-eni",
        "vpc.amazonaws.com/efa",
        "aws.amazon.com/neuron",
        "aws.amazon.com/neuroncore",
        "habana.ai/gaudi",
    }
)
"""Resources that Karpenter's AWS provider counts itself, beside those that the CRD names."""


def label_names(said: Located) -> Iterator[Complaint]:
    """Each label key is a qualified name."""
    for key, value in mapping(said).items():
        if problem := labels.find_syntax_problem(key):
            at = value.key or value.at
            yield Complaint(
                at,
                f"Karpenter rejects the label `{key}`: it {problem}",
                "use a valid label key, such as `example.com/team`",
            )


def restricted_labels(said: Located) -> Iterator[Complaint]:
    """No label is one that Karpenter keeps for itself."""
    for key, value in mapping(said).items():
        if is_restricted(key):
            at = value.key or value.at
            yield Complaint(at, f"Karpenter rejects the label `{key}`: it {_why(key)}", "remove it")


def requirement_name(requirement: Located) -> Iterator[Complaint]:
    """A requirement's key is a qualified name."""
    for key in find_values(requirement, "key"):
        if problem := labels.find_syntax_problem(_normalized(requirement)):
            message = f"Karpenter rejects the key `{key.value}`: it {problem}"
            yield Complaint(place(key), message, "use a valid label key, such as `example.com/team`")


def restricted_requirement(requirement: Located) -> Iterator[Complaint]:
    """A requirement is not on a label that Karpenter keeps for itself."""
    for key in find_values(requirement, "key"):
        if is_restricted(_normalized(requirement)):
            message = f"Karpenter rejects the key `{key.value}`: it {_why(str(key.value))}"
            yield Complaint(place(key), message, "remove it")


def requirement_values(requirement: Located) -> Iterator[Complaint]:
    """Each value is one that a label can have."""
    for value in items(find_value(requirement, "values")):
        if not is_label_value(str(value.value)):
            message = f"Karpenter rejects the value `{value.value}`: it is not a valid label value"
            fix = "use at most 63 letters, digits, - _ . with a letter or digit at both ends"
            yield Complaint(place(value), message, fix)


def known_values(requirement: Located) -> Iterator[Complaint]:
    """`In` on a label with a closed set of values names enough of them."""
    label = labels.WELL_KNOWN.get(_normalized(requirement))
    if label is None or not label.enforced or read_text(requirement, "operator") != "In":
        return
    said = [str(value.value) for value in items(find_value(requirement, "values"))]
    known = sum(value in label.values for value in said)
    if known < (read_number(requirement, "minValues") or 1):
        message = f"Karpenter knows {known or 'none'} of the values for `{label.key}`: {', '.join(said[:5])}"
        at = place(find_values(requirement, "values", "key")[0])
        yield Complaint(at, message, f"use {' or '.join(f'`{value}`' for value in label.values)}")


def taint_named(taint: Located) -> Iterator[Complaint]:
    """A taint's key and value are qualified names."""
    for said in find_values(taint, "key", "value"):
        if said.value and (problem := labels.find_syntax_problem(str(said.value))):
            message = f"Karpenter rejects `{said.value}` in a taint: it {problem}"
            yield Complaint(place(said), message, "shorten it")


def taint_twice(template: Located) -> Iterator[Complaint]:
    """No two taints, those at startup included, have one key and effect."""
    seen = set()
    for name in ("taints", "startupTaints"):
        for item in items(find_value(template, name)):
            pair = read_text(item, "key"), read_text(item, "effect")
            if pair in seen:
                message = f"duplicate taint `{pair[0]}` with effect `{pair[1]}`: Karpenter rejects it"
                yield Complaint(item.at, message, "keep it once, in `taints` or `startupTaints`")
            seen.add(pair)


def counted_resources(capacity: Located) -> Iterator[Complaint]:
    """An overlay sets no resource that Karpenter counts itself."""
    for key, amount in mapping(capacity).items():
        if key in _COUNTED_RESOURCES:
            message = f"an overlay can't set `{key}`: Karpenter counts it itself"
            yield Complaint(amount.key or amount.at, message, "set other extended resources only")


def user_data_size(spec: Located) -> Iterator[Complaint]:
    """User data fits into what EC2 takes; Bottlerocket's is written anew, and may get shorter."""
    data = find_value(spec, "userData")
    size = len(str(data.value).encode()) if data is not None else 0
    family = read_text(spec, "amiFamily") or read_text(
        next(iter(items(find_value(spec, "amiSelectorTerms"))), spec), "alias"
    )
    if data is not None and size > _MOST_USER_DATA and not family.lower().startswith("bottlerocket"):
        message = (
            f"`userData` has {size:,} bytes; EC2 accepts {_MOST_USER_DATA:,}, Karpenter's own part included"
        )
        yield Complaint(place(data), message, "download the rest at boot")


def is_label_value(text: str) -> bool:
    """Return whether a node label can have a value."""
    return len(text) <= _LONGEST_VALUE and matches(labels.LABEL_VALUE_PATTERN, text)


def is_restricted(key: str) -> bool:
    """Return whether Karpenter keeps a label key for itself."""
    if key in labels.WELL_KNOWN or key == labels.NODEPOOL:
        return False
    domain, slash, _ = key.partition("/")
    own = (domain == one or domain.endswith(f".{one}") for one in labels.RESTRICTED_DOMAINS)
    return key == labels.HOSTNAME or (bool(slash) and any(own))


def _normalized(requirement: Located) -> str:
    key = read_text(requirement, "key")
    return labels.ALIASES.get(key, key)


def _why(key: str) -> str:
    return labels.find_key_problem(key) or "is reserved"


def _requirement_rules(requirement: str) -> tuple[FieldRule, ...]:
    return (
        FieldRule(Code.NOT_A_QUALIFIED_NAME, requirement, requirement_name),
        FieldRule(Code.RESTRICTED_LABEL, requirement, restricted_requirement),
        FieldRule(Code.NOT_A_LABEL_VALUE, requirement, requirement_values),
        FieldRule(Code.NO_KNOWN_VALUE, requirement, known_values),
    )


NODEPOOL: Final = (
    FieldRule(Code.NOT_A_QUALIFIED_NAME, "spec template metadata labels", label_names),
    FieldRule(Code.RESTRICTED_LABEL, "spec template metadata labels", restricted_labels),
    *_requirement_rules(f"{_TEMPLATE} requirements {ITEMS}"),
    *(
        FieldRule(Code.NOT_A_QUALIFIED_NAME, f"{_TEMPLATE} {name} {ITEMS}", taint_named)
        for name in ("taints", "startupTaints")
    ),
    FieldRule(Code.TAINT_TWICE, _TEMPLATE, taint_twice),
)
NODEOVERLAY: Final = (
    *_requirement_rules(f"spec requirements {ITEMS}"),
    FieldRule(Code.OVERLAY_RESOURCE, "spec capacity", counted_resources),
)
EC2NODECLASS: Final = (FieldRule(Code.USER_DATA_SIZE, "spec", user_data_size),)
