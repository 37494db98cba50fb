"""A NodePool as Karpenter's scheduler sees it: requirements, taints, limits and instance types."""

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
    """The fixed number of nodes of a static pool, which launches no nodes for pods."""

    taints: tuple[NodeTaint, ...]
    """Permanent taints; startup taints are removed and keep no pod off."""

    limits: Resources
    requirements: Requirements
    """All requirements on its nodes."""

    market: Market
    types: Mask
    """The types that it may launch, before any pod is considered."""

    assumes_reservations: bool = False
    """Whether `types` assumes that reservations exist for all of them."""

    @property
    def is_reserved(self) -> bool:
        """Return whether it launches only from reservations, whose types only AWS knows."""
        capacity_type = self.requirements.get(CAPACITY_TYPE)
        is_reserved_only = (
            capacity_type is not None
            and capacity_type.has("reserved")
            and not find_capacity_types(self.requirements)
        )
        return is_reserved_only and self.market.node_class.has_reservations

    def assume_reservations(self) -> ScheduledPool:
        """Return the pool as if reservations existed for all types that match its requirements."""
        offered = match_types(self.market, _drop_reservations(self.requirements)).offered
        return self._replace(types=drop_types_without_room(self.market, offered), assumes_reservations=True)

    def get_offering_requirements(self, requirements: Requirements) -> Requirements:
        """Return requirements without those on reservations, if reservations are assumed to exist."""
        return _drop_reservations(requirements) if self.assumes_reservations else requirements

    @property
    def in_limits(self) -> Mask:
        """Return the types of which a single node is within the limits."""
        return find_types_in_limits(self.market, self.types, self.limits)


def read_pool(body: Mapping[str, Plain], market: Market) -> ScheduledPool:
    """Read a NodePool that Karpenter would accept; invalid fields count as not set."""
    spec = plain_map(body.get("spec"))
    template = plain_map(plain_map(spec.get("template")).get("spec"))
    requirements = read_template_requirements(body)
    weight, replicas = spec.get("weight"), spec.get("replicas")
    return ScheduledPool(
        name=plain_text(plain_map(body.get("metadata")).get("name")),
        weight=weight if isinstance(weight, int) else 0,
        replicas=replicas if isinstance(replicas, int) else None,
        taints=tuple(_read_taints(template.get("taints"))),
        limits=read_limits(body),
        requirements=requirements,
        market=market,
        types=match_types(market, requirements).launchable,
    )


def sort_by_priority(pools: Iterable[ScheduledPool]) -> list[ScheduledPool]:
    """Return pools in the order in which Karpenter tries them for a new node, without static ones."""
    dynamic = [pool for pool in pools if pool.replicas is None]
    return sorted(dynamic, key=lambda pool: (pool.weight, pool.name), reverse=True)


def _drop_reservations(requirements: Requirements) -> Requirements:
    return {
        key: entry for key, entry in requirements.items() if key not in (CAPACITY_TYPE, *RESERVATION_LABELS)
    }


def _read_taints(entries: Plain) -> Iterable[NodeTaint]:
    for entry in map(plain_map, entries if isinstance(entries, list) else ()):
        yield NodeTaint(
            plain_text(entry.get("key")), plain_text(entry.get("value")), plain_text(entry.get("effect"))
        )
