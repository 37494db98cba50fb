"""The CRDs' CEL rules over requirements and label keys, which NodePools and NodeOverlays share."""

from collections.abc import Callable, Collection, Iterator
from functools import partial

from gpupool.codes import Code
from gpupool.karpenter import labels
from gpupool.karpenter.integers import int64
from gpupool.karpenter.validation.rules import Check, Complaint, Rule, has, number, present, word
from gpupool.yamlio.nodes import Node, items, mapping, place

COMPARISONS = frozenset({"Gt", "Lt", "Gte", "Lte"})
_KARPENTER_ALLOWED = frozenset({labels.CAPACITY_TYPE, labels.NODEPOOL})


def in_without_values(requirements: Node) -> Iterator[Complaint]:
    """`In` needs values."""
    yield from _without_values(requirements, "In")


def not_in_without_values(requirements: Node) -> Iterator[Complaint]:
    """`NotIn` needs values; only a NodeOverlay asks for that."""
    yield from _without_values(requirements, "NotIn")


def comparison_without_number(requirements: Node) -> Iterator[Complaint]:
    """`Gt` and its like need one whole number that is not negative."""
    for item in items(requirements):
        operator, values = word(item, "operator"), items(present(item, "values"))
        if operator in COMPARISONS and not (len(values) == 1 and is_count(str(values[0].value))):
            message = f"`{word(item, 'key')}` with `{operator}` needs one whole number, 0 or more"
            at = place((has(item, "values", "operator"))[0])
            yield Complaint(at, message, 'write one number in quotes, such as `values: ["8"]`')


def too_few_values(requirements: Node) -> Iterator[Complaint]:
    """`In` needs as many values as `minValues` says."""
    for item in items(requirements):
        least, values = present(item, "minValues"), items(present(item, "values"))
        count = number(item, "minValues") or 0
        if least is not None and word(item, "operator") == "In" and len(values) < count:
            given = f"{len(values)} value{'s' * (len(values) != 1)}"
            message = f"`{word(item, 'key')}` has {given}, fewer than `minValues: {least.value}`"
            yield Complaint(place(least), message, "add values, or lower `minValues`")


def is_count(text: str) -> bool:
    """Say whether Go reads `text` as a whole number of 64 bits that is not negative."""
    number = int64(text)
    return number is not None and number >= 0


def key_rules(at: str, allowed_aws: Collection[str], *, is_map: bool) -> tuple[Rule, ...]:
    """Give the rules that keep label keys out of Karpenter's domains, for one map of labels or one key."""

    def over(refuses: Callable[[str], bool]) -> Check:
        return partial(_in_labels if is_map else _in_key, refuses)

    return (
        Rule(Code.RESTRICTED_DOMAIN, at, over(_in_karpenter_domain)),
        Rule(Code.RESERVED_LABEL, at, over(_is_hostname)),
        Rule(Code.RESTRICTED_DOMAIN, at, over(partial(_in_aws_domain, allowed_aws))),
    )


def nodepool_key_rule(at: str, *, is_map: bool) -> Rule:
    """Give the rule against the label that holds the pool's own name."""
    return Rule(Code.RESERVED_LABEL, at, partial(_in_labels if is_map else _in_key, _is_nodepool))


def _in_karpenter_domain(key: str) -> bool:
    return key not in _KARPENTER_ALLOWED and labels.domain(key).endswith(labels.KARPENTER)


def _in_aws_domain(allowed: Collection[str], key: str) -> bool:
    return key not in allowed and labels.domain(key).endswith(labels.AWS)


def _is_hostname(key: str) -> bool:
    return key == labels.HOSTNAME


def _is_nodepool(key: str) -> bool:
    return key == labels.NODEPOOL


def _in_labels(refuses: Callable[[str], bool], said: Node) -> Iterator[Complaint]:
    for key, value in mapping(said).items():
        if refuses(key):
            yield Complaint(value.key or value.at, _refused(key), "remove it, or use your own domain")


def _in_key(refuses: Callable[[str], bool], key: Node) -> Iterator[Complaint]:
    if refuses(str(key.value)):
        yield Complaint(place(key), _refused(str(key.value)), "remove it, or use your own domain")


def _refused(key: str) -> str:
    return f"the label `{key}` {labels.overlay_key_problem(key) or labels.key_problem(key) or 'is rejected'}"


def _without_values(requirements: Node, operator: str) -> Iterator[Complaint]:
    for item in items(requirements):
        if word(item, "operator") == operator and not items(present(item, "values")):
            message = f"`{word(item, 'key')}` with `{operator}` needs at least one value"
            yield Complaint(
                place(has(item, "values", "operator")[0]), message, "add a value, or write `operator: Exists`"
            )
