"""Report of `gpupool fit` as text."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from gpupool.reports.escaping import one_line
from gpupool.reports.tables import align_rows
from gpupool.scheduling.pods.descriptions import format_requests

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpupool.catalogue.model import Prices
    from gpupool.findings import Finding, Location
    from gpupool.karpenter.pods import Pod, Resources
    from gpupool.manifests.sources import SkippedFile
    from gpupool.manifests.workloads import PodTemplate
    from gpupool.pools import LoadedNodePools
    from gpupool.scheduling.pods.verdicts import PodOutcome, PodPlacement, PodVerdict, PricedType


class FittedWorkload(NamedTuple):
    """A pod template, its pod, and the pools that fit the pod."""

    template: PodTemplate
    pod: Pod
    judged: PodOutcome

    def at(self, verdict: PodVerdict) -> Location | None:
        """Return the place of the field that a pool rejects; None where the pod does not set it."""
        return (self.pod.places or {}).get(verdict.refusal.spec_key) if verdict.refusal else None


class OfferingSource(NamedTuple):
    """Region and price list by which offerings and prices were judged."""

    region: str
    """Empty where none is set."""

    judged: bool
    """False without a region, and for one that the catalogue does not have."""

    prices: Prices


class CountedDaemonSets(NamedTuple):
    """Resources that were counted for DaemonSets."""

    names: tuple[str, ...] = ()
    """The DaemonSets, by kind and name."""

    overhead: Resources | None = None
    """The value of `cluster.daemonOverhead`; None where it is not set."""


@dataclass(frozen=True, slots=True)
class FitReport:
    """Workloads with the pools that fit their pods, and the assumptions."""

    workloads: tuple[FittedWorkload, ...]
    """In file order."""

    offers: OfferingSource
    daemon_sets: CountedDaemonSets
    notes: tuple[str, ...]
    """Assumptions, and parts of the pools that are not checked."""

    findings: tuple[Finding, ...]
    skipped_kinds: Mapping[str, int]
    """Kinds of skipped objects with their counts."""

    skipped: tuple[SkippedFile, ...] = ()

    @property
    def has_failed(self) -> bool:
        """Return whether some pod fits no pool."""
        return not all(workload.judged.fits for workload in self.workloads)


def find_offering_source(pools: LoadedNodePools) -> OfferingSource:
    """Return the region and price list of these pools, of which there is at least one."""
    market = pools.items[0].market
    return OfferingSource(pools.region or "", market.is_judged, market.price_list)


def list_assumptions(pools: LoadedNodePools) -> Iterator[str]:
    """Yield a sentence for each assumption about the pools and each part that is not checked."""
    classless = [pool.name for pool in pools.items if not pool.node_class]
    if classless:
        yield f"The node class of {', '.join(classless)} is not in the files; AL2023 defaults are assumed."
    reserved = [pool.name for pool in pools.items if pool.market.node_class.has_reservations]
    if reserved:
        yield f"The reservations of {', '.join(reserved)} are not checked: only AWS knows them."
    grouped = [pool.name for pool in pools.items if pool.market.node_class.has_placement_group]
    if grouped:
        yield f"The placement groups of {', '.join(grouped)} are not checked: only AWS knows them."
    if pools.overlays:
        yield f"NodeOverlays are used as if their feature gate were on: {', '.join(pools.overlays)}."
        yield from _overlays_left_out(pools)


def _overlays_left_out(pools: LoadedNodePools) -> Iterator[str]:
    overlaid = [pool.market.overlaid for pool in pools.items]
    conflicting = sorted({name for prices in overlaid for name in prices.ignored})
    if conflicting:
        yield f"Ignored NodeOverlays that conflict with one of the same weight: {', '.join(conflicting)}."
    partly = sorted({name for prices in overlaid for name in prices.partly})
    if partly:
        names = ", ".join(partly)
        yield f"NodeOverlays with a price only for types that cost the same on demand in all zones: {names}."


def render_text(report: FitReport, width: int | None = None) -> str:
    """Return the report as text: workloads with their pools, and the assumptions."""
    lines = [line for fitted in report.workloads for line in (*_workload(fitted, report.offers, width), "")]
    return "\n".join([*lines, *_foot(report)]) + "\n"


def _workload(fitted: FittedWorkload, offers: OfferingSource, width: int | None) -> Iterator[str]:
    template, judged = fitted.template, fitted.judged
    yield one_line(f"{template.name}: {_count(template.pods)} {format_requests(fitted.pod.requests)}")
    yield one_line(f"  {template.at}")
    rows = [
        (
            f"  {one_line(verdict.pool)}",
            one_line(_rejection(fitted, verdict) if verdict.refusal else _placement(fitted, verdict, offers)),
        )
        for verdict in judged.verdicts
    ]
    yield from align_rows(rows, width=width)  # both columns are important
    yield one_line(f"  => {_outcome(fitted, offers)}")
    if missing := [*fitted.pod.not_judged, *([template.note] if template.note else [])]:
        yield one_line(f"  not checked: {'; '.join(missing)}")


def _count(pods: int | None) -> str:
    if pods is None:
        return "a pod on every node, which requests"
    return "1 pod, which requests" if pods == 1 else f"{pods} pods, each of which requests"


def _placement(fitted: FittedWorkload, verdict: PodVerdict, offers: OfferingSource) -> str:
    placed = verdict.placed
    if placed is None:
        return ""
    if fitted.template.pods is None:
        return f"fits  on {len(placed.types)} of its {verdict.types} instance types"
    if verdict.replicas is not None:
        return f"fits  its fixed nodes ({verdict.replicas}); none is launched for a pod"
    if verdict.is_reserved:
        types = placed.types[0] if len(placed.types) == 1 else f"{len(placed.types)} types"
        return f"fits  {types}, if a reservation has room"
    return f"fits  {_types(placed)}{_range(placed, offers)}"


def _types(placed: PodPlacement) -> str:
    first = placed.first.name if placed.first else placed.types[0]
    return first if len(placed.types) == 1 else f"{len(placed.types)} types, {first} first"


def _range(placed: PodPlacement, offers: OfferingSource) -> str:
    if placed.first is None or placed.dearest is None:
        return ""
    if placed.first.price == placed.dearest.price:
        return f", {_price(placed.first, offers)}"
    return f", {_price(placed.first, offers)}, up to {placed.dearest.name}, {_price(placed.dearest, offers)}"


def _price(priced: PricedType, offers: OfferingSource) -> str:
    if priced.price is None:
        return "price unknown"
    return f"{priced.price:.4f}".rstrip("0").rstrip(".") + f" {offers.prices.currency}/h"


def _rejection(fitted: FittedWorkload, verdict: PodVerdict) -> str:
    if verdict.refusal is None:
        return ""
    at = fitted.at(verdict)
    return f"no    {verdict.refusal.message}{f' ({at})' if at else ''}"


def _outcome(fitted: FittedWorkload, offers: OfferingSource) -> str:
    judged = fitted.judged
    if fitted.template.pods is None:
        names = [verdict.pool for verdict in judged.verdicts if verdict.placed]
        return f"runs on the nodes of {', '.join(names)}" if names else "runs on no pool's nodes"
    if judged.placed is None:
        return _unlaunched(judged)
    placed = judged.placed
    launched = f"Karpenter launches a node of {judged.chosen}"
    if placed.first is None:
        return launched
    price_kind = "spot; on-demand price" if placed.capacity_type == "spot" else f"{placed.capacity_type},"
    return f"{launched}: {placed.first.name}, {price_kind} {_price(placed.first, offers)}"


def _unlaunched(judged: PodOutcome) -> str:
    """Return the outcome for a pod for which no node is launched."""
    fitting = [verdict for verdict in judged.verdicts if verdict.placed]
    names = ", ".join(verdict.pool for verdict in fitting)
    if not fitting:
        return "fits no pool; the pod stays Pending"
    if judged.fits:
        return f"waits for room in {names}"
    return f"stays Pending: it fits {names}, but Karpenter selects another pool, where the launch fails"


def _foot(report: FitReport) -> Iterator[str]:
    prices = report.offers.prices
    if report.offers.judged:
        offerings = f"Offerings of {report.offers.region}"
        yield f"{offerings}; on-demand prices of {prices.region}, {prices.date}; no spot prices."
    elif report.offers.region:
        region = report.offers.region
        yield f"Region {region} is not in the catalogue: zones, offerings and prices are not checked."
    else:
        yield "No region is set (cluster.region or --region): zones, offerings and prices are not checked."
    yield _daemon_sets(report.daemon_sets)
    yield from map(one_line, report.notes)
    if report.skipped_kinds:
        kinds = ", ".join(f"{one_line(kind)} ({count})" for kind, count in report.skipped_kinds.items())
        yield f"Skipped objects without pods: {kinds}."
    if report.skipped:
        reasons = Counter(str(skipped.reason) for skipped in report.skipped)
        counts = ", ".join(f"{reason} ({count})" for reason, count in sorted(reasons.items()))
        yield f"Skipped files: {counts}."
    fits = sum(fitted.judged.fits for fitted in report.workloads)
    total = len(report.workloads)
    yield f"{fits} of {total} workload{'s' * (total != 1)} fit{'s' * (fits == 1)}."


def _daemon_sets(daemon_sets: CountedDaemonSets) -> str:
    if daemon_sets.names:
        return one_line(f"DaemonSets counted on each node where they run: {', '.join(daemon_sets.names)}.")
    if daemon_sets.overhead is not None:
        overhead = format_requests(daemon_sets.overhead)
        return one_line(f"Counted for DaemonSets on each node (cluster.daemonOverhead): {overhead}.")
    return "No DaemonSets are counted; set --daemonsets or cluster.daemonOverhead."
