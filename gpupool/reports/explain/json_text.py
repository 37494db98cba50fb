"""Report of `gpupool explain POOL` as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpupool.reports.validate.json_text import finding_to_json
from gpupool.scheduling.cost import HOURS_IN_MONTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gpupool.explain.explanation import Explanation, NodePoolExplanation
    from gpupool.karpenter.quantities import Amount
    from gpupool.karpenter.requirements import Requirement
    from gpupool.scheduling.exclusion import Exclusion
    from gpupool.scheduling.explained import Candidate, PoolExplanation
    from gpupool.yamlio.located import Plain


def to_json(explanation: Explanation) -> dict[str, Plain]:
    """Return one object for the pool; of a pool with tiers one for each tier, in Karpenter's order."""
    catalogue: Plain = {"date": explanation.catalogue.date, "karpenter": explanation.catalogue.karpenter}
    if explanation.has_tiers:
        tiers: Plain = [_answer(answer) for answer in explanation.answers]
        return {"pool": explanation.pool, "tiers": tiers, "catalogue": catalogue}
    return {**_answer(explanation.answers[0]), "catalogue": catalogue}


def _answer(answer: NodePoolExplanation) -> dict[str, Plain]:
    explained = answer.explained
    values: dict[str, Plain] = {
        "pool": explained.pool.name,
        "weight": explained.pool.weight,
        "nodeClass": answer.node_class or None,
        "amiFamily": explained.market.node_class.family.name,
        "region": explained.market.region,
        "offeringsJudged": explained.market.is_judged,
        "candidates": [_candidate(candidate) for candidate in explained.candidates],
        "limits": _limits(explained),
        "cost": _cost(explained),
        "onePod": _one_pod(explained),
        "notes": [dict(finding_to_json(note)) for note in answer.notes],
    }
    return values if answer.exclusion is None else {**values, "why": _exclusion(answer.exclusion)}


def _candidate(candidate: Candidate) -> Plain:
    kind = candidate.kind
    accelerators: Plain = [
        {"name": name, "count": count, "memoryMiB": memory} for count, name, memory in kind.accelerators
    ]
    return {
        "instanceType": kind.name,
        "offered": candidate.is_offered,
        "price": candidate.price,
        "prices": {
            name: candidate.price if name == "on-demand" else None for name in candidate.capacity_types
        },
        "launchable": candidate.is_launchable,
        "reason": candidate.reason,
        "capacityTypes": _list(candidate.capacity_types),
        "zones": _list(candidate.zones),
        "accelerators": accelerators,
        "arch": kind.arch,
        "vcpus": kind.vcpus,
        "memoryMiB": kind.memory,
        "localNvmeGB": kind.local_nvme,
        "efa": kind.efa or 0,
        "retired": kind.retired,
        "allocatable": _amounts(candidate.allocatable),
        "nodes": candidate.admitted.nodes,
        "nodesRegistered": candidate.admitted.registered,
        "limitedBy": candidate.admitted.by or None,
    }


def _limits(explained: PoolExplanation) -> Plain:
    launchable = [candidate for candidate in explained.candidates if candidate.is_launchable is not False]
    return {
        "said": _amounts(explained.pool.limits),
        "reached": {
            name: {
                "most": reach.amount,
                "exact": reach.is_exact,
                "binds": reach.amount >= explained.pool.limits[name],
            }
            for name, reach in explained.usable_limits.items()
        },
        "nodes": {candidate.kind.name: candidate.admitted.nodes for candidate in launchable},
        "never": [candidate.kind.name for candidate in launchable if candidate.admitted.nodes == 0],
    }


def _cost(explained: PoolExplanation) -> Plain:
    prices, ceiling = explained.market.price_list, explained.ceiling
    if ceiling is None:
        return None
    monthly = None if ceiling.hourly is None else round(ceiling.hourly * HOURS_IN_MONTH, 2)
    bound = "exact" if ceiling.is_exact else "at most"
    return {
        "hourly": ceiling.hourly,
        "monthly": monthly,
        "bound": "unbounded" if ceiling.hourly is None else bound,
        "unboundedBy": ceiling.unbounded_by or None,
        "currency": prices.currency,
        "priceList": {"region": prices.region, "date": prices.date},
    }


def _one_pod(explained: PoolExplanation) -> Plain:
    pod = explained.one_pod
    if pod is None:
        return None
    return {
        "resource": pod.resource,
        "cheapest": {"instanceType": pod.cheapest.kind.name, "price": pod.cheapest.price},
        "dearest": {"instanceType": pod.dearest.kind.name, "price": pod.dearest.price},
    }


def _exclusion(exclusion: Exclusion) -> Plain:
    refused: Plain = [
        {"requirement": _requirement(mismatch.requirement), "has": _list(mismatch.values)}
        for mismatch in exclusion.unmet
    ]
    return {
        "instanceType": exclusion.name,
        "candidate": exclusion.candidate is not None,
        "refusedBy": refused,
        "refusedByClass": exclusion.class_conflict or None,
        "launchable": exclusion.candidate.is_launchable if exclusion.candidate else False,
        "reason": exclusion.candidate.reason if exclusion.candidate else "",
        "retired": exclusion.retired,
    }


def _requirement(requirement: Requirement) -> Plain:
    return {
        "key": requirement.key,
        "operator": requirement.operator,
        "values": _list(sorted(requirement.values)),
        "gte": requirement.gte,
        "lte": requirement.lte,
    }


def _amounts(amounts: Mapping[str, Amount]) -> dict[str, Plain]:
    """Return amounts in base units: whole numbers, and cores with their fraction."""
    return {name: int(amount) if amount == int(amount) else float(amount) for name, amount in amounts.items()}


def _list(values: Iterable[str]) -> list[Plain]:
    return [*values]
