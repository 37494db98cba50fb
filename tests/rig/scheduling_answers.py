"""What Karpenter's scheduler and provider answer, as values; an empty text stands for "no error".

Amounts are exact decimal numbers as text, in the base unit (cores, bytes, pieces). Names of types are sorted, or in the
order of price where it is said so; among equal prices they are by name (Karpenter leaves those to chance).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

Body = dict[str, Any]


class Launch(NamedTuple):
    """What happens to a NodeClaim at launch."""

    types: tuple[str, ...]
    """What EC2 is asked for: at most the 60 cheapest, in the order of price."""

    prices: tuple[float, ...]
    survivors: tuple[str, ...]
    """What the launch filters leave, before that cut."""

    capacity_type: str
    requirements: Mapping[str, Body]
    labels: Mapping[str, str]
    error: str


class Match(NamedTuple):
    """The types that the scheduler leaves a pool before it looks at pods; limits don't count."""

    types: tuple[str, ...]
    error: str
    """Why none is left."""

    invalid: str
    """Why Karpenter's runtime validation keeps the pool from being used at all."""

    launch: Launch | None
    """Of a NodeClaim without pods, which takes at most the 600 cheapest; None if none is left or it was not asked for."""


class Overlaid(NamedTuple):
    """What NodeOverlays make of types, as pools see them."""

    types: Mapping[str, Mapping[str, Body]]
    """By pool and type, of types that change: `capacity`, `allocatable` and the available `offerings`."""

    refused: Mapping[str, str]
    """The overlays that count for nothing, with Karpenter's word for it."""


class Limits(NamedTuple):
    """What the limits of a pool still admit."""

    types: tuple[str, ...]
    remaining: Mapping[str, str]
    error: str
    """What the scheduler says to a pod that asks for nothing."""

    exceeded: str
    """Why no NodeClaim would be created although the scheduler wants one."""


class NodeClaim(NamedTuple):
    """A node that the scheduler wants."""

    pool: str
    types: tuple[str, ...]
    """In the order of price."""

    prices: tuple[float, ...]
    requests: Mapping[str, str]
    exceeded: str
    min_values_relaxed: bool
    launch: Launch | None
    """None if it was not asked for."""


class Placement(NamedTuple):
    """Where a pod goes: a NodeClaim, which pods may share, or the reason against it."""

    claim: NodeClaim | None
    error: str


class Solution(NamedTuple):
    """What the scheduler makes of pods, one placement for each in the order they were given."""

    placements: tuple[Placement, ...]
    invalid: Mapping[str, str]
    """The pools that runtime validation keeps out."""

    log: tuple[str, ...]


def matched(answer: Body) -> Match:
    """Read an answer to `match`."""
    return Match(
        tuple(answer["types"]),
        answer["error"] or "",
        answer["validation"] or "",
        _launch(answer["launch"]),
    )


def overlaid(answer: Body) -> Overlaid:
    """Read an answer to `overlaid`."""
    return Overlaid(
        {pool: {each["name"]: each for each in types} for pool, types in answer["pools"].items()},
        {name: said["reason"] for name, said in answer["overlays"].items() if not said["valid"]},
    )


def limited(answer: Body) -> Limits:
    """Read an answer to `limits`."""
    return Limits(
        tuple(answer["types"]), answer["remaining"], answer["error"] or "", answer["exceeded"] or ""
    )


def solved(answer: Body) -> Solution:
    """Read an answer to `solve`."""
    claims = [_claim(each) for each in answer["nodeClaims"]]
    placements = (
        Placement(None if each["nodeClaim"] is None else claims[each["nodeClaim"]], each["error"] or "")
        for each in answer["pods"]
    )
    return Solution(tuple(placements), answer["invalid"], tuple(answer["log"]))


def _claim(found: Body) -> NodeClaim:
    return NodeClaim(
        found["nodePool"],
        tuple(found["types"]),
        tuple(found["prices"]),
        found["requests"],
        found["exceeded"] or "",
        found["minValuesRelaxed"],
        _launch(found["launch"]),
    )


def _launch(found: Body | None) -> Launch | None:
    if found is None:
        return None
    return Launch(
        tuple(found.get("types", ())),
        tuple(found.get("prices", ())),
        tuple(found.get("survivors", ())),
        found.get("capacityType", ""),
        found.get("requirements", {}),
        found.get("labels") or {},
        found.get("error") or "",
    )
