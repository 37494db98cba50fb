"""Report of `gpupool fit` as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpupool.findings import Location
    from gpupool.karpenter.pods import Resources
    from gpupool.reports.fit.text import FitReport, FittedWorkload
    from gpupool.scheduling.pods.verdicts import PodOutcome, PodPlacement, PodVerdict, PricedType
    from gpupool.yamlio.located import Plain


def to_json(report: FitReport) -> dict[str, Plain]:
    """Return the report as values of JSON: prices, DaemonSets, and each workload with its pools."""
    prices = report.offers.prices
    overhead = report.daemon_sets.overhead
    return {
        "region": report.offers.region or None,
        "offeringsJudged": report.offers.judged,
        "prices": {"region": prices.region, "currency": prices.currency, "date": prices.date},
        "daemonSets": list(report.daemon_sets.names),
        "daemonOverhead": None if overhead is None else _numbers(overhead),
        "workloads": [_workload(workload) for workload in report.workloads],
        "notes": list(report.notes),
        "passedOver": dict(report.skipped_kinds),
        "skipped": [{"file": skipped.at.file, "reason": str(skipped.reason)} for skipped in report.skipped],
    }


def _workload(workload: FittedWorkload) -> Plain:
    template = workload.template
    missing = [*workload.pod.not_judged, *([template.note] if template.note else [])]
    return {
        "name": template.name,
        "object": template.object,
        "role": template.role or None,
        "pods": template.pods,
        "at": _place(template.at),
        "requests": _numbers(workload.pod.requests),
        "fits": workload.judged.fits,
        "chosen": _chosen(workload.judged),
        "pools": [_verdict(workload, verdict) for verdict in workload.judged.verdicts],
        "notJudged": list(missing),
    }


def _chosen(judged: PodOutcome) -> Plain:
    return {"pool": judged.chosen, **_placed(judged.placed)} if judged.placed else None


def _verdict(workload: FittedWorkload, verdict: PodVerdict) -> Plain:
    values: dict[str, Plain] = {"pool": verdict.pool, "fits": verdict.placed is not None}
    if verdict.replicas is not None:
        values["replicas"] = verdict.replicas
    if verdict.is_reserved:
        values["reserved"] = True
    if verdict.placed:
        return {**values, **_placed(verdict.placed)}
    if verdict.refusal:
        at = workload.at(verdict)
        values |= {"rule": str(verdict.refusal.rule), "message": verdict.refusal.message}
        values["at"] = _place(at) if at else None
    return values


def _placed(placed: PodPlacement) -> dict[str, Plain]:
    return {
        "capacityType": placed.capacity_type or None,
        "first": _priced_type(placed.first),
        "dearest": _priced_type(placed.dearest),
        "instanceTypes": list(placed.types),
    }


def _priced_type(priced: PricedType | None) -> Plain:
    return {"instanceType": priced.name, "price": priced.price} if priced else None


def _numbers(resources: Resources) -> dict[str, Plain]:
    return {
        name: amount if isinstance(amount, int) else float(amount)
        for name, amount in sorted(resources.items())
    }


def _place(at: Location) -> Plain:
    return {"file": at.file, "line": at.line, "column": at.column}
