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
    """Kubelet settings of the nodes, and what Karpenter reckons with when it sizes them.

    A node class of family Custom passes none of it to the node, so say it again in `userData` there.
    """

    cluster_dns: list[Text] | None = Field(default=None, alias="clusterDNS")
    """Addresses of the cluster's DNS; all families but AL2023 use only the first."""

    max_pods: Count | None = None
    """Greatest number of pods on a node. Absent: what the instance's network interfaces allow."""

    pods_per_core: Count | None = None
    """Greatest number of pods per vCPU; beside `maxPods` the smaller counts. Bottlerocket ignores it."""

    system_reserved: dict[ReservedResource, Quantity] | None = None
    """What is kept back for the operating system; not for pods."""

    kube_reserved: dict[ReservedResource, Quantity] | None = None
    """What is kept back for the kubelet and the container runtime. Absent: reckoned from the instance."""

    eviction_hard: dict[EvictionSignal, EvictionThreshold] | None = None
    """Free resources below which the kubelet evicts pods at once; they are kept from pods as well."""

    eviction_soft: dict[EvictionSignal, EvictionThreshold] | None = None
    """Free resources below which the kubelet evicts pods after the grace period of the same signal."""

    eviction_soft_grace_period: dict[EvictionSignal, Text] | None = None
    """How long each soft threshold may be crossed, as a Go duration such as `1m30s`.

    Any text passes the API, but one that is no duration stops Karpenter from reading any node class.
    """

    eviction_max_pod_grace_period: Int32 | None = None
    """Seconds that a pod gets at most to end on a soft eviction."""

    image_gc_high_threshold_percent: Percent | None = Field(default=None, alias="imageGCHighThresholdPercent")
    """Disk use in percent at which unused images are always removed; above the low one."""

    image_gc_low_threshold_percent: Percent | None = Field(default=None, alias="imageGCLowThresholdPercent")
    """Disk use in percent down to which they are removed."""

    cpu_cfs_quota: Flag | None = Field(default=None, alias="cpuCFSQuota")
    """Whether CPU limits of containers are enforced."""
