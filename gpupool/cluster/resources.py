"""Kinds of Kubernetes objects that gpupool reads and writes, and their API paths."""

from __future__ import annotations

from typing import Final, NamedTuple


class ResourceKind(NamedTuple):
    """A cluster-scoped kind of Karpenter's."""

    name: str
    group: str
    version: str
    plural: str

    @property
    def api_version(self) -> str:
        """Return the `apiVersion` of its objects."""
        return f"{self.group}/{self.version}"

    @property
    def crd(self) -> str:
        """Return the name of its CustomResourceDefinition."""
        return f"{self.plural}.{self.group}"

    @property
    def path(self) -> str:
        """Return the path of the collection."""
        return f"/apis/{self.group}/{self.version}/{self.plural}"

    def path_of(self, name: str) -> str:
        """Return the path of one object."""
        return f"{self.path}/{name}"


EC2_NODE_CLASS: Final = ResourceKind("EC2NodeClass", "karpenter.k8s.aws", "v1", "ec2nodeclasses")
NODE_OVERLAY: Final = ResourceKind("NodeOverlay", "karpenter.sh", "v1alpha1", "nodeoverlays")
NODE_POOL: Final = ResourceKind("NodePool", "karpenter.sh", "v1", "nodepools")
NODE_CLAIM: Final = ResourceKind("NodeClaim", "karpenter.sh", "v1", "nodeclaims")

KINDS: Final = {kind.name: kind for kind in (EC2_NODE_CLASS, NODE_OVERLAY, NODE_POOL)}
"""The kinds that are applied, in this order, as a pool needs its class; deletions run in reverse."""

KUBE_SYSTEM: Final = "/api/v1/namespaces/kube-system"
EVENTS: Final = "/api/v1/namespaces/default/events"
"""The path of the events of cluster-scoped objects."""


def crd_path(crd: str) -> str:
    """Return the path of a CustomResourceDefinition."""
    return f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{crd}"


def config_map_path(namespace: str, name: str = "") -> str:
    """Return the path of a ConfigMap, or of all of a namespace."""
    return f"/api/v1/namespaces/{namespace}/configmaps{'/' * bool(name)}{name}"


def lease_path(namespace: str, name: str = "") -> str:
    """Return the path of a Lease, or of all of a namespace."""
    return f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases{'/' * bool(name)}{name}"
