"""Expanded pools, classes and overlays become Kubernetes objects, checked against Karpenter's own types."""

from gpupool.errors import InputError
from gpupool.expansion.expanded import Expanded, ExpandedClass, ExpandedOverlay, ExpandedPool
from gpupool.findings import has_errors, in_file_order
from gpupool.karpenter.validation.check import check
from gpupool.objects import Manifest, Ref
from gpupool.yamlio.nodes import Node, leaf, mapping, plain, tree

_VERSIONS = {
    "NodePool": "karpenter.sh/v1",
    "EC2NodeClass": "karpenter.k8s.aws/v1",
    "NodeOverlay": "karpenter.sh/v1alpha1",
}
_CLASS_ORDER = (
    "amiFamily", "amiSelectorTerms", "role", "instanceProfile",
    "subnetSelectorTerms", "securityGroupSelectorTerms", "capacityReservationSelectorTerms",
    "placementGroupSelector", "blockDeviceMappings", "instanceStorePolicy", "networkInterfaces",
    "metadataOptions", "tags",
)  # fmt: skip


def manifests(expanded: Expanded) -> tuple[Manifest, ...]:
    """Give every object: classes, then overlays, then pools, each kind by name.

    Raises:
        InputError: where the API server or Karpenter would refuse one, at the place in the blueprint that
            causes it.
    """
    made = [
        *(node_class(item) for item in expanded.classes),
        *(node_overlay(item) for item in sorted(expanded.overlays, key=lambda item: item.name)),
        *(node_pool(item) for item in sorted(expanded.pools, key=lambda item: item.name)),
    ]
    found = [
        finding for item in made for finding in check(item.ref.kind, item.body, expanded.karpenter, item.data)
    ]
    if has_errors(found):
        raise InputError(in_file_order(found))
    return tuple(made)


def node_pool(pool: ExpandedPool) -> Manifest:
    """Give a NodePool."""
    template_metadata = {"labels": pool.labels, "annotations": pool.annotations}
    template = {
        "metadata": tree(template_metadata, pool.at) if pool.labels or pool.annotations else None,
        "spec": tree(
            {
                "nodeClassRef": pool.class_ref,
                "requirements": pool.requirements,
                "taints": pool.taints,
                "startupTaints": pool.startup_taints,
                "expireAfter": pool.expire_after,
                "terminationGracePeriod": pool.termination_grace_period,
            },
            pool.at,
        ),
    }
    spec = {
        "template": tree(template, pool.at),
        "disruption": pool.disruption,
        "limits": pool.limits,
        "weight": pool.weight,
        "replicas": pool.replicas,
    }
    return _object("NodePool", pool.name, pool.path, pool.metadata, tree(spec, pool.at))


def node_class(item: ExpandedClass) -> Manifest:
    """Give an EC2NodeClass; its fields in one order, those that are rare at the end."""
    said = mapping(item.spec)
    ordered = {key: said[key] for key in (*_CLASS_ORDER, *sorted(said)) if key in said}
    return _object("EC2NodeClass", item.name, item.path, item.metadata, tree(dict(ordered), item.spec))


def node_overlay(item: ExpandedOverlay) -> Manifest:
    """Give a NodeOverlay."""
    return _object("NodeOverlay", item.name, item.path, item.metadata, item.spec)


def _object(kind: str, name: str, path: str, metadata: Node | None, spec: Node) -> Manifest:
    said = mapping(metadata)
    head = {
        "name": leaf(name, Node(None, spec.key or spec.at)),
        "labels": said.get("labels"),
        "annotations": said.get("annotations"),
    }
    body = {
        "apiVersion": leaf(_VERSIONS[kind], spec),
        "kind": leaf(kind, spec),
        "metadata": tree(head, spec),
        "spec": spec,
    }
    whole = tree(dict(body), spec)
    return Manifest(Ref(kind, name), path, whole, plain(whole))
