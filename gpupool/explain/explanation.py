"""What there is to say about a pool's machines: an answer for each of its NodePools, in Karpenter's order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpupool.errors import UsageError
from gpupool.findings import Finding, has_errors
from gpupool.karpenter import labels
from gpupool.scheduling.exclusion import explain_exclusion
from gpupool.scheduling.explained import explain
from gpupool.scheduling.naming.checks import add_article
from gpupool.scheduling.naming.names import NOUNS, Names
from gpupool.scheduling.traps.find import find_traps
from gpupool.shapes.error_messages import dotted, locate, nearest
from gpupool.yamlio.located import place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpupool.catalogue.model import Catalogue
    from gpupool.pools import LoadedNodePool, LoadedNodePools
    from gpupool.scheduling.exclusion import Exclusion
    from gpupool.scheduling.explained import PoolExplanation
    from gpupool.scheduling.traps.trap import Trap
    from gpupool.scheduling.types.market import Market


_MOST_NAMES = 20


class NodePoolExplanation(NamedTuple):
    """What one NodePool may launch, and what is surprising about it."""

    explained: PoolExplanation
    node_class: str
    """Empty where the class is not among the files, and AL2023 was assumed."""

    notes: tuple[Finding, ...]
    why: Exclusion | None
    """What becomes of the type that was asked about."""


class Explanation(NamedTuple):
    """The answers for one pool."""

    pool: str
    answers: tuple[NodePoolExplanation, ...]
    catalogue: Catalogue

    @property
    def tiered(self) -> bool:
        """Return whether the pool has tiers."""
        return len(self.answers) > 1 or any(each.explained.pool.name != self.pool for each in self.answers)

    @property
    def failed(self) -> bool:
        """Return whether one of its NodePools has no candidate, or launches nothing for certain."""
        return any(not each.explained.candidates or has_errors(each.notes) for each in self.answers)


def explain_pool(pools: LoadedNodePools, name: str, type_name: str | None = None) -> Explanation:
    """Return what the NodePools of a pool may launch, and what becomes of one type there.

    Raises:
        UsageError: where there is no such pool, or the catalogue does not know the type.
    """
    found = node_pools(pools, name)
    answers = [_answer(each, type_name) for each in found]
    answers.sort(key=lambda each: (each.explained.pool.weight, each.explained.pool.name), reverse=True)
    return Explanation(name, tuple(answers), found[0].market.catalogue)


def node_pools(pools: LoadedNodePools, name: str) -> list[LoadedNodePool]:
    """Return the NodePools of a pool.

    Raises:
        UsageError: where there is none of that name.
    """
    found = pools.named(name)
    if not found:
        raise UsageError(_unknown("pool", name, pools.names))
    return found


def explain_each(pools: LoadedNodePools) -> list[Explanation]:
    """Return what every pool may launch."""
    return [explain_pool(pools, name) for name in dict.fromkeys(each.pool for each in pools.items)]


def _answer(each: LoadedNodePool, type_name: str | None) -> NodePoolExplanation:
    found = explain(each.data, each.market)
    becomes = None if type_name is None else explain_exclusion(found, type_name)
    if type_name is not None and becomes is None:
        raise UsageError(_unknown_type(type_name, found.market))
    notes = tuple(_note(each, trap) for trap in find_traps(each.data, found, in_blueprint=each.in_blueprint))
    return NodePoolExplanation(found, each.node_class, notes, becomes)


def _note(each: LoadedNodePool, trap: Trap) -> Finding:
    at = place(locate(each.body, trap.path)[0])
    return Finding(
        trap.code, trap.message, at, trap.fix, trap.severity, dotted(trap.path), f"NodePool/{each.name}"
    )


def _unknown(kind: str, name: str, known: Sequence[str]) -> str:
    near = nearest(name, known)
    few = ", ".join(known) if len(known) <= _MOST_NAMES else f"{len(known)} of them"
    hint = f"did you mean {near}?" if near else f"available: {few}"
    return f"unknown {kind} `{name}`; {hint}"


def _unknown_type(name: str, market: Market) -> str:
    verdict = Names(market.masks).judge(labels.INSTANCE_TYPE, name)
    if verdict is not None and verdict.other_label:
        return f"unknown instance type `{name}`; it is {add_article(NOUNS[verdict.other_label])}"
    return _unknown("instance type", name, market.catalogue.names)
