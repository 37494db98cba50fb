"""`gpupool explain` for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from gpupool.reports.validate.json_text import finding_to_json
from gpupool.scheduling.cost import HOURS_IN_MONTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gpupool.explain.explanation import Explanation, NodePoolExplanation
    from gpupool.karpenter.quantities import Amount
    from gpupool.karpenter.requirements import Requirement
    from gpupool.scheduling.exclusion import Exclusion
    from gpupool.scheduling.explained import Candidate, Explained

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"


def to_json(explanation: Explanation) -> dict[str, Json]:
    """Return one object for the pool; of a pool with tiers one for each of them, in Karpenter's order."""
    known: Json = {"date": explanation.catalogue.date, "karpenter": explanation.catalogue.karpenter}
    if explanation.has_tiers:
        tiers: Json = [_answer(each) for each in explanation.answers]
        return {"pool": explanation.pool, "tiers": tiers, "catalogue": known}
    return {**_answer(explanation.answers[0]), "catalogue": known}


def _answer(answer: NodePoolExplanation) -> dict[str, Json]:
    found = answer.explained
    made: dict[str, Json] = {
        "pool": found.pool.name,
        "weight": found.pool.weight,
        "nodeClass": answer.node_class or None,
        "amiFamily": found.market.node_class.family.name,
        "region": found.market.region,
        "offeringsJudged": found.market.judged,
        "candidates": [_candidate(each) for each in found.candidates],
        "limits": _limits(found),
        "cost": _cost(found),
        "onePod": _one_pod(found),
        "notes": [dict(finding_to_json(each)) for each in answer.notes],
    }
    return made if answer.exclusion is None else {**made, "why": _why(answer.exclusion)}


def _candidate(each: Candidate) -> Json:
    kind = each.kind
    accelerators: Json = [
        {"name": name, "count": count, "memoryMiB": memory} for count, name, memory in kind.accelerators
    ]
    return {
        "instanceType": kind.name,
        "offered": each.offered,
        "price": each.price,
        "prices": {name: each.price if name == "on-demand" else None for name in each.capacity_types},
        "launchable": each.launchable,
        "reason": each.reason,
        "capacityTypes": _list(each.capacity_types),
        "zones": _list(each.zones),
        "accelerators": accelerators,
        "arch": kind.arch,
        "vcpus": kind.vcpus,
        "memoryMiB": kind.memory,
        "localNvmeGB": kind.local_nvme,
        "efa": kind.efa or 0,
        "retired": kind.retired,
        "allocatable": _amounts(each.allocatable),
        "nodes": each.admitted.nodes,
        "nodesRegistered": each.admitted.registered,
        "limitedBy": each.admitted.by or None,
    }


def _limits(found: Explained) -> Json:
    launchable = [each for each in found.candidates if each.launchable is not False]
    return {
        "said": _amounts(found.pool.limits),
        "reached": {
            name: {"most": each.amount, "exact": each.exact, "binds": each.amount >= found.pool.limits[name]}
            for name, each in found.reaches.items()
        },
        "nodes": {each.kind.name: each.admitted.nodes for each in launchable},
        "never": [each.kind.name for each in launchable if each.admitted.nodes == 0],
    }


def _cost(found: Explained) -> Json:
    prices, ceiling = found.market.price_list, found.ceiling
    if ceiling is None:
        return None
    monthly = None if ceiling.hourly is None else round(ceiling.hourly * HOURS_IN_MONTH, 2)
    bound = "exact" if ceiling.exact else "at most"
    return {
        "hourly": ceiling.hourly,
        "monthly": monthly,
        "bound": "unbounded" if ceiling.hourly is None else bound,
        "unboundedBy": ceiling.unbounded_by or None,
        "currency": prices.currency,
        "priceList": {"region": prices.region, "date": prices.date},
    }


def _one_pod(found: Explained) -> Json:
    pod = found.one_pod
    if pod is None:
        return None
    return {
        "resource": pod.resource,
        "cheapest": {"instanceType": pod.cheapest.kind.name, "price": pod.cheapest.price},
        "dearest": {"instanceType": pod.dearest.kind.name, "price": pod.dearest.price},
    }


def _why(why: Exclusion) -> Json:
    refused: Json = [
        {"requirement": _requirement(each.requirement), "has": _list(each.values)} for each in why.refused
    ]
    return {
        "instanceType": why.name,
        "candidate": why.candidate is not None,
        "refusedBy": refused,
        "refusedByClass": why.by_class or None,
        "launchable": why.candidate.launchable if why.candidate else False,
        "reason": why.candidate.reason if why.candidate else "",
        "retired": why.retired,
    }


def _requirement(each: Requirement) -> Json:
    return {
        "key": each.key,
        "operator": each.operator,
        "values": _list(sorted(each.values)),
        "gte": each.gte,
        "lte": each.lte,
    }


def _amounts(amounts: Mapping[str, Amount]) -> dict[str, Json]:
    """Return amounts in base units: whole numbers, and cores with their fraction."""
    return {name: int(each) if each == int(each) else float(each) for name, each in amounts.items()}


def _list(words: Iterable[str]) -> list[Json]:
    return [*words]
