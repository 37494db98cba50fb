"""Rules of Karpenter's controller: values that the API server accepts, but the object never becomes Ready."""

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
from gpupool.shapes.annotations import is_match
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
"""Resources that Karpenter's AWS provider counts itself, besides those that the CRD lists."""


def check_label_names(node_labels: Located) -> Iterator[Complaint]:
    """Check that each label key is a qualified name."""
    for key, value in mapping(node_labels).items():
        if problem := labels.find_syntax_problem(key):
            at = value.key or value.at
            yield Complaint(
                at,
                f"Karpenter rejects the label `{key}`: it {problem}",
                "use a valid label key, such as `example.com/team`",
            )


def check_restricted_labels(node_labels: Located) -> Iterator[Complaint]:
    """Check that no label is restricted by Karpenter."""
    for key, value in mapping(node_labels).items():
        if is_restricted(key):
            at = value.key or value.at
            yield Complaint(at, f"the label `{key}` {_describe_problem(key)}", "remove it")


def check_requirement_key(requirement: Located) -> Iterator[Complaint]:
    """Check that a requirement's key is a qualified name."""
    for key in find_values(requirement, "key"):
        if problem := labels.find_syntax_problem(_get_current_key(requirement)):
            message = f"Karpenter rejects the key `{key.value}`: it {problem}"
            yield Complaint(place(key), message, "use a valid label key, such as `example.com/team`")


def check_restricted_key(requirement: Located) -> Iterator[Complaint]:
    """Check that a requirement's label is not restricted by Karpenter."""
    for key in find_values(requirement, "key"):
        if is_restricted(_get_current_key(requirement)):
            message = f"the key `{key.value}` {_describe_problem(str(key.value))}"
            yield Complaint(place(key), message, "remove it")


def check_requirement_values(requirement: Located) -> Iterator[Complaint]:
    """Check that a label can have each value of a requirement."""
    for value in items(find_value(requirement, "values")):
        if not is_label_value(str(value.value)):
            message = f"Karpenter rejects the value `{value.value}`: it is not a valid label value"
            fix = "use at most 63 letters, digits, - _ . with a letter or digit at both ends"
            yield Complaint(place(value), message, fix)


def check_known_values(requirement: Located) -> Iterator[Complaint]:
    """Check that `In` lists enough known values of a label with a closed set of values."""
    label = labels.WELL_KNOWN.get(_get_current_key(requirement))
    if label is None or not label.is_enforced or read_text(requirement, "operator") != "In":
        return
    texts = [str(value.value) for value in items(find_value(requirement, "values"))]
    known_count = sum(value in label.values for value in texts)
    least = read_number(requirement, "minValues")
    if known_count < (least or 1):
        few = f"only {known_count}" if known_count else "none"
        required = f" (`minValues` is {least})" if known_count else ""
        message = (
            f"Karpenter supports {few} of the values for `{label.key}`{required}: {', '.join(texts[:5])}"
        )
        at = place(find_values(requirement, "values", "key")[0])
        yield Complaint(at, message, f"use {' or '.join(f'`{value}`' for value in label.values)}")


def check_taint_names(taint: Located) -> Iterator[Complaint]:
    """Check that a taint's key and value are qualified names."""
    for name in find_values(taint, "key", "value"):
        if name.value and (problem := labels.find_syntax_problem(str(name.value))):
            message = f"Karpenter rejects `{name.value}` in a taint: it {problem}"
            yield Complaint(place(name), message, "shorten it")


def check_duplicate_taints(template: Located) -> Iterator[Complaint]:
    """Check that no two taints, including startup taints, have the same key and effect."""
    seen = set()
    for name in ("taints", "startupTaints"):
        for item in items(find_value(template, name)):
            pair = read_text(item, "key"), read_text(item, "effect")
            if pair in seen:
                message = f"duplicate taint `{pair[0]}` with effect `{pair[1]}`: Karpenter rejects it"
                yield Complaint(item.at, message, "keep it once, in `taints` or `startupTaints`")
            seen.add(pair)


def check_counted_resources(capacity: Located) -> Iterator[Complaint]:
    """Check that an overlay sets no resource that Karpenter counts itself."""
    for key, amount in mapping(capacity).items():
        if key in _COUNTED_RESOURCES:
            message = f"an overlay can't set `{key}`: Karpenter counts it itself"
            yield Complaint(amount.key or amount.at, message, "set other extended resources only")


def check_user_data_size(spec: Located) -> Iterator[Complaint]:
    """Check the size of user data; Bottlerocket's is rewritten and may become shorter."""
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
    """Return whether a text is a valid value of a node label."""
    return len(text) <= _LONGEST_VALUE and is_match(labels.LABEL_VALUE_PATTERN, text)


def is_restricted(key: str) -> bool:
    """Return whether a label key is restricted by Karpenter."""
    if key in labels.WELL_KNOWN or key == labels.NODEPOOL:
        return False
    domain, slash, _ = key.partition("/")
    matches_domain = (
        domain == restricted or domain.endswith(f".{restricted}") for restricted in labels.RESTRICTED_DOMAINS
    )
    return key == labels.HOSTNAME or (bool(slash) and any(matches_domain))


def _get_current_key(requirement: Located) -> str:
    key = read_text(requirement, "key")
    return labels.ALIASES.get(key, key)


def _describe_problem(key: str) -> str:
    return labels.find_key_problem(key) or "is reserved"


def _build_requirement_rules(requirement: str) -> tuple[FieldRule, ...]:
    return (
        FieldRule(Code.NOT_A_QUALIFIED_NAME, requirement, check_requirement_key),
        FieldRule(Code.RESTRICTED_LABEL, requirement, check_restricted_key),
        FieldRule(Code.NOT_A_LABEL_VALUE, requirement, check_requirement_values),
        FieldRule(Code.NO_KNOWN_VALUE, requirement, check_known_values),
    )


NODEPOOL: Final = (
    FieldRule(Code.NOT_A_QUALIFIED_NAME, "spec template metadata labels", check_label_names),
    FieldRule(Code.RESTRICTED_LABEL, "spec template metadata labels", check_restricted_labels),
    *_build_requirement_rules(f"{_TEMPLATE} requirements {ITEMS}"),
    *(
        FieldRule(Code.NOT_A_QUALIFIED_NAME, f"{_TEMPLATE} {name} {ITEMS}", check_taint_names)
        for name in ("taints", "startupTaints")
    ),
    FieldRule(Code.TAINT_TWICE, _TEMPLATE, check_duplicate_taints),
)
NODEOVERLAY: Final = (
    *_build_requirement_rules(f"spec requirements {ITEMS}"),
    FieldRule(Code.OVERLAY_RESOURCE, "spec capacity", check_counted_resources),
)
EC2NODECLASS: Final = (FieldRule(Code.USER_DATA_SIZE, "spec", check_user_data_size),)
