"""What DaemonSets take of each node of a pool, as Karpenter counts it before it places any pod.

Source: buildDaemonOverheadGroups and isDaemonPodCompatible of Karpenter v1.14.1. Where a DaemonSet has
several required terms of node affinity, Karpenter forgets those that failed for an earlier type; here each
type is asked about all of them.
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
"""Labels that Karpenter takes a node to have some value of."""


class Daemon(NamedTuple):
    """A DaemonSet and its pod."""

    name: str
    pod: Pod


class DaemonGroup(NamedTuple):
    """Types on whose nodes the same DaemonSets run."""

    types: Mask
    daemons: tuple[str, ...]
    requests: Resources
    """What the DaemonSets take together, one pod each with it."""

    host_ports: tuple[HostPort, ...]


def group_types_by_daemons(
    pool: ScheduledPool, daemons: Sequence[Daemon], fixed: Resources | None = None
) -> tuple[DaemonGroup, ...]:
    """Part a pool's types by the DaemonSets that run on their nodes; `fixed` is taken on each besides."""
    found = [DaemonGroup(pool.types, (), fixed or {}, ())]
    for daemon in daemons:
        runs = _types(pool, daemon.pod)
        found = [part for group in found for part in _split(group, daemon, runs) if part.types]
    return tuple(found)


def _split(group: DaemonGroup, daemon: Daemon, runs: Mask) -> tuple[DaemonGroup, DaemonGroup]:
    with_it = DaemonGroup(
        group.types & runs,
        (*group.daemons, daemon.name),
        sum_resources([group.requests, daemon.pod.requests]),
        (*group.host_ports, *daemon.pod.host_ports),
    )
    return with_it, group._replace(types=group.types & ~runs)


def _types(pool: ScheduledPool, pod: Pod) -> Mask:
    """Return the types on which a DaemonSet's pod runs; Karpenter counts none that wants devices by claims."""
    found = 0
    for attempt in list_minimal_attempts(pod):
        found |= _types_for(pool, attempt)
    return 0 if pod.claims_devices else found


def _types_for(pool: ScheduledPool, attempt: Attempt) -> Mask:
    if not all(attempt.pod.tolerates(taint) for taint in pool.taints):
        return 0
    if find_conflicts(pool.wanted, attempt.wanted, UNDEFINED_OK):
        return 0
    found = pool.types
    for each in attempt.wanted.values():
        found &= pool.market.taken(each)
    return found
