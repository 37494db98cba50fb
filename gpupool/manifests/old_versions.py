"""Migration findings for objects of Karpenter's API versions before v1."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpupool.codes import Code
from gpupool.findings import Finding
from gpupool.manifests.kinds import CURRENT, OLD, Identity
from gpupool.yamlio.located import Located, find, text_at

if TYPE_CHECKING:
    from collections.abc import Iterator


class _MovedField(NamedTuple):
    """A field that v1 does not have at this path."""

    path: str
    fix: str
    value: str | None = None
    """If set, only this value has to change."""


_NODE_POOL = (
    _MovedField("spec.disruption.expireAfter", "move it to `spec.template.spec.expireAfter`"),
    _MovedField(
        "spec.disruption.consolidationPolicy",
        "write `consolidationPolicy: WhenEmptyOrUnderutilized` and `consolidateAfter: 0s`",
        "WhenUnderutilized",
    ),
    _MovedField("spec.template.spec.kubelet", "move it to `spec.kubelet` of the EC2NodeClass"),
    _MovedField(
        "spec.template.spec.nodeClassRef.apiVersion",
        "write `group: karpenter.k8s.aws` and `kind: EC2NodeClass` instead",
    ),
)
_PROVISIONER = (
    _MovedField("spec.requirements", "move it to `spec.template.spec.requirements`"),
    _MovedField("spec.taints", "move it to `spec.template.spec.taints`"),
    _MovedField("spec.startupTaints", "move it to `spec.template.spec.startupTaints`"),
    _MovedField("spec.labels", "move it to `spec.template.metadata.labels`"),
    _MovedField("spec.annotations", "move it to `spec.template.metadata.annotations`"),
    _MovedField("spec.kubeletConfiguration", "move it to `spec.kubelet` of the EC2NodeClass"),
    _MovedField(
        "spec.providerRef",
        "write `spec.template.spec.nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: NAME}`",
    ),
    _MovedField(
        "spec.provider", "write an EC2NodeClass, and refer to it in `spec.template.spec.nodeClassRef`"
    ),
    _MovedField("spec.limits.resources", "move its entries to `spec.limits`"),
    _MovedField("spec.ttlSecondsUntilExpired", "write `spec.template.spec.expireAfter`, such as `720h`"),
    _MovedField(
        "spec.ttlSecondsAfterEmpty",
        "write `spec.disruption` with `consolidationPolicy: WhenEmpty` and `consolidateAfter`, such as `30s`",
    ),
    _MovedField(
        "spec.consolidation",
        "write `spec.disruption` with `consolidationPolicy: WhenEmptyOrUnderutilized` and `consolidateAfter`",
    ),
)
_NODE_TEMPLATE = (
    _MovedField("spec.subnetSelector", "write `spec.subnetSelectorTerms`, a list with `tags` or `id`"),
    _MovedField(
        "spec.securityGroupSelector",
        "write `spec.securityGroupSelectorTerms`, a list with `tags`, `id` or `name`",
    ),
    _MovedField(
        "spec.amiSelector", "write `spec.amiSelectorTerms`, a list with `alias`, `tags`, `id` or `name`"
    ),
    _MovedField("spec.launchTemplate", "set the launch template's settings as fields of the EC2NodeClass"),
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


def find_old_fields(identity: Identity, node: Located) -> Iterator[Finding]:
    """Find what has to change in an object of an old version; nothing for any other object."""
    key = (identity.api_version, identity.kind)
    if key not in OLD:
        return
    yield _build_object_finding(identity, node)
    for moved_field in _MOVED[key]:
        field = find(node, *moved_field.path.split("."))
        if field is not None and (moved_field.value is None or field.value == moved_field.value):
            message = _describe_moved(moved_field)
            yield _build_finding(identity, field, moved_field.path, message, moved_field.fix)
    if OLD[key] == "EC2NodeClass":
        yield from _find_lone_family(identity, node)
    if identity.kind == "NodePool":
        yield from _find_incomplete_reference(identity, node)


def _build_object_finding(identity: Identity, node: Located) -> Finding:
    kind = OLD[identity.api_version, identity.kind]
    new_version = f"`apiVersion: {CURRENT[kind]}`"
    article = "an" if kind[0] in "AEIO" else "a"
    instead = f"write {article} {kind} instead: {new_version} and `kind: {kind}`"
    fix = f"write {new_version}" if kind == identity.kind else instead
    removal_note = " (removed in Karpenter 1.1)" if identity.api_version.endswith("/v1beta1") else ""
    message = f"{identity.kind} in `{identity.api_version}` is no longer served{removal_note}"
    at = (find(node, "apiVersion") or node).at
    return Finding(Code.OLD_VERSION, message, at, fix, path="apiVersion", object=identity.label)


def _describe_moved(moved_field: _MovedField) -> str:
    name = moved_field.path.rpartition(".")[2]
    if moved_field.value is not None:
        return f"`{name}: {moved_field.value}` does not exist in Karpenter v1"
    return f"`{moved_field.path}` does not exist in Karpenter v1"


def _find_lone_family(identity: Identity, node: Located) -> Iterator[Finding]:
    """Find an AMI family without the selector terms that v1 requires."""
    family = find(node, "spec", "amiFamily")
    if family is None or find(node, "spec", "amiSelectorTerms") or find(node, "spec", "amiSelector"):
        return
    alias = _ALIASES.get(str(family.value))
    fix = "write `amiSelectorTerms`, a list with `alias`, `tags`, `id`, `name` or `ssmParameter`"
    if alias:
        fix = f"write `amiSelectorTerms: [{{alias: {alias}@VERSION}}]` with your version"
    message = "`amiSelectorTerms` is required in Karpenter v1: `amiFamily` alone selects no AMI"
    yield _build_finding(identity, family, "spec.amiFamily", message, fix)


def _find_incomplete_reference(identity: Identity, node: Located) -> Iterator[Finding]:
    """Find a node class reference without a kind, which v1beta1 did not require."""
    path = "spec.template.spec.nodeClassRef"
    reference = find(node, *path.split("."))
    if reference is None or find(reference, "apiVersion") or text_at(reference, "kind"):
        return
    fix = "add `group: karpenter.k8s.aws` and `kind: EC2NodeClass`"
    yield _build_finding(
        identity, reference, path, "`nodeClassRef` requires `group` and `kind` in Karpenter v1", fix
    )


def _build_finding(identity: Identity, field: Located, path: str, message: str, fix: str) -> Finding:
    return Finding(Code.OLD_VERSION, message, field.key or field.at, fix, path=path, object=identity.label)
