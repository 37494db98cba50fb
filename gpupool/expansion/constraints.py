"""Conversion of a constraint on a label to Karpenter's requirements."""

from collections.abc import Callable, Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TypeAlias

from gpupool.blueprint.constraint import Bounds, RequirementEntry
from gpupool.codes import Code
from gpupool.expansion.problem import Problem
from gpupool.karpenter import labels
from gpupool.shapes.fields import LocatedItems
from gpupool.yamlio.located import Located, YamlValue, items, leaf, listing, mapping, tree

Convert: TypeAlias = Callable[[str, Located, str], str]
"""Converts a value of a label, for a kind of bound (`in`, `min`, …), to the label's text."""

_OPERATORS = {
    Bounds.in_.key: "In", Bounds.not_.key: "NotIn", Bounds.min.key: "Gte", Bounds.max.key: "Lte",
    Bounds.above.key: "Gt", Bounds.below.key: "Lt",
}  # fmt: skip
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
"""For each label with a unit: the unit's size, its name, and the units that a blueprint can use."""


def convert_constraint(label: str, constraint: Located) -> Iterator[Located]:
    """Yield the requirements of a constraint; requirements in Karpenter's form stay unchanged.

    Raises:
        Problem: for an exact size that is not a whole number of the label's unit.
    """
    if any(isinstance(item.value, dict) for item in items(constraint)):
        yield from (_copy_requirement(item) for item in items(constraint))
        return
    convert = _to_unit if label in _UNITS else _to_text
    if isinstance(constraint.value, dict):
        yield from _convert_bounds(label, constraint, convert)
    else:
        values = items(constraint) or [constraint]
        yield build_requirement(
            label, "In", constraint, [_convert_value(label, node, "in", convert) for node in values]
        )


def _copy_requirement(item: Located) -> Located:
    entry = RequirementEntry(item)
    return tree({key: entry.get(key) for key in RequirementEntry.rows}, item)


def _convert_bounds(label: str, constraint: Located, convert: Convert) -> Iterator[Located]:
    minimum = Bounds(constraint).min_values
    converted = list(_convert_each_bound(label, constraint, convert))
    if not converted and minimum is not None:
        converted = [build_requirement(label, "Exists", minimum, None)]
    for index, requirement in enumerate(converted):
        counted = {Bounds.min_values.key: minimum} if index == 0 and minimum is not None else {}
        yield tree({**mapping(requirement), **counted}, requirement)


def _convert_each_bound(label: str, constraint: Located, convert: Convert) -> Iterator[Located]:
    for bound, node in Bounds(constraint).entries().items():
        if bound == Bounds.exists.key:
            yield build_requirement(label, "Exists" if node.value else "DoesNotExist", node, None)
        elif bound in _OPERATORS:
            values = [_convert_value(label, item, bound, convert) for item in LocatedItems[YamlValue](node)]
            yield build_requirement(label, _OPERATORS[bound], node, values)


def _convert_value(label: str, node: Located, bound: str, convert: Convert) -> Located:
    return leaf(convert(label, node, bound), node)


def build_requirement(
    label: str,
    operator: str,
    cause: Located,
    values: list[Located] | None = None,
    note: str = "",
    also: tuple[Located, ...] = (),
) -> Located:
    """Build one requirement, located at its cause."""
    return tree(
        {
            "key": leaf(label, cause, note, also),
            "operator": leaf(operator, cause, note, also),
            "values": None if values is None else listing(values, cause),
        },
        cause,
    )


def _to_text(_label: str, node: Located, _bound: str) -> str:
    return str(node.value)


def _to_unit(label: str, node: Located, bound: str) -> str:
    """Convert a size such as `24GB` to the label's unit; minimums are rounded down, and maximums up."""
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
