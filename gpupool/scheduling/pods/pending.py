"""Pending pods and DaemonSets from workload manifests."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpupool.errors import InputError
from gpupool.findings import has_errors, in_file_order
from gpupool.karpenter.pod_reading import read_pod
from gpupool.karpenter.quantities import parse_amount
from gpupool.scheduling.pods.daemons import Daemon

if TYPE_CHECKING:
    from gpupool.findings import Finding
    from gpupool.karpenter.pods import Pod, Resources
    from gpupool.manifests.workloads import PodTemplate, Workloads
    from gpupool.shapes.fields import LocatedMap


class PendingPod(NamedTuple):
    """One pending pod of a pod template."""

    template: PodTemplate
    pod: Pod


def read_pending_pods(workloads: Workloads) -> list[PendingPod]:
    """Read the pods of workloads.

    Raises:
        InputError: with every mistake in the files and in the pods, in file order.
    """
    pods: list[PendingPod] = []
    findings: list[Finding] = list(workloads.findings)
    for template in workloads.templates:
        read = read_pod(template.spec, template.path, template.object)
        findings += read.findings
        if read.pod is not None:
            pods.append(PendingPod(template, read.pod))
    if has_errors(findings):
        raise InputError(in_file_order(findings, workloads.files))
    return pods


def read_daemons(workloads: Workloads) -> list[Daemon]:
    """Read the DaemonSets among workloads; only these use resources of every node.

    Raises:
        InputError: with every mistake in the files and in the pods, in file order.
    """
    return [
        Daemon(pending.template.object, pending.pod)
        for pending in read_pending_pods(workloads)
        if pending.template.pods is None
    ]


def read_daemon_overhead(resources: LocatedMap[str | int]) -> Resources | None:
    """Read a blueprint's `cluster.daemonOverhead`, the DaemonSets' share of each node; None if not set."""
    if resources.node is None:
        return None
    return {name: parse_amount(str(quantity.value)) for name, quantity in resources.entries.items()}
