"""Workloads in manifests: the pods that objects create, and how many of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from gpupool.codes import Code
from gpupool.findings import Finding, Location, Severity, in_file_order
from gpupool.manifests.kinds import OWN_GROUP
from gpupool.manifests.pod_templates import ELSEWHERE, TemplatePart, is_workload_kind, read_templates
from gpupool.manifests.read import read_manifests
from gpupool.yamlio.located import mapping, place, text_at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gpupool.manifests.kinds import Identity
    from gpupool.manifests.result import KarpenterObject
    from gpupool.manifests.sources import SkippedFile
    from gpupool.yamlio.located import Located

_KARPENTER = ("karpenter.sh", "karpenter.k8s.aws", OWN_GROUP)
_KUBERNETES = ("", "apps", "batch")
_ON_EVERY_NODE = "DaemonSet"


class PodTemplate(NamedTuple):
    """A pod template of an object, and the number of its pods."""

    object: str
    """The object as findings name it: `PyTorchJob/train`."""

    role: str
    """The role of these pods in the object, such as `worker`; empty for an object with one template."""

    pods: int | None
    """The number of pods at once; None for a DaemonSet, which has one on every node."""

    namespace: str
    labels: Mapping[str, str]
    spec: Located
    path: str
    """Path of the spec in its object: `spec.template.spec`."""

    note: str = ""
    """What else is added to the pod that is not in the file."""

    @property
    def name(self) -> str:
        """Return the name of the pods in messages: `PyTorchJob/train worker`."""
        return f"{self.object} {self.role}".rstrip()

    @property
    def at(self) -> Location:
        """Return the location of the pod's spec."""
        return place(self.spec)


@dataclass(frozen=True, slots=True)
class Workloads:
    """All pods in manifests."""

    templates: tuple[PodTemplate, ...]
    """In file order."""

    findings: tuple[Finding, ...]
    """In file order, the files in the order in which they were read."""

    files: tuple[str, ...]
    skipped_kinds: Mapping[str, int]
    """The number of objects of each kind that creates no pods; sorted by kind."""

    skipped: tuple[SkippedFile, ...]


def read_workloads(paths: Sequence[str], stdin: Callable[[], bytes]) -> Workloads:
    """Read the pods in files and folders; `-` reads `stdin`.

    Bad input becomes findings, never an error, and so does input without any pods.
    """
    manifests = read_manifests(paths, stdin, is_wanted=_has_pods)
    templates: list[PodTemplate] = []
    findings = list(manifests.findings)
    for workload in manifests.objects:
        _read_object(workload, templates, findings)
    if not templates and not any(finding.severity is Severity.ERROR for finding in findings):
        findings.append(_build_no_pods(paths))
    workload_kinds = [workload.kind for workload in manifests.objects]
    return Workloads(
        templates=tuple(templates),
        findings=in_file_order(findings, manifests.files),
        files=manifests.files,
        skipped_kinds={
            kind: count - workload_kinds.count(kind)
            for kind, count in manifests.kinds.items()
            if count > workload_kinds.count(kind)
        },
        skipped=manifests.skipped,
    )


def _has_pods(identity: Identity, node: Located) -> bool:
    return identity.group not in _KARPENTER and (
        identity.kind in ELSEWHERE
        or is_workload_kind(identity.kind)
        or next(read_templates(identity.kind, identity.group, node), None) is not None
    )


def _read_object(workload: KarpenterObject, templates: list[PodTemplate], findings: list[Finding]) -> None:
    """Read the pod templates of one object, with findings about their number."""
    body, group = workload.body, text_at(workload.body, "apiVersion").rpartition("/")[0]
    if workload.kind in ELSEWHERE:
        findings.append(_build_pods_elsewhere(workload))
        return
    template_parts = list(read_templates(workload.kind, group, body))
    if not template_parts:
        findings.append(_build_no_template(workload, group))
    for part in template_parts:
        count = _count_pods(part, workload, findings)
        if isinstance(part.spec.value, dict):
            templates.append(_build_template(part, workload, count))
        else:
            message = f"`{part.path}` must be a pod spec, which is a map"
            at = place(part.spec)
            findings.append(Finding(Code.POD_SPEC, message, at, path=part.path, object=workload.label))


def _build_template(part: TemplatePart, workload: KarpenterObject, count: int) -> PodTemplate:
    labels = {key: label.value for key, label in mapping(part.labels).items() if isinstance(label.value, str)}
    is_daemon = workload.kind == _ON_EVERY_NODE
    namespace = text_at(workload.body, "metadata", "namespace")
    count_or_none = None if is_daemon else count
    return PodTemplate(
        workload.label, part.role, count_or_none, namespace, labels, part.spec, part.path, part.note
    )


def _count_pods(part: TemplatePart, workload: KarpenterObject, findings: list[Finding]) -> int:
    """Multiply the numbers of all levels, such as groups and pods in a group."""
    product = 1
    for node in part.counts:
        if node is None or node.value is None:
            continue
        if type(node.value) is int and node.value >= 0:
            product *= node.value
        else:
            message = "the number of pods must be a whole number, 0 or more"
            findings.append(Finding(Code.POD_SPEC, message, place(node), object=workload.label))
    return max(product - part.less * _get_first_count(part), 0)


def _get_first_count(part: TemplatePart) -> int:
    node = part.counts[0] if part.counts else None
    return node.value if node is not None and type(node.value) is int else 1


def _build_no_template(workload: KarpenterObject, group: str) -> Finding:
    """Return the finding about an object without pods; other kinds may get theirs from elsewhere."""
    severity = Severity.ERROR if group in _KUBERNETES else Severity.WARNING
    message = f"this {workload.kind} has no pod {'spec' if workload.kind == 'Pod' else 'template'}"
    fix = "add `spec.containers`" if workload.kind == "Pod" else "add the pod template"
    return Finding(Code.POD_SPEC, message, workload.at, fix, severity, object=workload.label)


def _build_pods_elsewhere(workload: KarpenterObject) -> Finding:
    message = f"the pods of a {workload.kind} are not checked: {ELSEWHERE[workload.kind]}"
    return Finding(Code.PODS_ELSEWHERE, message, workload.at, "", Severity.WARNING, object=workload.label)


def _build_no_pods(paths: Sequence[str]) -> Finding:
    message = "no object in these files creates pods"
    fix = "pass files with a Pod, Job, Deployment, PyTorchJob or similar"
    return Finding(Code.NO_PODS, message, Location(paths[0] if paths else "-"), fix)
