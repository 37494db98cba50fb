"""Reasons why a pool rejects a pod: the first rule that fails."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from gpupool.karpenter import labels
from gpupool.karpenter.pods import PODS
from gpupool.karpenter.requirements import combine_requirements, find_conflicts
from gpupool.scheduling.launch import MOST_IN_CLAIM
from gpupool.scheduling.limits import NODES, find_exceeded_limits
from gpupool.scheduling.matching import find_lacking_values, find_offered_types
from gpupool.scheduling.pods.attempts import list_minimal_attempts
from gpupool.scheduling.pods.daemons import UNDEFINED_OK
from gpupool.scheduling.pods.descriptions import (
    format_amount,
    format_requirement,
    format_resource,
    format_values,
    rank_resource,
)
from gpupool.scheduling.pods.fit import (
    PoolFit,
    PoolSite,
    find_lost_values,
    find_types_with_room,
    predict_node_labels,
)
from gpupool.scheduling.pods.ignored import find_ignore_reason
from gpupool.scheduling.types.capacity import ACCELERATORS, EFA
from gpupool.scheduling.types.market import RESERVATION_LABELS
from gpupool.scheduling.types.typemasks import Mask, positions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.karpenter.pods import Pod
    from gpupool.karpenter.requirements import RequirementConflict, Requirements
    from gpupool.scheduling.pods.attempts import Attempt


class RefusalRule(StrEnum):
    """The rules that can fail, in the order in which they are checked."""

    IGNORED = "ignored"
    CANDIDATES = "candidates"
    TOLERATION = "toleration"
    LABEL = "label"
    ARCH = "arch"
    ACCELERATOR = "accelerator"
    EFA = "efa"
    RESOURCES = "resources"
    HOST_PORT = "hostPort"
    OFFERING = "offering"
    MIN_VALUES = "minValues"
    LIMITS = "limits"


_ORDER = list(RefusalRule)
_TYPE_LABELS = (labels.ARCH, labels.OS)
_OFFERING_LABELS = (labels.CAPACITY_TYPE, labels.REGION, labels.ZONE, labels.ZONE_ID)


class Refusal(NamedTuple):
    """The first rule that fails, and its message."""

    rule: RefusalRule
    message: str
    spec_key: str = ""
    """The key of the pod spec that causes it; empty if only the pool does."""


def find_refusal(pod: Pod, site: PoolSite) -> Refusal:
    """Find why a pool rejects a pod.

    Of several required terms of node affinity, the one that passes the most rules counts.
    """
    if ignored := find_ignore_reason(pod):
        return Refusal(RefusalRule.IGNORED, ignored.message, ignored.spec_key)
    if not site.pool.types:
        return Refusal(RefusalRule.CANDIDATES, _describe_no_types(site))
    refusals = [_find_first_refusal(attempt, site) for attempt in list_minimal_attempts(pod)]
    furthest = max(refusals, key=lambda refusal: _ORDER.index(refusal.rule))
    if len(refusals) == 1:
        return furthest
    return furthest._replace(
        message=f"{furthest.message} (the closest of {len(refusals)} terms of its affinity)"
    )


def _find_first_refusal(attempt: Attempt, site: PoolSite) -> Refusal:
    return next(_find_refusals(attempt, site), _build_dropped_too_late())


def _find_refusals(attempt: Attempt, site: PoolSite) -> Iterator[Refusal]:
    yield from _check_taints(attempt, site)
    for conflict in find_conflicts(predict_node_labels(site.pool), attempt.requirements, UNDEFINED_OK)[:1]:
        rule = RefusalRule.ARCH if conflict.key in _TYPE_LABELS else RefusalRule.LABEL
        yield Refusal(rule, _describe_conflict(conflict), _find_spec_key(attempt, conflict.key))
    requirements = combine_requirements([*site.pool.requirements.values(), *attempt.requirements.values()])
    types = site.pool.types
    pod_keys = sorted(attempt.requirements, key=lambda key: (key not in _TYPE_LABELS, key))
    for key in pod_keys:
        if key not in (*_OFFERING_LABELS, *RESERVATION_LABELS):
            types, refusals = _filter_by_label(site, requirements, key, types)
            yield from (refusal._replace(spec_key=_find_spec_key(attempt, key)) for refusal in refusals)
    for key in _list_requested_resources(attempt.pod):
        types, refusals = _filter_by_resource(site, attempt.pod, key, types)
        yield from refusals
    yield from _check_host_ports(attempt, site, types)
    types = find_types_with_room(site, attempt.pod, types)
    yield from _check_offerings(attempt, site, requirements, types)
    yield from _check_min_values(site, requirements, _filter_by_offering(site, requirements, types))
    yield from _check_limits(site, _filter_by_offering(site, requirements, types), requirements)
    remaining = _filter_by_offering(site, requirements, types) & site.in_limits
    for key, (count, least_count) in find_lost_values(PoolFit(site.pool, remaining, requirements)).items():
        prefix = f"the pool's minValues requires {least_count} of {key}"
        yield Refusal(RefusalRule.MIN_VALUES, f"{prefix}; the {MOST_IN_CLAIM} cheapest types have {count}")


def _check_taints(attempt: Attempt, site: PoolSite) -> Iterator[Refusal]:
    untolerated = [str(taint) for taint in site.pool.taints if not attempt.pod.tolerates(taint)]
    if untolerated:
        plural = "taints" if len(untolerated) > 1 else "taint"
        message = f"does not tolerate the pool's {plural} {', '.join(untolerated)}"
        yield Refusal(RefusalRule.TOLERATION, message, "tolerations")


def _describe_conflict(conflict: RequirementConflict) -> str:
    required = f"requires {format_requirement(conflict.incoming)}"
    if conflict.existing is None:
        return f"{required}; the pool's nodes have no such label"
    return f"{required}; the pool has {format_requirement(conflict.existing)}"


def _find_spec_key(attempt: Attempt, key: str) -> str:
    """Return the key of the pod spec that requires a label."""
    names = {labels.ALIASES.get(name, name) for name in attempt.pod.node_selector or {}}
    return "nodeSelector" if key in names else "affinity"


def _filter_by_label(
    site: PoolSite, requirements: Requirements, key: str, types: Mask
) -> tuple[Mask, list[Refusal]]:
    """Return the types that match on a label, or the refusal if there are none."""
    market = site.pool.market
    matching = types & market.find_types(requirements[key])
    if matching or not types:
        return matching, []
    values = format_values(value for position in positions(types) for value in market.values(key, position))
    verb = "has" if _is_one(types) else "have"
    required, candidates = format_requirement(requirements[key]), _describe_candidates(types)
    message = f"requires {required}; {candidates} {verb} {values or 'no such label'}"
    return matching, [Refusal(RefusalRule.ARCH if key in _TYPE_LABELS else RefusalRule.LABEL, message)]


def _list_requested_resources(pod: Pod) -> list[str]:
    """Return the resources that a pod requests, in the order in which they are checked."""
    names = [name for name, amount in pod.requests.items() if amount and name != PODS]
    return [*sorted(names, key=lambda name: (rank_resource(name), name == EFA, name)), PODS]


def _filter_by_resource(site: PoolSite, pod: Pod, name: str, types: Mask) -> tuple[Mask, list[Refusal]]:
    """Return the types with enough of one resource, or the refusal if there are none."""
    sufficient = 0
    for group in site.groups:
        required = pod.requests[name] + group.requests.get(name, 0)
        sufficient |= types & group.types & site.room.find_types(name, required)
    if sufficient or not types:
        return sufficient, []
    rule = (
        RefusalRule.EFA
        if name == EFA
        else RefusalRule.ACCELERATOR
        if name in ACCELERATORS
        else RefusalRule.RESOURCES
    )
    return sufficient, [Refusal(rule, _describe_too_small(site, pod, name, types), "containers")]


def _describe_too_small(site: PoolSite, pod: Pod, name: str, types: Mask) -> str:
    """Describe the candidate that has the most of a resource beside the DaemonSets."""
    required, market = pod.requests[name], site.pool.market
    free_amounts = [
        (market.allocatable(position).get(name, 0) - group.requests.get(name, 0), -position)
        for group in site.groups
        for position in positions(types & group.types)
    ]
    most, position = max(free_amounts)
    used = market.allocatable(-position).get(name, 0) - most
    prefix = f"requests {format_resource(name, required)}; "
    if not market.allocatable(-position).get(name, 0):
        return prefix + (
            "the only candidate has none"
            if _is_one(types)
            else f"none of {_describe_candidates(types)} has any"
        )
    subject = "the only candidate" if _is_one(types) else "the largest candidate"
    daemon_note = f" left after {format_amount(name, used)} for DaemonSets" if used else ""
    largest = market.catalogue.names[-position]
    return f"{prefix}{subject}, {largest}, has {format_amount(name, most)}{daemon_note}"


def _check_host_ports(attempt: Attempt, site: PoolSite, types: Mask) -> Iterator[Refusal]:
    """Find host ports of DaemonSets that keep the pod off types with enough of each resource."""
    if types and not find_types_with_room(site, attempt.pod, types):
        conflicting_ports = {
            str(port)
            for group in site.groups
            for port in attempt.pod.host_ports
            for other in group.host_ports
            if port.has_conflict(other)
        }
        message = f"requests host port {format_values(conflicting_ports)}, which a DaemonSet uses"
        yield Refusal(RefusalRule.HOST_PORT, message, "containers")


def _filter_by_offering(site: PoolSite, requirements: Requirements, types: Mask) -> Mask:
    """Return the types that are offered in the required zones and capacity types."""
    offering_requirements = site.pool.get_offering_requirements(requirements)
    for key in _OFFERING_LABELS:
        if key in offering_requirements:
            types &= site.pool.market.find_types(offering_requirements[key])
    return types & find_offered_types(site.pool.market, offering_requirements)


def _check_offerings(
    attempt: Attempt, site: PoolSite, requirements: Requirements, types: Mask
) -> Iterator[Refusal]:
    if types and not _filter_by_offering(site, requirements, types):
        conditions = ", ".join(
            format_requirement(requirements[key])
            for key in _OFFERING_LABELS
            if key in attempt.requirements and key in requirements
        )
        subject = (
            "the only candidate is not" if _is_one(types) else f"none of {_describe_candidates(types)} is"
        )
        message = f"{subject} offered with {conditions}"
        if site.pool.market.region:
            message += f" in {site.pool.market.region}"
        spec_key = next(
            (_find_spec_key(attempt, key) for key in _OFFERING_LABELS if key in attempt.requirements), ""
        )
        yield Refusal(RefusalRule.OFFERING, message, spec_key)


def _check_min_values(site: PoolSite, requirements: Requirements, types: Mask) -> Iterator[Refusal]:
    for key, (count, least_count) in find_lacking_values(site.pool.market, types, requirements).items():
        values = format_values(
            value for position in positions(types) for value in site.pool.market.values(key, position)
        )
        prefix = f"the pool's minValues requires {least_count} of {key}"
        message = f"{prefix}; the types that fit the pod have {count}: {values}"
        yield Refusal(RefusalRule.MIN_VALUES, message)


def _check_limits(site: PoolSite, types: Mask, requirements: Requirements) -> Iterator[Refusal]:
    """Find the limit that all candidates exceed, or the limits that exclude them together."""
    pool = site.pool
    if pool.limits.get(NODES) == 0:
        yield Refusal(RefusalRule.LIMITS, "the pool's limits allow 0 nodes")
        return
    remaining = types & site.in_limits
    if remaining and not find_lacking_values(pool.market, remaining, requirements):
        return
    exceeded = [
        set(find_exceeded_limits(pool.market.capacity(position), pool.limits))
        for position in positions(types & ~remaining)
    ]
    common = sorted(set.intersection(*exceeded)) if exceeded else []
    yield Refusal(RefusalRule.LIMITS, _describe_limits(site, types, common, exceeded))


def _describe_limits(site: PoolSite, types: Mask, common: list[str], exceeded: list[set[str]]) -> str:
    pool = site.pool
    if not common:
        names = sorted(set().union(*exceeded))
        limits = ", ".join(format_resource(name, pool.limits[name]) for name in names)
        return f"the pool's limits ({limits}) leave no room for a node that fits the pod"
    name = common[0]
    least_amount, position = min(
        (pool.market.capacity(position).get(name, 0), position) for position in positions(types)
    )
    smallest = f"{pool.market.catalogue.names[position]}, has {format_amount(name, least_amount)}"
    subject = "the only type that fits the pod" if _is_one(types) else "the smallest type that fits the pod"
    return f"the pool is limited to {format_resource(name, pool.limits[name])}; {subject}, {smallest}"


def _describe_no_types(site: PoolSite) -> str:
    region_note = (
        f" in {site.pool.market.region}" if site.pool.market.region and site.pool.market.is_judged else ""
    )
    hint = f"run `gpupool explain {site.pool.name}`"
    return f"the pool can't launch any instance type{region_note}; {hint}"


def _build_dropped_too_late() -> Refusal:
    message = (
        "fits only without its preferred affinity, and Karpenter drops required terms before preferred ones:"
        " put the required term that fits last"
    )
    return Refusal(RefusalRule.LABEL, message, "affinity")


def _describe_candidates(types: Mask) -> str:
    return "the only candidate" if _is_one(types) else f"the {types.bit_count()} candidates"


def _is_one(types: Mask) -> bool:
    return types.bit_count() == 1
