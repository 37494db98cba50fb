"""What to change in objects of the API versions that Karpenter had before v1."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpupool.codes import Code
from gpupool.findings import Finding
from gpupool.manifests.kinds import CURRENT, OLD, Identity
from gpupool.yamlio.located import Located, find, text_at

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Moved(NamedTuple):
    """A field that v1 does not have in this place."""

    path: str
    fix: str
    value: str | None = None
    """The change is about this value only."""


_NODE_POOL = (
    _Moved("spec.disruption.expireAfter", "move it to `spec.template.spec.expireAfter`"),
    _Moved(
        "spec.disruption.consolidationPolicy",
        "write `consolidationPolicy: WhenEmptyOrUnderutilized` and `consolidateAfter: 0s`",
        "WhenUnderutilized",
    ),
    _Moved("spec.template.spec.kubelet", "move it to `spec.kubelet` of the EC2NodeClass"),
    _Moved(
        "spec.template.spec.nodeClassRef.apiVersion",
        "write `group: karpenter.k8s.aws` and `kind: EC2NodeClass` instead",
    ),
)
_PROVISIONER = (
    _Moved("spec.requirements", "move it to `spec.template.spec.requirements`"),
    _Moved("spec.taints", "move it to `spec.template.spec.taints`"),
    _Moved("spec.startupTaints", "move it to `spec.template.spec.startupTaints`"),
    _Moved("spec.labels", "move it to `spec.template.metadata.labels`"),
    _Moved("spec.annotations", "move it to `spec.template.metadata.annotations`"),
    _Moved("spec.kubeletConfiguration", "move it to `spec.kubelet` of the EC2NodeClass"),
    _Moved(
        "spec.providerRef",
        "write `spec.template.spec.nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: NAME}`",
    ),
    _Moved("spec.provider", "write an EC2NodeClass, and refer to it in `spec.template.spec.nodeClassRef`"),
    _Moved("spec.limits.resources", "move its entries to `spec.limits`"),
    _Moved("spec.ttlSecondsUntilExpired", "write `spec.template.spec.expireAfter`, such as `720h`"),
    _Moved(
        "spec.ttlSecondsAfterEmpty",
        "write `spec.disruption` with `consolidationPolicy: WhenEmpty` and `consolidateAfter`, such as `30s`",
    ),
    _Moved(
        "spec.consolidation",
        "write `spec.disruption` with `consolidationPolicy: WhenEmptyOrUnderutilized` and `consolidateAfter`",
    ),
)
_NODE_TEMPLATE = (
    _Moved("spec.subnetSelector", "write `spec.subnetSelectorTerms`, a list with `tags` or `id`"),
    _Moved(
        "spec.securityGroupSelector",
        "write `spec.securityGroupSelectorTerms`, a list with `tags`, `id` or `name`",
    ),
    _Moved("spec.amiSelector", "write `spec.amiSelectorTerms`, a list with `alias`, `tags`, `id` or `name`"),
    _Moved("spec.launchTemplate", "set the launch template's settings as fields of the EC2NodeClass"),
)
_MOVED = {
    ("karpenter.sh/v1beta1", "NodePool"): _NODE_POOL,
    ("karpenter.sh/v1alpha5", "Provisioner"): _PROVISIONER,
    ("karpenter.k8s.aws/v1alpha1", "AWSNodeTemplate"): _NODE_TEMPLATE,
    ("karpenter.k8s.aws/v1beta1", "EC2NodeClass"): (),
}
_ALIASES = {
    "AL2": "al2",
    "AL2023": "al2023",
    "Bottlerocket": "bottlerocket",
    "Windows2019": "windows2019",
    "Windows2022": "windows2022",
}


def find_old_fields(found: Identity, node: Located) -> Iterator[Finding]:
    """Yield what has to change in an object of an old version; nothing for one of another."""
    key = (found.api_version, found.kind)
    if key not in OLD:
        return
    yield _of_the_whole(found, node)
    for moved in _MOVED[key]:
        field = find(node, *moved.path.split("."))
        if field is not None and (moved.value is None or field.value == moved.value):
            message = _message(moved)
            yield _finding(found, field, moved.path, message, moved.fix)
    if OLD[key] == "EC2NodeClass":
        yield from _family_alone(found, node)
    if found.kind == "NodePool":
        yield from _incomplete_reference(found, node)


def _of_the_whole(found: Identity, node: Located) -> Finding:
    kind = OLD[found.api_version, found.kind]
    new = f"`apiVersion: {CURRENT[kind]}`"
    fix = f"write {new}" if kind == found.kind else f"write a {kind} instead: {new} and `kind: {kind}`"
    removed = " (removed in Karpenter 1.1)" if found.api_version.endswith("/v1beta1") else ""
    message = f"{found.kind} in `{found.api_version}` is no longer served{removed}"
    at = (find(node, "apiVersion") or node).at
    return Finding(Code.OLD_VERSION, message, at, fix, path="apiVersion", object=found.label)


def _message(moved: _Moved) -> str:
    name = moved.path.rpartition(".")[2]
    if moved.value is not None:
        return f"`{name}: {moved.value}` does not exist in Karpenter v1"
    return f"`{moved.path}` does not exist in Karpenter v1"


def _family_alone(found: Identity, node: Located) -> Iterator[Finding]:
    """Ask for the image terms that v1 wants beside, or in place of, a family."""
    family = find(node, "spec", "amiFamily")
    if family is None or find(node, "spec", "amiSelectorTerms") or find(node, "spec", "amiSelector"):
        return
    alias = _ALIASES.get(str(family.value))
    fix = "write `amiSelectorTerms`, a list with `alias`, `tags`, `id`, `name` or `ssmParameter`"
    if alias:
        fix = f"write `amiSelectorTerms: [{{alias: {alias}@VERSION}}]` with your version"
    message = "`amiSelectorTerms` is required in Karpenter v1: `amiFamily` alone selects no AMI"
    yield _finding(found, family, "spec.amiFamily", message, fix)


def _incomplete_reference(found: Identity, node: Located) -> Iterator[Finding]:
    """Ask for the kind of the node class, which v1beta1 could leave out."""
    path = "spec.template.spec.nodeClassRef"
    reference = find(node, *path.split("."))
    if reference is None or find(reference, "apiVersion") or text_at(reference, "kind"):
        return
    fix = "add `group: karpenter.k8s.aws` and `kind: EC2NodeClass`"
    yield _finding(found, reference, path, "`nodeClassRef` requires `group` and `kind` in Karpenter v1", fix)


def _finding(found: Identity, field: Located, path: str, message: str, fix: str) -> Finding:
    return Finding(Code.OLD_VERSION, message, field.key or field.at, fix, path=path, object=found.label)
