"""Why a pool does not take a pod: the first rule that fails, in words that name both sides."""

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
    """What can fail, in the order in which it is looked at."""

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
_MACHINES = (labels.ARCH, labels.OS)
_PLACES = (labels.CAPACITY_TYPE, labels.REGION, labels.ZONE, labels.ZONE_ID)


class Refusal(NamedTuple):
    """The first rule that fails, and what it says."""

    rule: RefusalRule
    message: str
    part: str = ""
    """The key of the pod's spec that it is about; empty where it is the pool's own doing."""


def find_refusal(pod: Pod, site: PoolSite) -> Refusal:
    """Return why a pool that does not take a pod does not.

    Of several required terms of node affinity, the one that comes furthest counts.
    """
    if passed := find_ignore_reason(pod):
        return Refusal(RefusalRule.IGNORED, passed.message, passed.part)
    if not site.pool.types:
        return Refusal(RefusalRule.CANDIDATES, _nothing(site))
    found = [_first(attempt, site) for attempt in list_minimal_attempts(pod)]
    furthest = max(found, key=lambda each: _ORDER.index(each.rule))
    if len(found) == 1:
        return furthest
    return furthest._replace(
        message=f"{furthest.message} (the closest of {len(found)} terms of its affinity)"
    )


def _first(attempt: Attempt, site: PoolSite) -> Refusal:
    return next(_reasons(attempt, site), _given_up_too_late())


def _reasons(attempt: Attempt, site: PoolSite) -> Iterator[Refusal]:
    yield from _taints(attempt, site)
    for conflict in find_conflicts(predict_node_labels(site.pool), attempt.wanted, UNDEFINED_OK)[:1]:
        rule = RefusalRule.ARCH if conflict.key in _MACHINES else RefusalRule.LABEL
        yield Refusal(rule, _disagreement(conflict), _part(attempt, conflict.key))
    wanted = combine_requirements([*site.pool.wanted.values(), *attempt.wanted.values()])
    types = site.pool.types
    own = sorted(attempt.wanted, key=lambda key: (key not in _MACHINES, key))
    for key in own:
        if key not in (*_PLACES, *RESERVATION_LABELS):
            types, found = _narrowed(site, wanted, key, types)
            yield from (each._replace(part=_part(attempt, key)) for each in found)
    for key in _asked(attempt.pod):
        types, found = _with(site, attempt.pod, key, types)
        yield from found
    yield from _room(attempt, site, types)
    types = find_types_with_room(site, attempt.pod, types)
    yield from _offered(attempt, site, wanted, types)
    yield from _least_values(site, wanted, _suitable(site, wanted, types))
    yield from _limits(site, _suitable(site, wanted, types), wanted)
    left = _suitable(site, wanted, types) & site.in_limits
    for key, (count, least_count) in find_lost_values(PoolFit(site.pool, left, wanted)).items():
        asked = f"the pool's minValues requires {least_count} of {key}"
        yield Refusal(RefusalRule.MIN_VALUES, f"{asked}; the {MOST_IN_CLAIM} cheapest types have {count}")


def _taints(attempt: Attempt, site: PoolSite) -> Iterator[Refusal]:
    untolerated = [str(taint) for taint in site.pool.taints if not attempt.pod.tolerates(taint)]
    if untolerated:
        plural = "taints" if len(untolerated) > 1 else "taint"
        message = f"does not tolerate the pool's {plural} {', '.join(untolerated)}"
        yield Refusal(RefusalRule.TOLERATION, message, "tolerations")


def _disagreement(conflict: RequirementConflict) -> str:
    wants = f"requires {format_requirement(conflict.incoming)}"
    if conflict.existing is None:
        return f"{wants}; the pool's nodes have no such label"
    return f"{wants}; the pool has {format_requirement(conflict.existing)}"


def _part(attempt: Attempt, key: str) -> str:
    """Return where the pod asks for a label."""
    names = {labels.ALIASES.get(name, name) for name in attempt.pod.node_selector or {}}
    return "nodeSelector" if key in names else "affinity"


def _narrowed(site: PoolSite, wanted: Requirements, key: str, types: Mask) -> tuple[Mask, list[Refusal]]:
    """Keep the types with a label that does."""
    market = site.pool.market
    left = types & market.taken(wanted[key])
    if left or not types:
        return left, []
    has = format_values(value for place in positions(types) for value in market.values(key, place))
    verb = "has" if _is_one(types) else "have"
    message = f"requires {format_requirement(wanted[key])}; {_those(types)} {verb} {has or 'no such label'}"
    return left, [Refusal(RefusalRule.ARCH if key in _MACHINES else RefusalRule.LABEL, message)]


def _asked(pod: Pod) -> list[str]:
    """Return the resources that a pod asks for in the order in which they are looked at."""
    names = [name for name, asked in pod.requests.items() if asked and name != PODS]
    return [*sorted(names, key=lambda name: (rank_resource(name), name == EFA, name)), PODS]


def _with(site: PoolSite, pod: Pod, name: str, types: Mask) -> tuple[Mask, list[Refusal]]:
    """Keep the types with enough of one resource."""
    left = 0
    for group in site.groups:
        need = pod.requests[name] + group.requests.get(name, 0)
        left |= types & group.types & site.room.with_at_least(name, need)
    if left or not types:
        return left, []
    rule = (
        RefusalRule.EFA
        if name == EFA
        else RefusalRule.ACCELERATOR
        if name in ACCELERATORS
        else RefusalRule.RESOURCES
    )
    return left, [Refusal(rule, _too_small(site, pod, name, types), "containers")]


def _too_small(site: PoolSite, pod: Pod, name: str, types: Mask) -> str:
    """Name the candidate that has the most of a resource beside the DaemonSets, and how much that is."""
    need, market = pod.requests[name], site.pool.market
    free = [
        (market.allocatable(place).get(name, 0) - group.requests.get(name, 0), -place)
        for group in site.groups
        for place in positions(types & group.types)
    ]
    most, place = max(free)
    taken = market.allocatable(-place).get(name, 0) - most
    said = f"requests {format_resource(name, need)}; "
    if not market.allocatable(-place).get(name, 0):
        return said + (
            "the only candidate has none" if _is_one(types) else f"none of {_those(types)} has any"
        )
    which = "the only candidate" if _is_one(types) else "the largest candidate"
    beside = f" left after {format_amount(name, taken)} for DaemonSets" if taken else ""
    return f"{said}{which}, {market.catalogue.names[-place]}, has {format_amount(name, most)}{beside}"


def _room(attempt: Attempt, site: PoolSite, types: Mask) -> Iterator[Refusal]:
    """Find what keeps the pod off types that have enough of each resource: ports of DaemonSets."""
    if types and not find_types_with_room(site, attempt.pod, types):
        taken = {
            str(port)
            for group in site.groups
            for port in attempt.pod.host_ports
            for other in group.host_ports
            if port.has_conflict(other)
        }
        message = f"requests host port {format_values(taken)}, which a DaemonSet uses"
        yield Refusal(RefusalRule.HOST_PORT, message, "containers")


def _suitable(site: PoolSite, wanted: Requirements, types: Mask) -> Mask:
    """Keep the types that can be had where and how it is wanted."""
    asked = site.pool.offers_for(wanted)
    for key in _PLACES:
        if key in asked:
            types &= site.pool.market.taken(asked[key])
    return types & find_offered_types(site.pool.market, asked)


def _offered(attempt: Attempt, site: PoolSite, wanted: Requirements, types: Mask) -> Iterator[Refusal]:
    if types and not _suitable(site, wanted, types):
        asked = ", ".join(
            format_requirement(wanted[key]) for key in _PLACES if key in attempt.wanted and key in wanted
        )
        which = "the only candidate is not" if _is_one(types) else f"none of {_those(types)} is"
        message = f"{which} offered with {asked}"
        if site.pool.market.region:
            message += f" in {site.pool.market.region}"
        part = next((_part(attempt, key) for key in _PLACES if key in attempt.wanted), "")
        yield Refusal(RefusalRule.OFFERING, message, part)


def _least_values(site: PoolSite, wanted: Requirements, types: Mask) -> Iterator[Refusal]:
    for key, (count, least_count) in find_lacking_values(site.pool.market, types, wanted).items():
        left = format_values(
            value for place in positions(types) for value in site.pool.market.values(key, place)
        )
        asked = f"the pool's minValues requires {least_count} of {key}"
        message = f"{asked}; the types that fit the pod have {count}: {left}"
        yield Refusal(RefusalRule.MIN_VALUES, message)


def _limits(site: PoolSite, types: Mask, wanted: Requirements) -> Iterator[Refusal]:
    """Name the limit under which no candidate for the pod comes; or all that do so together."""
    pool = site.pool
    if pool.limits.get(NODES) == 0:
        yield Refusal(RefusalRule.LIMITS, "the pool's limits allow 0 nodes")
        return
    left = types & site.in_limits
    if left and not find_lacking_values(pool.market, left, wanted):
        return
    broken = [
        set(find_exceeded_limits(pool.market.capacity(place), pool.limits))
        for place in positions(types & ~left)
    ]
    common = sorted(set.intersection(*broken)) if broken else []
    yield Refusal(RefusalRule.LIMITS, _over(site, types, common, broken))


def _over(site: PoolSite, types: Mask, common: list[str], broken: list[set[str]]) -> str:
    pool = site.pool
    if not common:
        names = sorted(set().union(*broken))
        limits = ", ".join(format_resource(name, pool.limits[name]) for name in names)
        return f"the pool's limits ({limits}) leave no room for a node that fits the pod"
    name = common[0]
    least_amount, place = min((pool.market.capacity(place).get(name, 0), place) for place in positions(types))
    smallest = f"{pool.market.catalogue.names[place]}, has {format_amount(name, least_amount)}"
    which = "the only type that fits the pod" if _is_one(types) else "the smallest type that fits the pod"
    return f"the pool is limited to {format_resource(name, pool.limits[name])}; {which}, {smallest}"


def _nothing(site: PoolSite) -> str:
    where = f" in {site.pool.market.region}" if site.pool.market.region and site.pool.market.judged else ""
    see = f"run `gpupool explain {site.pool.name}`"
    return f"the pool can't launch any instance type{where}; {see}"


def _given_up_too_late() -> Refusal:
    message = (
        "fits only without its preferred affinity, and Karpenter drops required terms before preferred ones:"
        " put the required term that fits last"
    )
    return Refusal(RefusalRule.LABEL, message, "affinity")


def _those(types: Mask) -> str:
    return "the only candidate" if _is_one(types) else f"the {types.bit_count()} candidates"


def _is_one(types: Mask) -> bool:
    return types.bit_count() == 1
