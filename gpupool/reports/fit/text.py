"""Which pools take which pods, for people."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from gpupool.reports.escaping import one_line
from gpupool.reports.tables import aligned
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


class Fitted(NamedTuple):
    """One pod template, and what becomes of its pods."""

    template: PodTemplate
    pod: Pod
    judged: PodOutcome

    def at(self, verdict: PodVerdict) -> Location | None:
        """Return where the pod asks for what a pool refuses; None where the pod does not say it."""
        return (self.pod.places or {}).get(verdict.refusal.spec_key) if verdict.refusal else None


class Offers(NamedTuple):
    """What offerings and prices were judged by."""

    region: str
    """Empty where none was named."""

    judged: bool
    """False without a region, and for one that the catalogue does not know."""

    prices: Prices


class Counted(NamedTuple):
    """What was counted for DaemonSets."""

    names: tuple[str, ...] = ()
    """The DaemonSets, by kind and name."""

    fixed: Resources | None = None
    """What `cluster.daemonOverhead` says; None where nothing was said."""


@dataclass(frozen=True, slots=True)
class FitReport:
    """All that was judged."""

    fitted: tuple[Fitted, ...]
    """In file order."""

    offers: Offers
    counted: Counted
    notes: tuple[str, ...]
    """What was taken for granted or left out."""

    findings: tuple[Finding, ...]
    passed_over: Mapping[str, int]
    skipped: tuple[SkippedFile, ...] = ()

    @property
    def failed(self) -> bool:
        """Return whether some pod fits no pool."""
        return not all(each.judged.fits for each in self.fitted)


def offers_of(pools: LoadedNodePools) -> Offers:
    """Return what the offers of these pools are judged by; there is at least one pool."""
    market = pools.items[0].market
    return Offers(pools.region or "", market.is_judged, market.price_list)


def taken_for_granted(pools: LoadedNodePools) -> Iterator[str]:
    """Name what is not known of pools and counts as it usually is."""
    without = [each.name for each in pools.items if not each.node_class]
    if without:
        yield f"The node class of {', '.join(without)} is not in the files; AL2023 defaults are assumed."
    reserved = [each.name for each in pools.items if each.market.node_class.has_reservations]
    if reserved:
        yield f"The reservations of {', '.join(reserved)} are not checked: only AWS knows them."
    placed = [each.name for each in pools.items if each.market.node_class.has_placement_group]
    if placed:
        yield f"The placement groups of {', '.join(placed)} are not checked: only AWS knows them."
    if pools.overlays:
        yield f"NodeOverlays are used as if their feature gate were on: {', '.join(pools.overlays)}."
        yield from _overlays_left_out(pools)


def _overlays_left_out(pools: LoadedNodePools) -> Iterator[str]:
    overlaid = [each.market.overlaid for each in pools.items]
    refused = sorted({name for each in overlaid for name in each.ignored})
    if refused:
        yield f"Ignored NodeOverlays that conflict with one of the same weight: {', '.join(refused)}."
    partly = sorted({name for each in overlaid for name in each.partly})
    if partly:
        names = ", ".join(partly)
        yield f"NodeOverlays with a price only for types that cost the same on demand in all zones: {names}."


def text(report: FitReport, width: int | None = None) -> str:
    """Return the report for people: workloads with their pools, and the assumptions."""
    lines = [line for each in report.fitted for line in (*_workload(each, report.offers, width), "")]
    return "\n".join([*lines, *_foot(report)]) + "\n"


def _workload(each: Fitted, offers: Offers, width: int | None) -> Iterator[str]:
    template, judged = each.template, each.judged
    yield one_line(f"{template.name}: {_count(template.pods)} {format_requests(each.pod.requests)}")
    yield one_line(f"  {template.at}")
    rows = [
        (
            f"  {one_line(verdict.pool)}",
            one_line(_refused(each, verdict) if verdict.refusal else _taken(each, verdict, offers)),
        )
        for verdict in judged.verdicts
    ]
    yield from aligned(rows, width=width)  # both columns are important
    yield one_line(f"  => {_outcome(each, offers)}")
    if missing := [*each.pod.not_judged, *([template.note] if template.note else [])]:
        yield one_line(f"  not checked: {'; '.join(missing)}")


def _count(pods: int | None) -> str:
    if pods is None:
        return "a pod on every node, which requests"
    return "1 pod, which requests" if pods == 1 else f"{pods} pods, each of which requests"


def _taken(each: Fitted, verdict: PodVerdict, offers: Offers) -> str:
    placed = verdict.placed
    if placed is None:
        return ""
    if each.template.pods is None:
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


def _range(placed: PodPlacement, offers: Offers) -> str:
    if placed.first is None or placed.dearest is None:
        return ""
    if placed.first.price == placed.dearest.price:
        return f", {_price(placed.first, offers)}"
    return f", {_price(placed.first, offers)}, up to {placed.dearest.name}, {_price(placed.dearest, offers)}"


def _price(machine: PricedType, offers: Offers) -> str:
    if machine.price is None:
        return "price unknown"
    return f"{machine.price:.4f}".rstrip("0").rstrip(".") + f" {offers.prices.currency}/h"


def _refused(each: Fitted, verdict: PodVerdict) -> str:
    if verdict.refusal is None:
        return ""
    at = each.at(verdict)
    return f"no    {verdict.refusal.message}{f' ({at})' if at else ''}"


def _outcome(each: Fitted, offers: Offers) -> str:
    judged = each.judged
    if each.template.pods is None:
        names = [verdict.pool for verdict in judged.verdicts if verdict.placed]
        return f"runs on the nodes of {', '.join(names)}" if names else "runs on no pool's nodes"
    if judged.placed is None:
        return _unlaunched(judged)
    placed = judged.placed
    launched = f"Karpenter launches a node of {judged.chosen}"
    if placed.first is None:
        return launched
    how = "spot; on-demand price" if placed.capacity_type == "spot" else f"{placed.capacity_type},"
    return f"{launched}: {placed.first.name}, {how} {_price(placed.first, offers)}"


def _unlaunched(judged: PodOutcome) -> str:
    """Return what becomes of a pod that no node is launched for."""
    taking = [verdict for verdict in judged.verdicts if verdict.placed]
    names = ", ".join(verdict.pool for verdict in taking)
    if not taking:
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
    yield _counted(report.counted)
    yield from map(one_line, report.notes)
    if report.passed_over:
        counted = ", ".join(f"{one_line(kind)} ({count})" for kind, count in report.passed_over.items())
        yield f"Skipped objects without pods: {counted}."
    if report.skipped:
        reasons = Counter(str(each.reason) for each in report.skipped)
        counted = ", ".join(f"{reason} ({count})" for reason, count in sorted(reasons.items()))
        yield f"Skipped files: {counted}."
    fits = sum(each.judged.fits for each in report.fitted)
    yield f"{fits} of {len(report.fitted)} workload{'s' * (len(report.fitted) != 1)} fit{'s' * (fits == 1)}."


def _counted(counted: Counted) -> str:
    if counted.names:
        return one_line(f"DaemonSets counted on each node where they run: {', '.join(counted.names)}.")
    if counted.fixed is not None:
        return one_line(
            f"Counted for DaemonSets on each node (cluster.daemonOverhead): {format_requests(counted.fixed)}."
        )
    return "No DaemonSets are counted; set --daemonsets or cluster.daemonOverhead."
