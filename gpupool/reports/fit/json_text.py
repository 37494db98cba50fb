"""Which pools take which pods, for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from gpupool.findings import Location
    from gpupool.karpenter.pods import Resources
    from gpupool.reports.fit.text import FitReport, Fitted
    from gpupool.scheduling.pods.verdicts import PodOutcome, PodPlacement, PodVerdict, PricedType

Json: TypeAlias = "str | int | float | bool | dict[str, Json] | list[Json] | None"


def plain(report: FitReport) -> dict[str, Json]:
    """Return the region and what else was counted by, and each workload with its pools."""
    prices = report.offers.prices
    fixed = report.counted.fixed
    return {
        "region": report.offers.region or None,
        "offeringsJudged": report.offers.judged,
        "prices": {"region": prices.region, "currency": prices.currency, "date": prices.date},
        "daemonSets": list(report.counted.names),
        "daemonOverhead": None if fixed is None else _numbers(fixed),
        "workloads": [_workload_plain(each) for each in report.fitted],
        "notes": list(report.notes),
        "passedOver": dict(report.passed_over),
        "skipped": [{"file": each.at.file, "reason": str(each.reason)} for each in report.skipped],
    }


def _workload_plain(each: Fitted) -> Json:
    template = each.template
    missing = [*each.pod.not_judged, *([template.note] if template.note else [])]
    return {
        "name": template.name,
        "object": template.object,
        "role": template.role or None,
        "pods": template.pods,
        "at": _place(template.at),
        "requests": _numbers(each.pod.requests),
        "fits": each.judged.fits,
        "chosen": _chosen(each.judged),
        "pools": [_verdict_plain(each, verdict) for verdict in each.judged.verdicts],
        "notJudged": list(missing),
    }


def _chosen(judged: PodOutcome) -> Json:
    return {"pool": judged.chosen, **_placed_plain(judged.placed)} if judged.placed else None


def _verdict_plain(each: Fitted, verdict: PodVerdict) -> Json:
    made: dict[str, Json] = {"pool": verdict.pool, "fits": verdict.placed is not None}
    if verdict.replicas is not None:
        made["replicas"] = verdict.replicas
    if verdict.is_reserved:
        made["reserved"] = True
    if verdict.placed:
        return {**made, **_placed_plain(verdict.placed)}
    if verdict.refusal:
        at = each.at(verdict)
        made |= {"rule": str(verdict.refusal.rule), "message": verdict.refusal.message}
        made["at"] = _place(at) if at else None
    return made


def _placed_plain(placed: PodPlacement) -> dict[str, Json]:
    return {
        "capacityType": placed.capacity_type or None,
        "first": _machine(placed.first),
        "dearest": _machine(placed.dearest),
        "instanceTypes": list(placed.types),
    }


def _machine(machine: PricedType | None) -> Json:
    return {"instanceType": machine.name, "price": machine.price} if machine else None


def _numbers(resources: Resources) -> dict[str, Json]:
    return {
        name: amount if isinstance(amount, int) else float(amount)
        for name, amount in sorted(resources.items())
    }


def _place(at: Location) -> Json:
    return {"file": at.file, "line": at.line, "column": at.column}
