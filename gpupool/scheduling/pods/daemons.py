"""DaemonSet overhead on the nodes of a pool, as Karpenter counts it before it places any pod.

Source: buildDaemonOverheadGroups and isDaemonPodCompatible of Karpenter v1.14.1. Where a DaemonSet has
several required terms of node affinity, Karpenter forgets those that failed for an earlier type; this module
tries all of them for each type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpupool.karpenter.labels import NODEPOOL, WELL_KNOWN
from gpupool.karpenter.pod_requests import sum_resources
from gpupool.karpenter.requirements import find_conflicts
from gpupool.scheduling.pods.attempts import list_minimal_attempts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpupool.karpenter.pods import HostPort, Pod, Resources
    from gpupool.scheduling.nodepool import ScheduledPool
    from gpupool.scheduling.pods.attempts import Attempt
    from gpupool.scheduling.types.typemasks import Mask

UNDEFINED_OK = frozenset({NODEPOOL, *WELL_KNOWN})
"""Labels of which Karpenter assumes that a node has some value."""


class Daemon(NamedTuple):
    """A DaemonSet and its pod."""

    name: str
    pod: Pod


class DaemonGroup(NamedTuple):
    """The types on whose nodes the same DaemonSets run."""

    types: Mask
    daemons: tuple[str, ...]
    requests: Resources
    """Total requests of the DaemonSets, including one pod each."""

    host_ports: tuple[HostPort, ...]


def group_types_by_daemons(
    pool: ScheduledPool, daemons: Sequence[Daemon], fixed: Resources | None = None
) -> tuple[DaemonGroup, ...]:
    """Group a pool's types by the DaemonSets on their nodes; `fixed` is an additional overhead on each."""
    groups = [DaemonGroup(pool.types, (), fixed or {}, ())]
    for daemon in daemons:
        runnable = _find_runnable_types(pool, daemon.pod)
        groups = [
            subgroup for group in groups for subgroup in _split(group, daemon, runnable) if subgroup.types
        ]
    return tuple(groups)


def _split(group: DaemonGroup, daemon: Daemon, runnable: Mask) -> tuple[DaemonGroup, DaemonGroup]:
    including = DaemonGroup(
        group.types & runnable,
        (*group.daemons, daemon.name),
        sum_resources([group.requests, daemon.pod.requests]),
        (*group.host_ports, *daemon.pod.host_ports),
    )
    return including, group._replace(types=group.types & ~runnable)


def _find_runnable_types(pool: ScheduledPool, pod: Pod) -> Mask:
    """Find the types on which a DaemonSet's pod runs; none if it requests devices with resource claims."""
    types = 0
    for attempt in list_minimal_attempts(pod):
        types |= _find_types_for_attempt(pool, attempt)
    return 0 if pod.claims_devices else types


def _find_types_for_attempt(pool: ScheduledPool, attempt: Attempt) -> Mask:
    if not all(attempt.pod.tolerates(taint) for taint in pool.taints):
        return 0
    if find_conflicts(pool.requirements, attempt.requirements, UNDEFINED_OK):
        return 0
    types = pool.types
    for requirement in attempt.requirements.values():
        types &= pool.market.find_types(requirement)
    return types
