"""The blueprint: the user's file as types."""

from typing import Annotated, Literal, TypeAlias

from pydantic import ConfigDict, Field

from gpupool.blueprint.constraint import Texts
from gpupool.blueprint.nodeclass import BlueprintNodeClass, NodeClassFields, ObjectMetadata
from gpupool.blueprint.pool import BlueprintAmount, BlueprintLimits, BlueprintPool, Name, PoolFields
from gpupool.helm.releases import NvidiaDevicePluginRelease
from gpupool.karpenter.v1alpha1.nodeoverlay import NodeOverlaySpec
from gpupool.shapes import suggestions
from gpupool.shapes.annotations import Matching
from gpupool.shapes.base import Shape

BlueprintName: TypeAlias = Annotated[
    str,
    Matching(
        r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$",
        "a name of lower-case letters, digits and `-`, at most 63 characters",
        suggestions.suggest_name,
    ),
]
ClusterName: TypeAlias = Annotated[
    str, Matching(r"^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$", "an EKS cluster's name")
]
KarpenterMinor: TypeAlias = Annotated[str, Matching(r"^1\.[0-9]{1,2}$", 'a minor version such as "1.14"')]


class Metadata(Shape):
    """The blueprint's name."""

    name: BlueprintName | None = None
    """The blueprint's name. `gpupool apply` finds its objects by this name, so do not change it."""


class BlueprintCluster(Shape):
    """The cluster that the pools are for."""

    name: ClusterName | None = None
    """The EKS cluster's name; the default node role and discovery tags contain it."""

    region: (
        Annotated[
            str,
            Matching(r"^[a-z]{2}(-[a-z]+)+-[0-9]$", "a region such as us-east-1", suggestions.suggest_region),
        ]
        | None
    ) = None
    """The AWS region."""

    zones: Texts | None = None
    """The default of every pool's `zones`: zone names, letters or zone ids."""

    timezone: str | None = None
    """The default time zone of disruption windows: an IANA name such as `America/New_York`."""

    karpenter: KarpenterMinor | None = None
    """The Karpenter minor version that runs in the cluster. Default: "1.14"."""

    kubernetes: KarpenterMinor | None = None
    """The Kubernetes minor version of the cluster."""

    context: str | None = None
    """The only kubeconfig context that the blueprint can be applied to."""

    server: str | None = None
    """The only API server address that the blueprint can be applied to."""

    uid: str | None = None
    """The uid of the kube-system namespace of the only cluster that the blueprint can be applied to."""

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
    """Karpenter feature gates that are enabled in the cluster, besides those that are on by default."""

    catalogue: str | None = None
    """The file of instance types and prices to use, relative to this file, as written by `gpupool catalogue
    refresh --to FILE`. Default: the catalogue that is part of gpupool."""

    daemon_overhead: dict[str, BlueprintAmount | None] | None = None
    """What DaemonSets request on each node, by resource, as in `{cpu: 500m, memory: 1Gi}`. Used by
    `gpupool fit`; not rendered."""


class Defaults(Shape):
    """Defaults of every pool and every node class; a profile, a pool or a node class overrides them."""

    pool: PoolFields | None = None
    """Default fields of every pool."""

    node_class: NodeClassFields | None = None
    """Default fields of every node class."""


class BlueprintNodeOverlay(NodeOverlaySpec):
    """A NodeOverlay with Karpenter's own fields: prices or extra resources that its simulation assumes."""

    metadata: ObjectMetadata | None = None
    """Labels and annotations of the NodeOverlay object."""


class Stack(Shape):
    """The charts whose Helm values are rendered together with the pools."""

    nvidia_device_plugin: NvidiaDevicePluginRelease | None = Field(None, alias="nvidia-device-plugin")
    """NVIDIA's device plugin; rendered for every NVIDIA pool whose image does not contain one."""


class BlueprintInventory(Shape):
    """Where gpupool keeps the list of the objects that it applied."""

    namespace: (
        Annotated[str, Matching(r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$", "a namespace's name")] | None
    ) = None
    """The namespace of the inventory and the lock. Default: kube-system. Do not change it after the first
    apply: gpupool finds its objects only through the inventory in this namespace."""


class Blueprint(Shape):
    """Which GPU capacity a cluster may have."""

    model_config = ConfigDict(title="gpupool blueprint")

    api_version: Literal["gpupool.dev/v1alpha1"]
    """The version of the blueprint's API."""

    kind: Literal["Blueprint"]
    """The kind of this file."""

    metadata: Metadata | None = None
    """The blueprint's name."""

    cluster: BlueprintCluster | None = None
    """The cluster that the pools are for."""

    defaults: Defaults | None = None
    """Defaults of every pool and every node class; a profile, a pool or a node class overrides them."""

    node_classes: dict[Name, BlueprintNodeClass | None] | None = None
    """Node classes that several pools share, by name."""

    pools: dict[Name, BlueprintPool | None] | None = None
    """The pools, by name."""

    node_overlays: dict[Name, BlueprintNodeOverlay | None] | None = None
    """NodeOverlays, by name."""

    limits: BlueprintLimits | None = None
    """Caps on the sum of the limits of all pools and tiers. Checked and not rendered: Karpenter has no such
    limit."""

    stack: Stack | None = None
    """The charts whose Helm values are rendered together with the pools; `null` turns one off."""

    inventory: BlueprintInventory | None = None
    """Where gpupool keeps the list of the objects that it applied."""

    prune: bool | None = None
    """true: `gpupool apply` deletes objects that were removed from the blueprint, as with --prune."""

    sensitive: list[str] | None = None
    """Keys of tags, annotations and labels whose values are hidden in plans and reports; `*` matches any
    text, as in `[vault-*]`, and `context` hides that field of node classes. User data and keys that look
    like those of secrets are always hidden."""
