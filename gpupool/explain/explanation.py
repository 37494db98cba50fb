"""Explanation of a pool's instance types, for each of its NodePools in Karpenter's order."""

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
from gpupool.shapes.error_messages import find_close_match, format_path, locate
from gpupool.yamlio.located import place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpupool.catalogue.model import Catalogue
    from gpupool.pools import LoadedNodePool, LoadedNodePools
    from gpupool.scheduling.exclusion import Exclusion
    from gpupool.scheduling.explained import PoolExplanation
    from gpupool.scheduling.traps.trap import Trap
    from gpupool.scheduling.types.market import Market


_MAX_NAMES = 20


class NodePoolExplanation(NamedTuple):
    """The instance types that one NodePool can launch, and the lint findings about them."""

    explained: PoolExplanation
    node_class: str
    """The name of the node class; empty where the files do not contain it and AL2023 is assumed."""

    notes: tuple[Finding, ...]
    exclusion: Exclusion | None
    """Whether and why the requested type is excluded."""


class Explanation(NamedTuple):
    """The explanations of a pool's NodePools."""

    pool: str
    answers: tuple[NodePoolExplanation, ...]
    catalogue: Catalogue

    @property
    def has_tiers(self) -> bool:
        """Return whether the pool has tiers."""
        return len(self.answers) > 1 or any(
            answer.explained.pool.name != self.pool for answer in self.answers
        )

    @property
    def has_failed(self) -> bool:
        """Return whether a NodePool has no candidates, or a finding that is an error."""
        return any(not answer.explained.candidates or has_errors(answer.notes) for answer in self.answers)


def explain_pool(pools: LoadedNodePools, name: str, type_name: str | None = None) -> Explanation:
    """Return the instance types of a pool's NodePools, and whether they exclude one type.

    Raises:
        UsageError: for an unknown pool or instance type.
    """
    node_pools = find_node_pools(pools, name)
    answers = [_explain_node_pool(pool, type_name) for pool in node_pools]
    answers.sort(key=lambda answer: (answer.explained.pool.weight, answer.explained.pool.name), reverse=True)
    return Explanation(name, tuple(answers), node_pools[0].market.catalogue)


def find_node_pools(pools: LoadedNodePools, name: str) -> list[LoadedNodePool]:
    """Return the NodePools of a pool.

    Raises:
        UsageError: for an unknown pool.
    """
    node_pools = pools.find(name)
    if not node_pools:
        raise UsageError(_unknown("pool", name, pools.names))
    return node_pools


def explain_pools(pools: LoadedNodePools) -> list[Explanation]:
    """Return the instance types of every pool."""
    return [explain_pool(pools, name) for name in dict.fromkeys(pool.pool for pool in pools.items)]


def _explain_node_pool(pool: LoadedNodePool, type_name: str | None) -> NodePoolExplanation:
    explained = explain(pool.data, pool.market)
    exclusion = None if type_name is None else explain_exclusion(explained, type_name)
    if type_name is not None and exclusion is None:
        raise UsageError(_unknown_type(type_name, explained.market))
    notes = tuple(
        _note(pool, trap) for trap in find_traps(pool.data, explained, in_blueprint=pool.in_blueprint)
    )
    return NodePoolExplanation(explained, pool.node_class, notes, exclusion)


def _note(pool: LoadedNodePool, trap: Trap) -> Finding:
    at = place(locate(pool.body, trap.path)[0])
    return Finding(
        trap.code, trap.message, at, trap.fix, trap.severity, format_path(trap.path), f"NodePool/{pool.name}"
    )


def _unknown(kind: str, name: str, available: Sequence[str]) -> str:
    match = find_close_match(name, available)
    names = ", ".join(available) if len(available) <= _MAX_NAMES else f"{len(available)} of them"
    hint = f"did you mean {match}?" if match else f"available: {names}"
    return f"unknown {kind} `{name}`; {hint}"


def _unknown_type(name: str, market: Market) -> str:
    verdict = Names(market.masks).judge(labels.INSTANCE_TYPE, name)
    if verdict is not None and verdict.other_label:
        return f"unknown instance type `{name}`; it is {add_article(NOUNS[verdict.other_label])}"
    return _unknown("instance type", name, market.catalogue.names)
