"""The blueprint: the user's file as types."""

from typing import Annotated, Literal, TypeAlias

from pydantic import ConfigDict, Field

from gpupool.blueprint.constraint import Texts
from gpupool.blueprint.nodeclass import NodeClass, NodeClassWords, ObjectMetadata
from gpupool.blueprint.pool import Amount, Limits, Name, Pool, PoolWords
from gpupool.helm.releases import NvidiaDevicePluginRelease
from gpupool.karpenter.v1alpha1.nodeoverlay import NodeOverlaySpec
from gpupool.shapes import repairs
from gpupool.shapes.annotations import Matching
from gpupool.shapes.base import Shape

BlueprintName: TypeAlias = Annotated[
    str,
    Matching(
        r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$",
        "a name of small letters, digits and `-`, at most 63 of them",
        repairs.name,
    ),
]
ClusterName: TypeAlias = Annotated[
    str, Matching(r"^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$", "an EKS cluster's name")
]
Minor: TypeAlias = Annotated[str, Matching(r"^1\.[0-9]{1,2}$", 'a minor version such as "1.14"')]


class Metadata(Shape):
    """Who the blueprint is."""

    name: BlueprintName | None = None
    """The blueprint's name. `gpupool apply` will know its objects by it, so keep it."""


class Cluster(Shape):
    """The cluster that the pools are for."""

    name: ClusterName | None = None
    """The EKS cluster's name; the node role and the discovery tags follow from it."""

    region: (
        Annotated[str, Matching(r"^[a-z]{2}(-[a-z]+)+-[0-9]$", "a region such as us-east-1", repairs.region)]
        | None
    ) = None
    """The AWS region."""

    zones: Texts | None = None
    """The availability zones of pools that name none: names, letters or zone ids."""

    timezone: str | None = None
    """The IANA time zone of disruption windows, as in `America/New_York`."""

    karpenter: Minor | None = None
    """The Karpenter minor version that runs in the cluster; "1.14" unless said."""

    kubernetes: Minor | None = None
    """The Kubernetes minor version of the cluster."""

    context: str | None = None
    """The kubeconfig context that the blueprint may be applied to."""

    server: str | None = None
    """The API server's address that the blueprint may be applied to."""

    uid: str | None = None
    """The uid of the cluster's kube-system namespace: the cluster that the blueprint may be applied to."""

    features: (
        list[
            Literal[
                "NodeOverlay",
                "StaticCapacity",
                "ReservedCapacity",
                "NodeRepair",
                "SpotToSpotConsolidation",
                "CapacityBuffer",
            ]
        ]
        | None
    ) = None
    """Karpenter feature gates that are switched on in the cluster beyond its defaults."""

    catalogue: str | None = None
    """The file of instance types and prices that counts, relative to this file: one that `gpupool catalogue
    refresh --to FILE` wrote. The catalogue that gpupool brings unless said."""

    daemon_overhead: dict[str, Amount | None] | None = None
    """What DaemonSets ask for on each node, by resource, as in `{cpu: 500m, memory: 1Gi}`. `gpupool fit`
    counts it; it is not rendered."""


class Defaults(Shape):
    """What every pool and every node class says unless a profile or the pool says otherwise."""

    pool: PoolWords | None = None
    """Words under every profile and pool."""

    node_class: NodeClassWords | None = None
    """Words under every node class."""


class NodeOverlay(NodeOverlaySpec):
    """A NodeOverlay in Karpenter's own words: prices or extra resources that its simulation shall assume."""

    metadata: ObjectMetadata | None = None
    """Labels and annotations of the NodeOverlay object."""


class Stack(Shape):
    """The charts whose Helm values are rendered beside the pools."""

    nvidia_device_plugin: NvidiaDevicePluginRelease | None = Field(None, alias="nvidia-device-plugin")
    """NVIDIA's device plugin; rendered for every NVIDIA pool whose image does not bring its own."""


class Inventory(Shape):
    """Where gpupool keeps the list of what it applied."""

    namespace: (
        Annotated[str, Matching(r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$", "a namespace's name")] | None
    ) = None
    """The namespace of the inventory and of the lock; kube-system unless said. Leave it as it is once
    something was applied: in another namespace gpupool finds nothing of its own."""


class Blueprint(Shape):
    """Which GPU capacity a cluster may have."""

    model_config = ConfigDict(title="gpupool blueprint")

    api_version: Literal["gpupool.dev/v1alpha1"]
    """The version of this vocabulary."""

    kind: Literal["Blueprint"]
    """What this file is."""

    metadata: Metadata | None = None
    """Who the blueprint is."""

    cluster: Cluster | None = None
    """The cluster that the pools are for."""

    defaults: Defaults | None = None
    """What holds unless a profile or a pool says otherwise."""

    node_classes: dict[Name, NodeClass | None] | None = None
    """Node classes that several pools share, by name."""

    pools: dict[Name, Pool | None] | None = None
    """The pools, by name."""

    node_overlays: dict[Name, NodeOverlay | None] | None = None
    """NodeOverlays, by name."""

    limits: Limits | None = None
    """Caps on the sum over all pools and tiers. Checked, not rendered: Karpenter has no such limit."""

    stack: Stack | None = None
    """The charts whose Helm values are rendered beside the pools; `null` turns one off."""

    inventory: Inventory | None = None
    """Where gpupool keeps the list of what it applied."""

    prune: bool | None = None
    """Whether `gpupool apply` deletes what was removed from the blueprint, without --prune."""

    sensitive: list[str] | None = None
    """Keys of tags, annotations and labels whose values nobody is to see in plans and reports, with `*` for
    any text, as in `[vault-*]`; `context` for that field of node classes. User data, and keys that look like
    a secret's, are hidden anyway."""
