"""Why a pool does not launch one type: each requirement that keeps it out, and what the type has instead."""

from typing import NamedTuple

from gpupool.karpenter.requirements import Requirement
from gpupool.scheduling.explained import Candidate, Explained
from gpupool.scheduling.types.classfilter import find_class_conflict


class UnmetRequirement(NamedTuple):
    """One requirement that a type does not meet."""

    requirement: Requirement
    values: tuple[str, ...]
    """What the type has for the label; none where it lacks it."""


class Exclusion(NamedTuple):
    """What becomes of one type in a pool."""

    name: str
    refused: tuple[UnmetRequirement, ...]
    by_class: str
    """Why the class can't be used with it; empty where it can."""

    candidate: Candidate | None
    """None where a requirement or the class keeps it out."""

    retired: str | None


def explain_exclusion(explained: Explained, name: str) -> Exclusion | None:
    """Return what becomes of a type; None where the catalogue does not know it."""
    market = explained.market
    place = market.catalogue.position(name)
    if place is None:
        return None
    refused = tuple(
        UnmetRequirement(each, tuple(sorted(market.values(key, place))))
        for key, each in sorted(explained.wanted.items())
        if not market.taken(each) >> place & 1
    )
    candidate = next((each for each in explained.candidates if each.kind.name == name), None)
    kind = market.kind(place)
    return Exclusion(name, refused, find_class_conflict(kind, market.node_class), candidate, kind.retired)
