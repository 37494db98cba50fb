"""Scheduling verdicts on a pod: for each pool, and for all pools together."""

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
    """On-demand price per hour; None if the price list has none."""


class PodPlacement(NamedTuple):
    """The instance types that a pool launches for a pod."""

    types: tuple[str, ...]
    """All types that fit the pod, the cheapest first."""

    first: PricedType | None
    """The first choice in the request to EC2; None if offerings are not judged."""

    dearest: PricedType | None
    """The most expensive type that EC2 may launch instead."""

    capacity_type: str
    """The requested capacity type; empty if offerings are not judged."""


class PodVerdict(NamedTuple):
    """The verdict of one pool on a pod."""

    pool: str
    replicas: int | None
    """The fixed number of nodes of a static pool."""

    is_reserved: bool
    """Whether it launches only from reservations, whose existence and types only AWS knows."""

    types: int
    """The number of types that the pool may launch at all."""

    placed: PodPlacement | None
    refusal: Refusal | None
    """Why the pool rejects the pod; None if it accepts it."""


class PodOutcome(NamedTuple):
    """The verdicts of all pools on a pod, and the pool that Karpenter chooses."""

    verdicts: tuple[PodVerdict, ...]
    """In the order in which Karpenter tries the pools, static ones last."""

    chosen: str
    """The pool that Karpenter launches a node of; empty if no pool fits."""

    placed: PodPlacement | None
    """The launched types. A pod whose preferences other pools reject may get more types on its own."""

    is_daemon: bool = False
    """Whether the pod is a DaemonSet's, for which no node is launched."""

    @property
    def fits(self) -> bool:
        """Return whether the pod can run: on a launched node or on an existing one."""
        accepting = (verdict for verdict in self.verdicts if verdict.placed)
        has_node = (
            self.is_daemon or verdict.is_reserved or verdict.replicas is not None for verdict in accepting
        )
        return self.placed is not None or any(has_node)


def judge_pod(pod: Pod, sites: Sequence[PoolSite]) -> PodOutcome:
    """Return the verdict of each pool on a pod, and Karpenter's choice, regardless of reservations."""
    fit = choose_fit(pod, sites)
    ordered = sorted(sites, key=lambda site: (site.pool.replicas is None, site.pool.weight, site.pool.name))
    return PodOutcome(
        verdicts=tuple(_build_verdict(pod, site) for site in reversed(ordered)),
        chosen=fit.pool.name if fit else "",
        placed=None if fit is None or _find_launch_failure(fit) else _build_placement(fit),
    )


def judge_daemon(pod: Pod, sites: Sequence[PoolSite]) -> PodOutcome:
    """Return the verdict of each pool on a DaemonSet's pod, for which no node is launched."""
    settled = replace(pod, preferred=(), tolerations=(*pod.tolerations, PREFER_NO_SCHEDULE))
    return judge_pod(settled, sites)._replace(chosen="", placed=None, is_daemon=True)


def _build_verdict(pod: Pod, site: PoolSite) -> PodVerdict:
    fit, pool = find_fit(pod, site), site.pool
    reason = _find_launch_failure(fit) if fit else find_refusal(pod, site)
    placed = _build_placement(fit) if fit and not reason else None
    return PodVerdict(
        pool.name, pool.replicas, pool.assumes_reservations, pool.types.bit_count(), placed, reason
    )


def _find_launch_failure(fit: PoolFit) -> Refusal | None:
    """Find why the launch fails after the scheduler has chosen a pool, which it repeats endlessly."""
    if not fit.pool.market.is_judged or fit.pool.assumes_reservations or fit.launch.types:
        return None
    if any(requirement.min_values is not None for requirement in fit.requirements.values()):
        subject = f"the {MOST_IN_FLEET} cheapest types, which Karpenter requests from EC2,"
        message = (
            f"the pod fits, but the launch fails: {subject} have too few values for the pool's minValues"
        )
        return Refusal(RefusalRule.MIN_VALUES, message)
    message = (
        "the pod fits, but the launch fails: no type meets the NodeClaim, whose requirements conflict with"
    )
    return Refusal(RefusalRule.OFFERING, f"{message} each other")


def _build_placement(fit: PoolFit) -> PodPlacement:
    market, priced = fit.pool.market, sort_by_price(fit.pool.market, fit.types)
    unpriced = [position for position in positions(fit.types) if market.price(position) is None]
    is_known = market.is_judged and not fit.pool.assumes_reservations
    planned = plan_launch(market, fit.requirements, fit.types) if is_known else None
    priced_types = [_price_type(fit.pool, position) for position in planned.types] if planned else []
    names = tuple(market.catalogue.names[position] for position in [*priced, *unpriced])
    first, dearest = (priced_types[0], priced_types[-1]) if priced_types else (None, None)
    return PodPlacement(names, first, dearest, planned.capacity_type if planned else "")


def _price_type(pool: ScheduledPool, position: int) -> PricedType:
    return PricedType(pool.market.catalogue.names[position], pool.market.price(position))
