"""Karpenter's requirement algebra: what values of a label somebody takes, and whether two sides agree.

Source: pkg/scheduling/requirement.go and requirements.go of Karpenter v1.14.1.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from gpupool.karpenter.integers import parse_int64
from gpupool.karpenter.labels import ALIASES

Operator: TypeAlias = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"]

_LARGEST: Final = 2**63 - 1
_FORGIVING: Final = frozenset({"NotIn", "DoesNotExist"})
"""Operators that are content where the other side has no such label."""


class Requirement(NamedTuple):
    """The values of one label that somebody takes: a set of texts, or all but a set, within whole bounds."""

    key: str
    complement: bool
    """Whether `values` are those refused, and all others are taken."""

    values: frozenset[str]
    gte: int | None = None
    lte: int | None = None
    min_values: int | None = None

    @property
    def operator(self) -> Operator:
        """Return the operator that Karpenter sees in it; a bound alone reads as Exists."""
        if self.complement:
            return "NotIn" if self.values else "Exists"
        return "In" if self.values else "DoesNotExist"

    def has(self, value: str) -> bool:
        """Return whether a node with this value of the label is taken."""
        return (value in self.values) is not self.complement and _within(value, self.gte, self.lte)

    def takes(self, values: Collection[str]) -> bool:
        """Return whether a machine is taken whose label has one of `values`; without any it has none."""
        return any(map(self.has, values)) or (not values and self.operator in _FORGIVING)

    def intersection(self, other: "Requirement") -> "Requirement":
        """Return what both take; bounds that contradict each other read as DoesNotExist."""
        gte, lte = _largest(self.gte, other.gte), _smallest(self.lte, other.lte)
        min_values = _largest(self.min_values, other.min_values)
        if gte is not None and lte is not None and gte > lte:
            return Requirement(self.key, False, frozenset(), min_values=min_values)
        complement = self.complement and other.complement
        values = frozenset(value for value in _common(self, other) if _within(value, gte, lte))
        if not complement:
            gte = lte = None
        return Requirement(self.key, complement, values, gte, lte, min_values)

    def has_intersection(self, other: "Requirement") -> bool:
        """Return whether both take some value."""
        gte, lte = _largest(self.gte, other.gte), _smallest(self.lte, other.lte)
        if gte is not None and lte is not None and gte > lte:
            return False
        if self.complement and other.complement:
            return True
        return any(_within(value, gte, lte) for value in _common(self, other))


Requirements: TypeAlias = dict[str, Requirement]


class RequirementConflict(NamedTuple):
    """A label on which two sides don't agree; `existing` is None where it knows nothing of the label."""

    key: str
    existing: Requirement | None
    incoming: Requirement


def build_requirement(
    key: str, operator: str, values: Iterable[str] = (), min_values: int | None = None
) -> Requirement:
    """Return the requirement that an operator and its values stand for; old names of a label are made new."""
    key, values = ALIASES.get(key, key), tuple(values)
    if operator in ("In", "NotIn"):
        return Requirement(key, operator == "NotIn", frozenset(values), min_values=min_values)
    if operator in ("Exists", "DoesNotExist"):
        return Requirement(key, operator == "Exists", frozenset(), min_values=min_values)
    bound = _bound(values[0])
    if operator == "Gt" and bound == _LARGEST:
        return Requirement(key, False, frozenset())
    if operator in ("Gt", "Gte"):
        return Requirement(key, True, frozenset(), gte=bound + (operator == "Gt"), min_values=min_values)
    return Requirement(key, True, frozenset(), lte=bound - (operator == "Lt"), min_values=min_values)


def combine_requirements(requirements: Iterable[Requirement]) -> Requirements:
    """Return what all of them take together, label by label."""
    made: Requirements = {}
    for each in requirements:
        before = made.get(each.key)
        made[each.key] = each if before is None else each.intersection(before)
    return made


def labels_to_requirements(labels: Mapping[str, str]) -> list[Requirement]:
    """Return a requirement for each label of a node or of a node selector."""
    return [build_requirement(key, "In", (value,)) for key, value in labels.items()]


def find_conflicts(
    existing: Mapping[str, Requirement], incoming: Mapping[str, Requirement], undefined_ok: Collection[str]
) -> list[RequirementConflict]:
    """Return the labels on which a node as it would be (`existing`) does not do for `incoming`.

    Of the labels in `undefined_ok` a node that says nothing does for everybody. A label that it knows
    nothing of is told alone, as Karpenter looks no further then.
    """
    for key, wanted in incoming.items():
        if key not in undefined_ok and key not in existing and wanted.operator not in _FORGIVING:
            return [RequirementConflict(key, None, wanted)]
    return find_disagreements(existing, incoming)


def find_disagreements(
    existing: Mapping[str, Requirement], incoming: Mapping[str, Requirement]
) -> list[RequirementConflict]:
    """Return the labels that both sides speak of and on which they have nothing in common."""
    found = []
    for key, wanted in incoming.items():
        offered = existing.get(key)
        if offered is None or offered.has_intersection(wanted):
            continue
        if wanted.operator not in _FORGIVING or offered.operator not in _FORGIVING:
            found.append(RequirementConflict(key, offered, wanted))
    return found


def _common(one: Requirement, other: Requirement) -> frozenset[str]:
    """Return the values that the two have in common; of two complements what either refuses."""
    if one.complement and other.complement:
        return one.values | other.values
    if one.complement:
        return other.values - one.values
    return one.values - other.values if other.complement else one.values & other.values


def _bound(text: str) -> int:
    """Read a bound as `strconv.Atoi` does: what is no number counts 0, what is too large the largest one."""
    number = parse_int64(text)
    if number is not None:
        return number
    digits = text.lstrip("+-")
    if not (digits.isascii() and digits.isdigit()):
        return 0
    return -_LARGEST - 1 if text.startswith("-") else _LARGEST


def _within(value: str, gte: int | None, lte: int | None) -> bool:
    if gte is None and lte is None:
        return True
    number = parse_int64(value)
    return number is not None and (gte is None or number >= gte) and (lte is None or number <= lte)


def _largest(one: int | None, other: int | None) -> int | None:
    return max((bound for bound in (one, other) if bound is not None), default=None)


def _smallest(one: int | None, other: int | None) -> int | None:
    return min((bound for bound in (one, other) if bound is not None), default=None)
