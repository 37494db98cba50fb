"""The pods that manifests would bring about: from which objects, and how many of each."""

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
    """A pod that an object makes, and how many of it."""

    object: str
    """The object as findings name it: `PyTorchJob/train`."""

    role: str
    """Which of the object's pods this is, as in `worker`; empty for an object with one template."""

    pods: int | None
    """How many there are at once; None for a DaemonSet, which has one on every node."""

    namespace: str
    labels: Mapping[str, str]
    spec: Located
    path: str
    """Where the spec stands in its object: `spec.template.spec`."""

    note: str = ""
    """What else makes the pod that is not written here."""

    @property
    def name(self) -> str:
        """Return what to call the pods: `PyTorchJob/train worker`."""
        return f"{self.object} {self.role}".rstrip()

    @property
    def at(self) -> Location:
        """Return where the pod's spec begins."""
        return place(self.spec)


@dataclass(frozen=True, slots=True)
class Workloads:
    """All pods that were found."""

    templates: tuple[PodTemplate, ...]
    """In file order."""

    findings: tuple[Finding, ...]
    """In file order, the files in the order in which they were read."""

    files: tuple[str, ...]
    passed_over: Mapping[str, int]
    """How many objects there are of each kind that makes no pods; sorted by kind."""

    skipped: tuple[SkippedFile, ...]


def read_workloads(paths: Sequence[str], stdin: Callable[[], bytes]) -> Workloads:
    """Read the pods that stand in files and folders; `-` is what `stdin` gives.

    Bad input becomes findings, never an error; so does input without any pods.
    """
    found = read_manifests(paths, stdin, wanted=_makes_pods)
    templates: list[PodTemplate] = []
    findings = list(found.findings)
    for each in found.objects:
        _take(each, templates, findings)
    if not templates and not any(finding.severity is Severity.ERROR for finding in findings):
        findings.append(_nothing(paths))
    kept = [each.kind for each in found.objects]
    return Workloads(
        templates=tuple(templates),
        findings=in_file_order(findings, found.files),
        files=found.files,
        passed_over={
            kind: count - kept.count(kind) for kind, count in found.kinds.items() if count > kept.count(kind)
        },
        skipped=found.skipped,
    )


def _makes_pods(found: Identity, node: Located) -> bool:
    return found.group not in _KARPENTER and (
        found.kind in ELSEWHERE
        or is_workload_kind(found.kind)
        or next(read_templates(found.kind, found.group, node), None) is not None
    )


def _take(each: KarpenterObject, templates: list[PodTemplate], findings: list[Finding]) -> None:
    """Return the pods of one object, and what is wrong with how many there are."""
    body, group = each.body, text_at(each.body, "apiVersion").rpartition("/")[0]
    if each.kind in ELSEWHERE:
        findings.append(_elsewhere(each))
        return
    found = list(read_templates(each.kind, group, body))
    if not found:
        findings.append(_no_template(each, group))
    for part in found:
        count = _count(part, each, findings)
        if isinstance(part.spec.value, dict):
            templates.append(_template(part, each, count))
        else:
            message = f"`{part.path}` must be a pod spec, which is a map"
            at = place(part.spec)
            findings.append(Finding(Code.POD_SPEC, message, at, path=part.path, object=each.label))


def _template(part: TemplatePart, each: KarpenterObject, count: int) -> PodTemplate:
    labels = {key: label.value for key, label in mapping(part.labels).items() if isinstance(label.value, str)}
    is_daemon = each.kind == _ON_EVERY_NODE
    namespace = text_at(each.body, "metadata", "namespace")
    count_or_none = None if is_daemon else count
    return PodTemplate(
        each.label, part.role, count_or_none, namespace, labels, part.spec, part.path, part.note
    )


def _count(part: TemplatePart, each: KarpenterObject, findings: list[Finding]) -> int:
    """Multiply how many there are of each level: groups, and pods in a group."""
    product = 1
    for node in part.counts:
        if node is None or node.value is None:
            continue
        if type(node.value) is int and node.value >= 0:
            product *= node.value
        else:
            message = "the number of pods must be a whole number, 0 or more"
            findings.append(Finding(Code.POD_SPEC, message, place(node), object=each.label))
    return max(product - part.less * _first(part), 0)


def _first(part: TemplatePart) -> int:
    node = part.counts[0] if part.counts else None
    return node.value if node is not None and type(node.value) is int else 1


def _no_template(each: KarpenterObject, group: str) -> Finding:
    """Refuse an object without pods; of a kind that is not Kubernetes' own they may come from elsewhere."""
    severity = Severity.ERROR if group in _KUBERNETES else Severity.WARNING
    message = f"this {each.kind} has no pod {'spec' if each.kind == 'Pod' else 'template'}"
    fix = "add `spec.containers`" if each.kind == "Pod" else "add the pod template"
    return Finding(Code.POD_SPEC, message, each.at, fix, severity, object=each.label)


def _elsewhere(each: KarpenterObject) -> Finding:
    message = f"the pods of a {each.kind} are not checked: {ELSEWHERE[each.kind]}"
    return Finding(Code.PODS_ELSEWHERE, message, each.at, "", Severity.WARNING, object=each.label)


def _nothing(paths: Sequence[str]) -> Finding:
    message = "no object here creates pods"
    fix = "pass files with a Pod, Job, Deployment, PyTorchJob or similar"
    return Finding(Code.NO_PODS, message, Location(paths[0] if paths else "-"), fix)
