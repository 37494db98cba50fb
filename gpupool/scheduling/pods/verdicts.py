"""What becomes of a pod in each of several pools, and in all of them together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from gpupool.karpenter.pods import PREFER_NO_SCHEDULE
from gpupool.scheduling.launch import MOST_IN_FLEET, plan_launch, sort_by_price
from gpupool.scheduling.pods.fit import PoolFit, PoolSite, choose_fit, find_fit
from gpupool.scheduling.pods.refusals import Refusal, RefusalRule, find_refusal
from gpupool.scheduling.types.typemasks import positions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpupool.karpenter.pods import Pod
    from gpupool.scheduling.nodepool import ScheduledPool


class PricedType(NamedTuple):
    """An instance type with its price."""

    name: str
    price: float | None
    """By the hour, on demand; None where the price list has none."""


class PodPlacement(NamedTuple):
    """What a pool launches for a pod."""

    types: tuple[str, ...]
    """All types that take the pod, the cheapest first."""

    first: PricedType | None
    """What EC2 is asked for before all others; None where offerings are not judged."""

    dearest: PricedType | None
    """The dearest that EC2 may give instead."""

    capacity_type: str
    """The one that is tried; empty where offerings are not judged."""


class PodVerdict(NamedTuple):
    """Whether one pool takes a pod."""

    pool: str
    replicas: int | None
    """The fixed number of nodes of a static pool."""

    reserved: bool
    """It launches only what is reserved, and whether and for which types that is there, AWS alone knows."""

    types: int
    """How many types the pool may launch at all."""

    placed: PodPlacement | None
    refusal: Refusal | None
    """Why it does not; None where it does."""


class PodOutcome(NamedTuple):
    """What becomes of a pod."""

    verdicts: tuple[PodVerdict, ...]
    """In the order in which Karpenter asks the pools, static ones last."""

    chosen: str
    """The pool that Karpenter launches a node of; empty where none takes the pod."""

    placed: PodPlacement | None
    """What is launched there. A pod that other pools refuse as it wishes may get more types by itself."""

    is_daemon: bool = False
    """It is a DaemonSet's, for which no node is launched."""

    @property
    def fits(self) -> bool:
        """Return whether the pod gets somewhere: on a node that is launched, or on one that is there anyway."""
        there = (each for each in self.verdicts if each.placed)
        waits = (self.is_daemon or each.reserved or each.replicas is not None for each in there)
        return self.placed is not None or any(waits)


def judge_pod(pod: Pod, sites: Sequence[PoolSite]) -> PodOutcome:
    """Say of each pool whether it takes a pod, and which one Karpenter would take, reservations aside."""
    found = choose_fit(pod, sites)
    ordered = sorted(sites, key=lambda site: (site.pool.replicas is None, site.pool.weight, site.pool.name))
    return PodOutcome(
        verdicts=tuple(_verdict(pod, site) for site in reversed(ordered)),
        chosen=found.pool.name if found else "",
        placed=None if found is None or _failure(found) else _placed(found),
    )


def judge_daemon(pod: Pod, sites: Sequence[PoolSite]) -> PodOutcome:
    """Say of each pool on how many of its types the pod of a DaemonSet runs; none is launched for it."""
    settled = replace(pod, preferred=(), tolerations=(*pod.tolerations, PREFER_NO_SCHEDULE))
    return judge_pod(settled, sites)._replace(chosen="", placed=None, is_daemon=True)


def _verdict(pod: Pod, site: PoolSite) -> PodVerdict:
    found, pool = find_fit(pod, site), site.pool
    why = _failure(found) if found else find_refusal(pod, site)
    placed = _placed(found) if found and not why else None
    return PodVerdict(pool.name, pool.replicas, pool.is_supposed, pool.types.bit_count(), placed, why)


def _failure(found: PoolFit) -> Refusal | None:
    """Return why nothing is launched where the scheduler has decided for a pool; it does so again and again."""
    if not found.pool.market.judged or found.pool.is_supposed or found.launch.types:
        return None
    if any(each.min_values is not None for each in found.wanted.values()):
        asked = f"the {MOST_IN_FLEET} cheapest types, which Karpenter requests from EC2,"
        message = f"the pod fits, but the launch fails: {asked} have too few values for the pool's minValues"
        return Refusal(RefusalRule.MIN_VALUES, message)
    message = (
        "the pod fits, but the launch fails: no type meets the NodeClaim, whose requirements conflict with"
    )
    return Refusal(RefusalRule.OFFERING, f"{message} each other")


def _placed(found: PoolFit) -> PodPlacement:
    market, priced = found.pool.market, sort_by_price(found.pool.market, found.types)
    without = [place for place in positions(found.types) if market.price(place) is None]
    is_known = market.judged and not found.pool.is_supposed
    asked = plan_launch(market, found.wanted, found.types) if is_known else None
    machines = [_machine(found.pool, place) for place in asked.types] if asked else []
    names = tuple(market.catalogue.names[place] for place in [*priced, *without])
    first, dearest = (machines[0], machines[-1]) if machines else (None, None)
    return PodPlacement(names, first, dearest, asked.capacity_type if asked else "")


def _machine(pool: ScheduledPool, place: int) -> PricedType:
    return PricedType(pool.market.catalogue.names[place], pool.market.price(place))
