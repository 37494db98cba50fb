"""One constraint on one label becomes Karpenter's requirements on it."""

from collections.abc import Callable, Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TypeAlias

from gpupool.codes import Code
from gpupool.expansion.problem import Problem
from gpupool.karpenter import labels
from gpupool.yamlio.located import Located, find, items, leaf, listing, mapping, tree

Convert: TypeAlias = Callable[[str, Located, str], str]
"""Turns a label's value, and the bound that it is (`in`, `min`, …), into the label's text."""

_OPERATORS = {"min": "Gte", "max": "Lte", "above": "Gt", "below": "Lt"}
_BYTES = {
    "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "MB": 10**6, "GB": 10**9, "TB": 10**12,
}  # fmt: skip
_BITS = {"Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12}
_UNITS: dict[str, tuple[int, str, dict[str, int]]] = {
    labels.INSTANCE_MEMORY: (2**20, "MiB", _BYTES),
    labels.INSTANCE_GPU_MEMORY: (2**20, "MiB", _BYTES),
    labels.INSTANCE_LOCAL_NVME: (10**9, "GB", _BYTES),
    labels.INSTANCE_NETWORK_BANDWIDTH: (10**6, "Mbit/s", _BITS),
}
"""For each label that counts in a unit: the unit's size, its name, and the units a person may write."""


def convert_constraint(label: str, constraint: Located) -> Iterator[Located]:
    """Yield the requirements that say the constraint; Karpenter's own are passed on as they are.

    Raises:
        Problem: where a size has to be exact but is not.
    """
    if any(isinstance(item.value, dict) for item in items(constraint)):
        yield from (_own(item) for item in items(constraint))
        return
    convert = _size if label in _UNITS else _text
    if isinstance(constraint.value, dict):
        yield from _bounds(label, constraint, convert)
    else:
        values = items(constraint) or [constraint]
        yield build_requirement(
            label, "In", constraint, [_converted(label, node, "in", convert) for node in values]
        )


def _own(item: Located) -> Located:
    parts = mapping(item)
    return tree({key: parts.get(key) for key in ("key", "operator", "values", "minValues")}, item)


def _bounds(label: str, constraint: Located, convert: Convert) -> Iterator[Located]:
    least = find(constraint, "minValues")
    made = list(_each_bound(label, constraint, convert))
    if not made and least is not None:
        made = [build_requirement(label, "Exists", least, None)]
    for index, one in enumerate(made):
        counted = {"minValues": least} if index == 0 and least is not None else {}
        yield tree({**mapping(one), **counted}, one)


def _each_bound(label: str, constraint: Located, convert: Convert) -> Iterator[Located]:
    for word, node in mapping(constraint).items():
        if word in ("in", "not"):
            values = [_converted(label, item, word, convert) for item in items(node) or [node]]
            yield build_requirement(label, "In" if word == "in" else "NotIn", node, values)
        elif word in _OPERATORS:
            yield build_requirement(label, _OPERATORS[word], node, [_converted(label, node, word, convert)])
        elif word == "exists":
            yield build_requirement(label, "Exists" if node.value else "DoesNotExist", node, None)


def _converted(label: str, node: Located, bound: str, convert: Convert) -> Located:
    return leaf(convert(label, node, bound), node)


def build_requirement(
    label: str, operator: str, cause: Located, values: list[Located] | None = None, note: str = ""
) -> Located:
    """Make one requirement that is there because of `cause`."""
    return tree(
        {
            "key": leaf(label, cause, note),
            "operator": leaf(operator, cause, note),
            "values": None if values is None else listing(values, cause),
        },
        cause,
    )


def _text(_label: str, node: Located, _bound: str) -> str:
    return str(node.value)


def _size(label: str, node: Located, bound: str) -> str:
    """Turn `24GB` into the label's unit: minimums round down and maximums up, so that nothing is lost."""
    if not isinstance(node.value, str):
        return str(node.value)
    unit, name, units = _UNITS[label]
    number = node.value.rstrip("".join(set("".join(units))))
    exact = Decimal(number) * units[node.value[len(number) :]] / unit
    if bound in ("min", "above"):
        return str(exact.to_integral_value(ROUND_FLOOR))
    if bound in ("max", "below"):
        return str(exact.to_integral_value(ROUND_CEILING))
    if exact != exact.to_integral_value():
        message = f"no instance type has exactly {node.value} ({exact:.1f} {name})"
        raise Problem(Code.INEXACT_SIZE, message, node, f"set a bound: `{{min: {node.value}}}`")
    return str(exact.to_integral_value())
