"""The EC2NodeClass of Karpenter's v1 API: what AWS needs to know to launch a pool's nodes."""

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
    """Every field of an EC2NodeClass but the three lists that it can't do without.

    Unless a field says otherwise, changing it replaces all nodes of all pools that use the class.
    """

    ami_family: AMIFamily | None = None
    """How the node is set up at boot; absent, an image alias decides, and without one it has to be said.

    `Custom` adds nothing to your user data, which then has to register the node by itself. A change to
    another family replaces all nodes; saying what the alias implies anyway changes nothing.
    """

    capacity_reservation_selector_terms: Annotated[
        CapacityReservationSelectorTerms | None, Since("1.3", gate="ReservedCapacity")
    ] = None
    """Capacity reservations and Capacity Blocks that nodes may use, at most 30 terms; leave it out for none.

    A pool uses them only if it allows the capacity type `reserved`; the feature gate ReservedCapacity is
    on by default. A change replaces only nodes in reservations that are no longer selected.
    """

    placement_group_selector: Annotated[PlacementGroupSelector | None, Since("1.11")] = None
    """Placement group for all nodes of the class, by name or id; new in Karpenter 1.11."""

    role: Text | None = None
    """Name (no ARN) of the nodes' IAM role; Karpenter makes the instance profile. Or `instanceProfile`."""

    instance_profile: Text | None = None
    """Name of an instance profile that you keep yourself. Or `role`: exactly one of the two."""

    associate_public_ip_address: Flag | None = Field(default=None, alias="associatePublicIPAddress")
    """Whether nodes get a public address; absent, the subnet decides. `true` forbids several interfaces."""

    detailed_monitoring: Flag | None = None
    """Whether CloudWatch gets metrics every minute instead of every five; it costs extra."""

    ip_prefix_count: Count | None = None
    """How many IP prefixes the primary interface gets at launch. New nodes only; it replaces none."""

    context: Text | None = None
    """A value of EC2's that is handed to the fleet request unchanged; only if AWS told you to."""

    user_data: Text | None = None
    """Script or settings for the node's first boot; EC2 takes 16 KB.

    AL2023 and AL2 merge a MIME document or script with their own, Bottlerocket its TOML settings, and
    Custom runs it as it is.
    """

    tags: dict[Text, Text] | None = None
    """Tags for instances, volumes, interfaces and launch templates, beside those that Karpenter sets."""

    block_device_mappings: Annotated[list[BlockDeviceMapping], Field(max_length=50)] | None = None
    """Volumes of the node, at most 50; they take the place of the image family's own, all of them.

    Absent: one gp3 volume of 20Gi on AL2 and AL2023; 4Gi and 20Gi on Bottlerocket; 50Gi on Windows.
    """

    instance_store_policy: Literal["RAID0"] | None = None
    """`RAID0` joins the instance's NVMe disks for images and pods' ephemeral storage; absent, they idle."""

    metadata_options: MetadataOptions | None = None
    """The instance metadata service; absent means on, tokens required, out of reach for pods."""

    network_interfaces: Annotated[
        Annotated[list[NetworkInterface], Field(max_length=150)] | None, Since("1.11")
    ] = None
    """Fixed network interfaces, at most 150, for EFA on every node; new in Karpenter 1.11.

    Absent, EFA comes only where a pod asks for it. An empty list is not the same: it says no EFA at all.
    """

    connection_tracking: Annotated[ConnectionTracking | None, Since("1.13")] = None
    """Idle timeouts of tracked connections; new in Karpenter 1.13."""

    cpu_options: Annotated[CPUOptions | None, Since("1.13")] = None
    """Options of the instance's CPU; new in Karpenter 1.13."""

    kubelet: KubeletConfiguration | None = None
    """Kubelet settings; absent, Karpenter and the image decide."""


class EC2NodeClassSpec(EC2NodeClassFields):
    """What an EC2NodeClass asks for."""

    ami_selector_terms: AMISelectorTerms
    """Which images nodes start from, 1 to 30 terms; an alias has to stand alone.

    A node is replaced when its image is no longer the one chosen for its type: with `@latest`, or at a
    Kubernetes upgrade, that is all of them.
    """

    subnet_selector_terms: SubnetSelectorTerms
    """Which subnets nodes go to, and so which zones, 1 to 30 terms; only nodes in others are replaced."""

    security_group_selector_terms: SecurityGroupSelectorTerms
    """Which security groups nodes have, 1 to 30 terms; one group more or less replaces all nodes."""


class EC2NodeClass(Shape):
    """A whole EC2NodeClass object."""

    api_version: Literal["karpenter.k8s.aws/v1"] = "karpenter.k8s.aws/v1"
    """Group and version of the API."""

    kind: Literal["EC2NodeClass"] = "EC2NodeClass"
    """Kind of the object."""

    metadata: ObjectMeta
    """Name, labels and annotations of the object itself."""

    spec: EC2NodeClassSpec | None = None
    """What the class asks for. The API lets it be left out, but then nothing can be launched."""

    status: Any = None
    """Written by Karpenter."""
