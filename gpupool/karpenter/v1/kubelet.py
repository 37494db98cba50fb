"""The kubelet settings that an EC2NodeClass carries."""

from typing import Annotated, TypeAlias

from pydantic import Field

from gpupool.karpenter.kubelet_keys import EvictionSignal, ReservedResource
from gpupool.karpenter.scalars import (
    Count,
    EvictionThreshold,
    Int32,
    Quantity,
)
from gpupool.shapes.base import Flag, Shape, Text, Whole

Percent: TypeAlias = Annotated[Whole, Field(ge=0, le=100)]


class KubeletConfiguration(Shape):
    """Kubelet settings of the nodes, which Karpenter also uses to calculate their capacity.

    The AMI family Custom does not pass them to the node: repeat them in `userData`.
    """

    cluster_dns: list[Text] | None = Field(default=None, alias="clusterDNS")
    """Addresses of the cluster's DNS; all AMI families except AL2023 use only the first."""

    max_pods: Count | None = None
    """Maximum number of pods on a node. Default: what the network interfaces of the instance allow."""

    pods_per_core: Count | None = None
    """Maximum number of pods per vCPU; with `maxPods`, the smaller applies. Ignored on Bottlerocket."""

    system_reserved: dict[ReservedResource, Quantity] | None = None
    """Resources reserved for the operating system."""

    kube_reserved: dict[ReservedResource, Quantity] | None = None
    """Resources reserved for the kubelet and the container runtime. Default: calculated per instance type."""

    eviction_hard: dict[EvictionSignal, EvictionThreshold] | None = None
    """Free resources below which the kubelet evicts pods at once; not available to pods."""

    eviction_soft: dict[EvictionSignal, EvictionThreshold] | None = None
    """Free resources below which the kubelet evicts pods after the grace period of the same signal."""

    eviction_soft_grace_period: dict[EvictionSignal, Text] | None = None
    """How long each soft threshold may be exceeded, as a Go duration such as `1m30s`.

    The API server accepts any string, but an invalid duration keeps Karpenter from reading any
    EC2NodeClass.
    """

    eviction_max_pod_grace_period: Int32 | None = None
    """Maximum termination grace period of a pod on a soft eviction, in seconds."""

    image_gc_high_threshold_percent: Percent | None = Field(default=None, alias="imageGCHighThresholdPercent")
    """Disk usage in percent at which unused container images are removed; above the low threshold."""

    image_gc_low_threshold_percent: Percent | None = Field(default=None, alias="imageGCLowThresholdPercent")
    """Disk usage in percent down to which unused container images are removed."""

    cpu_cfs_quota: Flag | None = Field(default=None, alias="cpuCFSQuota")
    """Whether CPU limits of containers are enforced."""
