"""The pods of manifests as a scheduler gets them: those that wait for a node, and those of DaemonSets."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpupool.errors import InputError
from gpupool.findings import has_errors, in_file_order
from gpupool.karpenter.pod_reading import read_pod
from gpupool.karpenter.quantities import parse_amount
from gpupool.scheduling.pods.daemons import Daemon
from gpupool.yamlio.located import find, mapping

if TYPE_CHECKING:
    from gpupool.findings import Finding
    from gpupool.karpenter.pods import Pod, Resources
    from gpupool.manifests.workloads import PodTemplate, Workloads
    from gpupool.yamlio.located import Located


class PendingPod(NamedTuple):
    """One pod of a template, as it waits for a node."""

    template: PodTemplate
    pod: Pod


def read_pending_pods(found: Workloads) -> list[PendingPod]:
    """Read the pods of workloads.

    Raises:
        InputError: with every mistake in the files and in the pods, in file order.
    """
    pods: list[PendingPod] = []
    findings: list[Finding] = list(found.findings)
    for template in found.templates:
        read = read_pod(template.spec, template.path, template.object)
        findings += read.findings
        if read.pod is not None:
            pods.append(PendingPod(template, read.pod))
    if has_errors(findings):
        raise InputError(in_file_order(findings, found.files))
    return pods


def read_daemons(found: Workloads) -> list[Daemon]:
    """Return the DaemonSets among workloads; the others count on no node by themselves.

    Raises:
        InputError: with every mistake in the files and in the pods, in file order.
    """
    return [
        Daemon(each.template.object, each.pod)
        for each in read_pending_pods(found)
        if each.template.pods is None
    ]


def read_daemon_overhead(cluster: Located | None) -> Resources | None:
    """Return what a blueprint says that DaemonSets take of each node; None where it says nothing."""
    said = find(cluster, "daemonOverhead")
    if said is None or said.value is None:
        return None
    return {
        name: parse_amount(str(each.value)) for name, each in mapping(said).items() if each.value is not None
    }
