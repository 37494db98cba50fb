"""Summaries of field changes: one line for all that follows from one value of the blueprint."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.planning.plan import CauseSummary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gpupool.planning.plan import BlueprintCause, FieldChange

_LIST_ITEM: Final = re.compile(r"(?P<list>\w+)\[(?P<name>[^\]]*)\]")
_LIMIT: Final = re.compile(r"spec\.(?:limits|capacity)(?:\[(?P<odd>[^\]]+)\]|\.(?P<plain>.+))")
_NOUNS: Final = {
    "budgets": "budget",
    "requirements": "requirement",
    "taints": "taint",
    "labels": "label",
    "tags": "tag",
}
_FIELD: Final = "field"


class SummarizedField(NamedTuple):
    """A changed field, and whether its value is calculated from the blueprint's."""

    change: FieldChange
    is_calculated: bool


def summarize(
    fields: Sequence[SummarizedField], before: Mapping[str, str], after: Mapping[str, str]
) -> tuple[CauseSummary, ...]:
    """Summarize the changes by cause; `before` and `after` are the texts of the inputs, by field."""
    groups: dict[str, list[SummarizedField]] = {}
    causes: dict[str, BlueprintCause] = {}
    for item in fields:
        if item.change.cause == "intent" and item.change.semantic:
            for cause in item.change.causes:
                causes.setdefault(cause.field, cause)
                if item not in groups.setdefault(cause.field, []):
                    groups[cause.field].append(item)
    return tuple(
        _summary(causes[name], items, before, after)
        for name, items in groups.items()
        if _is_worth_a_line(name, items, before, after)
    )


def find_summarized(summary: CauseSummary, fields: Sequence[FieldChange]) -> list[FieldChange]:
    """Return the changed fields that a summary stands for."""
    return [
        change
        for change in fields
        if change.cause == "intent"
        and change.semantic
        and change.path in summary.paths
        and any(cause.field == summary.cause.field for cause in change.causes)
    ]


def calculate_effect(fields: Sequence[FieldChange], *, is_known: bool) -> str:
    """Return what follows from a cause: `4 budgets`, `nvidia.com/gpu 8 → 9`."""
    limits = [change for change in fields if _LIMIT.fullmatch(change.path)]
    counts: dict[str, set[str]] = {}
    amounts: dict[str, dict[str, int]] = {}
    for change in fields:
        if change in limits:
            continue
        noun, name = _classify(change.path)
        if change.path.endswith("[]") and noun == "budget":
            by_op = amounts.setdefault(noun, {})
            by_op[change.op] = by_op.get(change.op, 0) + 1
        else:
            counts.setdefault(noun, set()).add(name)
    numbers = {noun: len(names) for noun, names in counts.items()}
    numbers |= {noun: max(by_op.values()) for noun, by_op in amounts.items()}
    parts = [f"{number} {noun}{'s' * (number != 1)}" for noun, number in numbers.items()]
    if counts.keys() == {_FIELD} and numbers == {_FIELD: 1} and not limits:
        (name,) = counts[_FIELD]
        parts = [name.rpartition(".")[2].partition("[")[0]]
    if parts and not is_known:
        parts[-1] += f" change{'s' * (sum(numbers.values()) == 1)}"
    return ", ".join([*map(_format_limit, limits), *parts])


def _is_worth_a_line(
    name: str, items: Sequence[SummarizedField], before: Mapping[str, str], after: Mapping[str, str]
) -> bool:
    """Return whether changes are better read by their cause: several, or a value that is calculated."""
    if not name or (name not in before and name not in after):
        return False
    if len(items) > 1:
        return True
    change, is_calculated = items[0]
    is_plain_removal = change.op == "remove" and before.get(name) == str(change.before)
    return is_calculated and not is_plain_removal and before.get(name) != after.get(name)


def _summary(
    cause: BlueprintCause,
    items: Sequence[SummarizedField],
    before: Mapping[str, str],
    after: Mapping[str, str],
) -> CauseSummary:
    name = cause.field
    old, new = before.get(name, "not set" if before else ""), after.get(name, "")
    fields = [item.change for item in items]
    paths = tuple(dict.fromkeys(change.path for change in fields))
    effect = calculate_effect(fields, is_known=bool(old) and old != new)
    return CauseSummary(cause, "" if old == new else old, new, effect, paths)


def _classify(path: str) -> tuple[str, str]:
    """Return what a changed field is counted as, and its name among these."""
    for match in _LIST_ITEM.finditer(path):
        if match["list"] in _NOUNS:
            return _NOUNS[match["list"]], match["name"]
    return _FIELD, path.removesuffix("[]")


def _format_limit(change: FieldChange) -> str:
    match = _LIMIT.fullmatch(change.path)
    name = (match["odd"] or match["plain"]) if match else change.path
    return f"{name} {' → '.join(_format_amounts(change))}"


def _format_amounts(change: FieldChange) -> Iterator[str]:
    for value in (change.before, change.after):
        if value is None:
            yield "none"
        else:
            yield value if isinstance(value, str) else json.dumps(value)
