"""A NodePool as the scheduler sees it: what its nodes are, what keeps pods away, what it may launch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpupool.karpenter.labels import CAPACITY_TYPE
from gpupool.karpenter.pods import NodeTaint
from gpupool.scheduling.limits import find_types_in_limits, read_limits
from gpupool.scheduling.matching import (
    drop_types_without_room,
    find_capacity_types,
    match_types,
    read_template_requirements,
)
from gpupool.scheduling.types.market import RESERVATION_LABELS
from gpupool.yamlio.located import plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gpupool.karpenter.pods import Resources
    from gpupool.karpenter.requirements import Requirements
    from gpupool.scheduling.types.market import Market
    from gpupool.scheduling.types.typemasks import Mask
    from gpupool.yamlio.located import Plain


class ScheduledPool(NamedTuple):
    """One NodePool and the types that it may launch."""

    name: str
    weight: int
    replicas: int | None
    """The fixed number of nodes of a static pool, for which no pod makes Karpenter launch one."""

    taints: tuple[NodeTaint, ...]
    """Those that nodes keep: startup taints go, and keep no pod away."""

    limits: Resources
    wanted: Requirements
    """All that its nodes have to be."""

    market: Market
    types: Mask
    """What it may launch before any pod is looked at."""

    is_supposed: bool = False
    """The types are what it may launch if it has reservations for them all."""

    @property
    def is_reserved(self) -> bool:
        """Return whether it launches nothing but what is reserved; for which types that is only AWS knows."""
        said = self.wanted.get(CAPACITY_TYPE)
        reserved = said is not None and said.has("reserved") and not find_capacity_types(self.wanted)
        return reserved and self.market.node_class.reservations

    def supposed(self) -> ScheduledPool:
        """Return the pool as it is if it has reservations for all types that its requirements take."""
        offered = match_types(self.market, _unreserved(self.wanted)).offered
        return self._replace(types=drop_types_without_room(self.market, offered), is_supposed=True)

    def offers_for(self, wanted: Requirements) -> Requirements:
        """Leave out what is said of reservations where these are supposed to be there."""
        return _unreserved(wanted) if self.is_supposed else wanted

    @property
    def in_limits(self) -> Mask:
        """Return the types of which one node is within the limits."""
        return find_types_in_limits(self.market, self.types, self.limits)


def read_pool(body: Mapping[str, Plain], market: Market) -> ScheduledPool:
    """Read a NodePool that Karpenter would take; what is written wrongly counts as not said."""
    spec = plain_map(body.get("spec"))
    template = plain_map(plain_map(spec.get("template")).get("spec"))
    wanted = read_template_requirements(body)
    weight, replicas = spec.get("weight"), spec.get("replicas")
    return ScheduledPool(
        name=plain_text(plain_map(body.get("metadata")).get("name")),
        weight=weight if isinstance(weight, int) else 0,
        replicas=replicas if isinstance(replicas, int) else None,
        taints=tuple(_taints(template.get("taints"))),
        limits=read_limits(body),
        wanted=wanted,
        market=market,
        types=match_types(market, wanted).launchable,
    )


def sort_by_priority(pools: Iterable[ScheduledPool]) -> list[ScheduledPool]:
    """Return pools in the order in which Karpenter asks them for a new node; static ones it does not ask."""
    asked = [pool for pool in pools if pool.replicas is None]
    return sorted(asked, key=lambda pool: (pool.weight, pool.name), reverse=True)


def _unreserved(wanted: Requirements) -> Requirements:
    return {key: each for key, each in wanted.items() if key not in (CAPACITY_TYPE, *RESERVATION_LABELS)}


def _taints(entries: Plain) -> Iterable[NodeTaint]:
    for entry in map(plain_map, entries if isinstance(entries, list) else ()):
        yield NodeTaint(
            plain_text(entry.get("key")), plain_text(entry.get("value")), plain_text(entry.get("effect"))
        )
