"""Karpenter's requirement algebra: sets of label values, their intersections and conflicts.

Source: pkg/scheduling/requirement.go and requirements.go of Karpenter v1.14.1.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from gpupool.karpenter.integers import parse_int64
from gpupool.karpenter.labels import ALIASES

Operator: TypeAlias = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"]

_LARGEST: Final = 2**63 - 1
_ABSENCE_OPERATORS: Final = frozenset({"NotIn", "DoesNotExist"})
"""Operators that also match where the label is absent."""


class Requirement(NamedTuple):
    """The accepted values of one label: a set of texts, or all except a set, within whole-number bounds."""

    key: str
    is_complement: bool
    """Whether `values` are rejected and all others accepted."""

    values: frozenset[str]
    gte: int | None = None
    lte: int | None = None
    min_values: int | None = None

    @property
    def operator(self) -> Operator:
        """Return the operator that Karpenter derives from it; a bound alone is Exists."""
        if self.is_complement:
            return "NotIn" if self.values else "Exists"
        return "In" if self.values else "DoesNotExist"

    def has(self, value: str) -> bool:
        """Return whether this value of the label is accepted."""
        return (value in self.values) is not self.is_complement and _is_within(value, self.gte, self.lte)

    def matches(self, values: Collection[str]) -> bool:
        """Return whether one of an instance type's `values` is accepted; no values means no such label."""
        return any(map(self.has, values)) or (not values and self.operator in _ABSENCE_OPERATORS)

    def intersection(self, other: "Requirement") -> "Requirement":
        """Return the values that both accept; contradicting bounds become DoesNotExist."""
        gte, lte = _get_largest(self.gte, other.gte), _get_smallest(self.lte, other.lte)
        min_values = _get_largest(self.min_values, other.min_values)
        if gte is not None and lte is not None and gte > lte:
            return Requirement(self.key, False, frozenset(), min_values=min_values)
        complement = self.is_complement and other.is_complement
        values = frozenset(value for value in _find_common(self, other) if _is_within(value, gte, lte))
        if not complement:
            gte = lte = None
        return Requirement(self.key, complement, values, gte, lte, min_values)

    def has_intersection(self, other: "Requirement") -> bool:
        """Return whether some value is accepted by both."""
        gte, lte = _get_largest(self.gte, other.gte), _get_smallest(self.lte, other.lte)
        if gte is not None and lte is not None and gte > lte:
            return False
        if self.is_complement and other.is_complement:
            return True
        return any(_is_within(value, gte, lte) for value in _find_common(self, other))


Requirements: TypeAlias = dict[str, Requirement]


class RequirementConflict(NamedTuple):
    """A label on which two requirements conflict; `existing` is None where that side lacks the label."""

    key: str
    existing: Requirement | None
    incoming: Requirement


def build_requirement(
    key: str, operator: str, values: Iterable[str] = (), min_values: int | None = None
) -> Requirement:
    """Build the requirement of an operator and its values; a label's old name is replaced by its new one."""
    key, values = ALIASES.get(key, key), tuple(values)
    if operator in ("In", "NotIn"):
        return Requirement(key, operator == "NotIn", frozenset(values), min_values=min_values)
    if operator in ("Exists", "DoesNotExist"):
        return Requirement(key, operator == "Exists", frozenset(), min_values=min_values)
    bound = _parse_bound(values[0])
    if operator == "Gt" and bound == _LARGEST:
        return Requirement(key, False, frozenset())
    if operator in ("Gt", "Gte"):
        return Requirement(key, True, frozenset(), gte=bound + (operator == "Gt"), min_values=min_values)
    return Requirement(key, True, frozenset(), lte=bound - (operator == "Lt"), min_values=min_values)


def combine_requirements(requirements: Iterable[Requirement]) -> Requirements:
    """Return the intersection of all requirements, label by label."""
    merged: Requirements = {}
    for entry in requirements:
        existing = merged.get(entry.key)
        merged[entry.key] = entry if existing is None else entry.intersection(existing)
    return merged


def labels_to_requirements(labels: Mapping[str, str]) -> list[Requirement]:
    """Return a requirement for each label of a node or of a node selector."""
    return [build_requirement(key, "In", (value,)) for key, value in labels.items()]


def find_conflicts(
    existing: Mapping[str, Requirement], incoming: Mapping[str, Requirement], undefined_ok: Collection[str]
) -> list[RequirementConflict]:
    """Find the labels on which a future node (`existing`) does not satisfy `incoming`.

    A node without a label in `undefined_ok` satisfies everything on it. Any other label that the node
    lacks is returned alone, because Karpenter stops there.
    """
    for key, required in incoming.items():
        if key not in undefined_ok and key not in existing and required.operator not in _ABSENCE_OPERATORS:
            return [RequirementConflict(key, None, required)]
    return find_disagreements(existing, incoming)


def find_disagreements(
    existing: Mapping[str, Requirement], incoming: Mapping[str, Requirement]
) -> list[RequirementConflict]:
    """Find the labels that both sides restrict without a common value."""
    disagreements = []
    for key, required in incoming.items():
        available = existing.get(key)
        if available is None or available.has_intersection(required):
            continue
        if required.operator not in _ABSENCE_OPERATORS or available.operator not in _ABSENCE_OPERATORS:
            disagreements.append(RequirementConflict(key, available, required))
    return disagreements


def _find_common(one: Requirement, other: Requirement) -> frozenset[str]:
    """Return the common values of two requirements; for two complements, the values that either rejects."""
    if one.is_complement and other.is_complement:
        return one.values | other.values
    if one.is_complement:
        return other.values - one.values
    return one.values - other.values if other.is_complement else one.values & other.values


def _parse_bound(text: str) -> int:
    """Parse a bound as Go's `strconv.Atoi` does: 0 if it is not a number, the limit if it is too large."""
    number = parse_int64(text)
    if number is not None:
        return number
    digits = text.lstrip("+-")
    if not (digits.isascii() and digits.isdigit()):
        return 0
    return -_LARGEST - 1 if text.startswith("-") else _LARGEST


def _is_within(value: str, gte: int | None, lte: int | None) -> bool:
    if gte is None and lte is None:
        return True
    number = parse_int64(value)
    return number is not None and (gte is None or number >= gte) and (lte is None or number <= lte)


def _get_largest(one: int | None, other: int | None) -> int | None:
    return max((bound for bound in (one, other) if bound is not None), default=None)


def _get_smallest(one: int | None, other: int | None) -> int | None:
    return min((bound for bound in (one, other) if bound is not None), default=None)
