"""A NodePool as the scheduler sees it: what its nodes are, what keeps pods away, and what it may still launch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpupool.karpenter.pods import Taint
from gpupool.karpenter.quantities import Amount, amount
from gpupool.scheduling.matching import match, template_requirements
from gpupool.scheduling.typemasks import Mask, positions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gpupool.karpenter.pods import Resources
    from gpupool.karpenter.requirements import Requirements
    from gpupool.scheduling.market import Market
    from gpupool.yamlio.nodes import Plain

_NODES = "nodes"


class Pool(NamedTuple):
    """One NodePool and the types that it may launch."""

    name: str
    weight: int
    replicas: int | None
    """The fixed number of nodes of a static pool, for which no pod makes Karpenter launch one."""

    taints: tuple[Taint, ...]
    """Those that nodes keep: startup taints go, and keep no pod away."""

    limits: Resources
    wanted: Requirements
    """All that its nodes have to be."""

    market: Market
    types: Mask
    """What it may launch before any pod is looked at."""

    @property
    def in_limits(self) -> Mask:
        """Give the types of which one node is within the limits."""
        if self.limits.get(_NODES) == 0:
            return 0
        over = (place for place in positions(self.types) if self.over(place))
        return self.types & ~sum(1 << place for place in over)

    def over(self, position: int) -> list[str]:
        """Give the limits that one node of a type breaks."""
        has = self.market.capacity(position)
        return [name for name, most in self.limits.items() if has.get(name, 0) > most]


def read_pool(body: Mapping[str, Plain], market: Market) -> Pool:
    """Read a NodePool that Karpenter would take; what is written wrongly counts as not said."""
    spec = _map(body.get("spec"))
    template = _map(_map(spec.get("template")).get("spec"))
    wanted = template_requirements(body)
    weight, replicas = spec.get("weight"), spec.get("replicas")
    return Pool(
        name=_text(_map(body.get("metadata")).get("name")),
        weight=weight if isinstance(weight, int) else 0,
        replicas=replicas if isinstance(replicas, int) else None,
        taints=tuple(_taints(template.get("taints"))),
        limits=dict(_amounts(_map(spec.get("limits")))),
        wanted=wanted,
        market=market,
        types=match(market, wanted).launchable,
    )


def in_order(pools: Iterable[Pool]) -> list[Pool]:
    """Give pools in the order in which Karpenter asks them for a new node; static ones it does not ask."""
    asked = [pool for pool in pools if pool.replicas is None]
    return sorted(asked, key=lambda pool: (pool.weight, pool.name), reverse=True)


def _taints(entries: Plain) -> Iterable[Taint]:
    for entry in map(_map, entries if isinstance(entries, list) else ()):
        yield Taint(_text(entry.get("key")), _text(entry.get("value")), _text(entry.get("effect")))


def _amounts(limits: Mapping[str, Plain]) -> Iterable[tuple[str, Amount]]:
    for name, value in limits.items():
        if isinstance(value, int):
            yield name, value
        elif isinstance(value, str):
            yield name, amount(value)


def _text(value: Plain) -> str:
    return value if isinstance(value, str) else ""


def _map(value: Plain) -> Mapping[str, Plain]:
    return value if isinstance(value, dict) else {}
