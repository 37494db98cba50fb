"""Table of a blueprint's fields: the user's file as types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from gpupool.blueprint.base import BlueprintFields
from gpupool.blueprint.nodeclass import BlueprintNodeClass, NodeClassFields, ObjectMetadata
from gpupool.blueprint.pool import BlueprintLimits, BlueprintPool, PoolFields
from gpupool.helm.releases import NvidiaDevicePluginRelease
from gpupool.shapes.fields import ListOf, MapOf, Named, One, Part, Several

if TYPE_CHECKING:
    from gpupool.blueprint.types import (
        BlueprintAmount,
        BlueprintName,
        ClusterName,
        Feature,
        Flag,
        KarpenterMinor,
        NamespaceName,
        Region,
        Text,
        YamlValue,
    )

_NODE_POOLS = "set each group under `pools`; gpupool renders Karpenter NodePools, not node groups"
_STATIC_MANIFEST = "use the chart; the static manifest has no affinity and runs beside the chart"


class Metadata(BlueprintFields):
    """The blueprint's name."""

    name: One[BlueprintName] = One()
    """The blueprint's name. `gpupool apply` finds its objects by this name, so do not change it."""


class BlueprintCluster(BlueprintFields):
    """The cluster that the pools are for."""

    name: One[ClusterName] = One()
    """The EKS cluster's name; the default node role and discovery tags contain it."""

    region: One[Region] = One()
    """The AWS region."""

    zones: Several[Text] = Several()
    """The default of every pool's `zones`: zone names, letters or zone ids."""

    timezone: One[Text] = One()
    """The default time zone of disruption windows: an IANA name such as `America/New_York`."""

    karpenter: One[KarpenterMinor] = One()
    """The Karpenter minor version that runs in the cluster. Default: "1.14"."""

    kubernetes: One[KarpenterMinor] = One()
    """The Kubernetes minor version of the cluster."""

    context: One[Text] = One()
    """The only kubeconfig context that the blueprint can be applied to."""

    server: One[Text] = One()
    """The only API server address that the blueprint can be applied to."""

    uid: One[Text] = One()
    """The uid of the kube-system namespace of the only cluster that the blueprint can be applied to."""

    features: ListOf[Feature] = ListOf()
    """Karpenter feature gates that are enabled in the cluster, besides those that are on by default."""

    catalogue: One[Text] = One()
    """The file of instance types and prices to use, relative to this file, as written by `gpupool catalogue
    refresh --to FILE`. Default: the catalogue that is part of gpupool."""

    daemon_overhead: MapOf[BlueprintAmount] = MapOf()
    """What DaemonSets request on each node, by resource, as in `{cpu: 500m, memory: 1Gi}`. Used by
    `gpupool fit`; not rendered."""


class Defaults(BlueprintFields):
    """Defaults of every pool and every node class; a profile, a pool or a node class overrides them."""

    pool = Part(PoolFields)
    """Default fields of every pool."""

    node_class = Part(NodeClassFields)
    """Default fields of every node class."""


class BlueprintNodeOverlay(BlueprintFields):
    """A NodeOverlay with Karpenter's own fields: prices or extra resources that its simulation assumes."""

    inherits = "gpupool.karpenter.v1alpha1.nodeoverlay:NodeOverlaySpec"

    metadata = Part(ObjectMetadata)
    """Labels and annotations of the NodeOverlay object."""

    requirements: ListOf[YamlValue] = ListOf(is_inherited=True)


class Stack(BlueprintFields):
    """The charts whose Helm values are rendered together with the pools."""

    nvidia_device_plugin = Part(
        NvidiaDevicePluginRelease,
        key="nvidia-device-plugin",
        hints={"staticManifest": _STATIC_MANIFEST, "manifest": _STATIC_MANIFEST},
    )
    """NVIDIA's device plugin; rendered for every NVIDIA pool whose image does not contain one."""


class BlueprintInventory(BlueprintFields):
    """Where gpupool keeps the list of the objects that it applied."""

    namespace: One[NamespaceName] = One()
    """The namespace of the inventory and the lock. Default: kube-system. Do not change it after the first
    apply: gpupool finds its objects only through the inventory in this namespace."""


class Blueprint(BlueprintFields):
    """Which GPU capacity a cluster may have."""

    title = "gpupool blueprint"

    api_version: Annotated[One[Text], Literal["gpupool.dev/v1alpha1"]] = One(is_required=True)
    """The version of the blueprint's API."""

    kind: Annotated[One[Text], Literal["Blueprint"]] = One(is_required=True)
    """The kind of this file."""

    metadata = Part(Metadata)
    """The blueprint's name."""

    cluster = Part(BlueprintCluster)
    """The cluster that the pools are for."""

    defaults = Part(Defaults)
    """Defaults of every pool and every node class; a profile, a pool or a node class overrides them."""

    node_classes = Named(BlueprintNodeClass)
    """Node classes that several pools share, by name."""

    pools = Named(
        BlueprintPool,
        hints={
            "nodeGroups": _NODE_POOLS,
            "managedNodeGroups": _NODE_POOLS,
            "autoScalingGroup": _NODE_POOLS,
            "Resources": "set each node group under `pools`; gpupool does not read CloudFormation",
        },
    )
    """The pools, by name."""

    node_overlays = Named(BlueprintNodeOverlay)
    """NodeOverlays, by name."""

    limits = Part(BlueprintLimits)
    """Caps on the sum of the limits of all pools and tiers. Checked and not rendered: Karpenter has no such
    limit."""

    stack = Part(Stack)
    """The charts whose Helm values are rendered together with the pools; `null` turns one off."""

    inventory = Part(BlueprintInventory)
    """Where gpupool keeps the list of the objects that it applied."""

    prune: One[Flag] = One()
    """true: `gpupool apply` deletes objects that were removed from the blueprint, as with --prune."""

    sensitive: ListOf[Text] = ListOf()
    """Keys of tags, annotations and labels whose values are hidden in plans and reports; `*` matches any
    text, as in `[vault-*]`, and `context` hides that field of node classes. User data and keys that look
    like those of secrets are always hidden."""
