"""The EC2NodeClass of Karpenter's v1 API: the AWS settings of a NodePool's nodes."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from gpupool.karpenter.meta import ObjectMeta
from gpupool.karpenter.scalars import AMIFamily, Count, VolumeType
from gpupool.karpenter.v1.blockdevice import BlockDevice, BlockDeviceMapping
from gpupool.karpenter.v1.instanceoptions import (
    ConnectionTracking,
    CPUOptions,
    MetadataOptions,
    NetworkInterface,
)
from gpupool.karpenter.v1.kubelet import KubeletConfiguration
from gpupool.karpenter.v1.selectorterms import (
    AMISelectorTerm,
    CapacityReservationSelectorTerm,
    PlacementGroupSelector,
    SecurityGroupSelectorTerm,
    SubnetSelectorTerm,
)
from gpupool.shapes.annotations import Since
from gpupool.shapes.base import Flag, Shape, Text

__all__ = [
    "AMISelectorTerm",
    "AMISelectorTerms",
    "BlockDevice",
    "BlockDeviceMapping",
    "CPUOptions",
    "CapacityReservationSelectorTerm",
    "CapacityReservationSelectorTerms",
    "ConnectionTracking",
    "EC2NodeClass",
    "EC2NodeClassFields",
    "EC2NodeClassSpec",
    "KubeletConfiguration",
    "MetadataOptions",
    "NetworkInterface",
    "PlacementGroupSelector",
    "SecurityGroupSelectorTerm",
    "SecurityGroupSelectorTerms",
    "SubnetSelectorTerm",
    "SubnetSelectorTerms",
    "VolumeType",
]

AMISelectorTerms: TypeAlias = Annotated[list[AMISelectorTerm], Field(min_length=1, max_length=30)]
SubnetSelectorTerms: TypeAlias = Annotated[list[SubnetSelectorTerm], Field(max_length=30)]
SecurityGroupSelectorTerms: TypeAlias = Annotated[list[SecurityGroupSelectorTerm], Field(max_length=30)]
CapacityReservationSelectorTerms: TypeAlias = Annotated[
    list[CapacityReservationSelectorTerm], Field(max_length=30)
]


class EC2NodeClassFields(Shape):
    """Every field of an EC2NodeClass except the three required lists.

    Unless noted otherwise, changing a field replaces all nodes of all pools that use the class.
    """

    ami_family: AMIFamily | None = None
    """How the node is set up at boot. Default: the family of the AMI alias; required without an alias.

    `Custom` adds nothing to your user data, which must then register the node itself. A change to
    another family replaces all nodes; setting the family that the alias implies changes nothing.
    """

    capacity_reservation_selector_terms: Annotated[
        CapacityReservationSelectorTerms | None, Since("1.3", gate="ReservedCapacity")
    ] = None
    """Capacity reservations and Capacity Blocks that nodes may use, at most 30 terms. Default: none.

    A pool uses them only if it allows the capacity type `reserved`; the feature gate ReservedCapacity is
    on by default. A change replaces only nodes in reservations that are no longer selected.
    """

    placement_group_selector: Annotated[PlacementGroupSelector | None, Since("1.11")] = None
    """Placement group for all nodes of the class, by name or id."""

    role: Text | None = None
    """Name (not ARN) of the nodes' IAM role, from which Karpenter creates the instance profile.

    Set either this or `instanceProfile`.
    """

    instance_profile: Text | None = None
    """Name of an instance profile that you manage yourself. Set either this or `role`."""

    associate_public_ip_address: Flag | None = Field(default=None, alias="associatePublicIPAddress")
    """Whether nodes get a public IP. Default: the subnet decides. `true` allows only one interface."""

    detailed_monitoring: Flag | None = None
    """Whether CloudWatch gets metrics every minute instead of every five minutes, at extra cost."""

    ip_prefix_count: Count | None = None
    """Number of IP prefixes of the primary interface at launch. A change affects only new nodes."""

    context: Text | None = None
    """Value of EC2's that is passed to the fleet request unchanged; set it only if AWS tells you to."""

    user_data: Text | None = None
    """Script or settings for the first boot of a node; at most 16 KB.

    AL2023 and AL2 merge a MIME document or script with their own, Bottlerocket merges TOML settings, and
    Custom uses it unchanged.
    """

    tags: dict[Text, Text] | None = None
    """Tags of instances, volumes, interfaces and launch templates, in addition to Karpenter's own."""

    block_device_mappings: Annotated[list[BlockDeviceMapping], Field(max_length=50)] | None = None
    """Volumes of the node, at most 50; they replace all default volumes of the AMI family.

    Default: one gp3 volume of 20Gi on AL2 and AL2023; 4Gi and 20Gi on Bottlerocket; 50Gi on Windows.
    """

    instance_store_policy: Literal["RAID0"] | None = None
    """`RAID0` combines the NVMe disks for container images and ephemeral storage. Default: not used."""

    metadata_options: MetadataOptions | None = None
    """The instance metadata service. Default: on, tokens required, not reachable from pods."""

    network_interfaces: Annotated[
        Annotated[list[NetworkInterface], Field(max_length=150)] | None, Since("1.11")
    ] = None
    """Network interfaces of every node, at most 150, such as for EFA.

    Default: EFA interfaces only if a pod requests them. An empty list differs: it means no EFA at all.
    """

    connection_tracking: Annotated[ConnectionTracking | None, Since("1.13")] = None
    """Idle timeouts of tracked connections."""

    cpu_options: Annotated[CPUOptions | None, Since("1.13")] = None
    """Options of the instance's CPU."""

    kubelet: KubeletConfiguration | None = None
    """Kubelet settings. Default: those of Karpenter and the AMI."""


class EC2NodeClassSpec(EC2NodeClassFields):
    """The spec of an EC2NodeClass."""

    ami_selector_terms: AMISelectorTerms
    """Which AMIs nodes use, 1 to 30 terms; an alias must be the only term.

    A node is replaced when its AMI is no longer the one selected for its instance type. With `@latest`
    or at a Kubernetes upgrade, that is every node.
    """

    subnet_selector_terms: SubnetSelectorTerms
    """Which subnets, and so zones, nodes use, 1 to 30 terms; only nodes in other subnets are replaced."""

    security_group_selector_terms: SecurityGroupSelectorTerms
    """Which security groups nodes have, 1 to 30 terms; adding or removing a group replaces all nodes."""


class EC2NodeClass(Shape):
    """A whole EC2NodeClass object."""

    api_version: Literal["karpenter.k8s.aws/v1"] = "karpenter.k8s.aws/v1"
    """Group and version of the API."""

    kind: Literal["EC2NodeClass"] = "EC2NodeClass"
    """Kind of the object."""

    metadata: ObjectMeta
    """Name, labels and annotations of the object itself."""

    spec: EC2NodeClassSpec | None = None
    """The spec. The API server accepts an object without it, but then no node can be launched."""

    status: Any = None
    """Written by Karpenter."""
