"""Explanation of why a pool does not launch one instance type."""

from typing import NamedTuple

from gpupool.karpenter.requirements import Requirement
from gpupool.scheduling.explained import Candidate, PoolExplanation
from gpupool.scheduling.types.classfilter import find_class_conflict


class UnmetRequirement(NamedTuple):
    """One requirement that a type does not meet."""

    requirement: Requirement
    values: tuple[str, ...]
    """The type's values of the label; empty if it lacks the label."""


class Exclusion(NamedTuple):
    """How a pool treats one instance type."""

    name: str
    unmet: tuple[UnmetRequirement, ...]
    class_conflict: str
    """Why the node class can't be used with it; empty if it can."""

    candidate: Candidate | None
    """None if a requirement or the node class excludes it."""

    retired: str | None


def explain_exclusion(explained: PoolExplanation, name: str) -> Exclusion | None:
    """Explain how a pool treats an instance type; None if it is not in the catalogue."""
    market = explained.market
    position = market.catalogue.position(name)
    if position is None:
        return None
    unmet = tuple(
        UnmetRequirement(entry, tuple(sorted(market.values(key, position))))
        for key, entry in sorted(explained.requirements.items())
        if not market.find_types(entry) >> position & 1
    )
    candidate = next((entry for entry in explained.candidates if entry.kind.name == name), None)
    kind = market.kind(position)
    return Exclusion(name, unmet, find_class_conflict(kind, market.node_class), candidate, kind.retired)
