"""The EC2NodeClass of Karpenter's v1 API: the AWS settings of a NodePool's nodes."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from gpupool.karpenter.kubelet_keys import EvictionSignal, ReservedResource
from gpupool.karpenter.meta import ObjectMeta
from gpupool.karpenter.scalars import (
    AMIID,
    AccountID,
    AMIFamily,
    Count,
    EvictionThreshold,
    Int32,
    Int64,
    PlacementGroupID,
    Quantity,
    ReservationID,
    SecurityGroupID,
    SelectorTags,
    SubnetID,
    Switch,
    VolumeSize,
    VolumeType,
)
from gpupool.shapes.annotations import Compared, Since
from gpupool.shapes.base import Flag, Shape, Text, Whole

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

Percent: TypeAlias = Annotated[Whole, Field(ge=0, le=100)]


class AMISelectorTerm(Shape):
    """One selector of AMIs; several terms are alternatives."""

    alias: Annotated[str, Field(max_length=30)] | None = None
    """An EKS AMI family and its release, such as `al2023@v20260810`; it must be the only term.

    `al2`, `al2023`, `bottlerocket`, `windows2019`, `windows2022`, `windows2025`. Karpenter picks the
    variant for the instance type, including the one with GPU or Neuron drivers. `@latest` replaces every
    node at each new release; Windows supports only `@latest`.
    """

    tags: SelectorTags | None = None
    """Required tags of the AMI, at most 20; `*` matches any value."""

    id: AMIID | None = None
    """Id of one AMI; no other field is allowed in the term."""

    name: Text | None = None
    """Name of the AMI, `*` allowed. Without `owner`: your own AMIs and Amazon's."""

    owner: Text | None = None
    """Account that owns the AMI, `self` or `amazon`; used with `name` or `tags`."""

    ssm_parameter: Text | None = None
    """Name or ARN of the SSM parameter with the AMI id."""


class SubnetSelectorTerm(Shape):
    """One selector of subnets; several terms are alternatives. They determine the zones of a pool."""

    tags: SelectorTags | None = None
    """Required tags of the subnet, at most 20; `*` matches any value.

    An empty map selects every subnet of the region.
    """

    id: SubnetID | None = None
    """Id of one subnet; `tags` is not allowed in the term."""


class SecurityGroupSelectorTerm(Shape):
    """One selector of security groups; a node gets the groups of all terms."""

    tags: SelectorTags | None = None
    """Required tags of the group, at most 20; `*` matches any value.

    An empty map selects every group of the region.
    """

    id: SecurityGroupID | None = None
    """Id of one group; no other field is allowed in the term."""

    name: Text | None = None
    """Name of one group (not its `Name` tag); no other field is allowed in the term."""


class CapacityReservationSelectorTerm(Shape):
    """One selector of capacity reservations and Capacity Blocks; several terms are alternatives."""

    tags: SelectorTags | None = None
    """Required tags of the reservation, at most 20; `*` matches any value."""

    id: ReservationID | None = None
    """Id of one reservation; no other field is allowed in the term."""

    owner_id: AccountID | None = Field(default=None, alias="ownerID")
    """Account that owns the reservation, twelve digits in quotes; on its own it selects nothing."""

    instance_match_criteria: Literal["open", "targeted"] | None = None
    """Whether any matching instance uses the reservation (`open`) or only those that name it (`targeted`)."""


class PlacementGroupSelector(Shape):
    """The placement group of the nodes, by either name or id."""

    name: Annotated[str, Field(min_length=1)] | None = None
    """Name of the placement group."""

    id: PlacementGroupID | None = None
    """Id of the placement group."""


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


class MetadataOptions(Shape):
    """The instance metadata service (IMDS)."""

    http_endpoint: Switch | None = None
    """Whether the service is on. Default: `enabled`."""

    http_protocol_ipv6: Switch | None = Field(default=None, alias="httpProtocolIPv6")
    """Whether the service has an IPv6 address. Default: `disabled`."""

    http_put_response_hop_limit: Annotated[Whole, Field(ge=1, le=64)] | None = None
    """Maximum network hops of a response, 1 to 64. Default: 1, which does not reach pods; pods need 2."""

    http_tokens: Literal["required", "optional"] | None = None
    """Whether a session token (IMDSv2) is required. Default: `required`."""


class NetworkInterface(Shape):
    """One network interface of the instance. Card 0, device 0 is required, with type `interface`."""

    network_card_index: Count
    """Network card, from 0; instance types without it are not considered."""

    device_index: Count
    """Device index on that card, from 0."""

    interface_type: Literal["interface", "efa-only"]
    """`interface` carries IP traffic, `efa-only` carries EFA and no IP address; one of these per card."""


class ConnectionTracking(Shape):
    """Idle timeouts of connections that security groups track, in seconds; at least one is required."""

    tcp_established_timeout: Annotated[Whole, Field(ge=60, le=432000)] | None = None
    """Seconds for established TCP connections, 60 to 432000."""

    udp_stream_timeout: Annotated[Whole, Field(ge=60, le=180)] | None = None
    """Seconds for UDP flows with more than one request and response, 60 to 180."""

    udp_timeout: Annotated[Whole, Field(ge=30, le=60)] | None = None
    """Seconds for UDP flows in one direction or with a single response, 30 to 60."""


class CPUOptions(Shape):
    """Options of the instance's CPU."""

    nested_virtualization: Switch | None = None
    """Whether the instance can run virtual machines, if its type supports that."""


class BlockDevice(Shape):
    """An EBS volume. It requires a size or a snapshot."""

    delete_on_termination: Flag | None = None
    """Whether the volume is deleted with the instance. Default: EC2 decides."""

    encrypted: Flag | None = None
    """Whether the volume is encrypted. Default: the settings of the account and the snapshot."""

    iops: Int64 | None = None
    """Input and output operations per second, for gp3, io1 and io2; required for io1 and io2."""

    kms_key_id: Text | None = Field(default=None, alias="kmsKeyID")
    """Id, alias or ARN of the KMS key to encrypt with; Karpenter's role must be allowed to use it."""

    snapshot_id: Text | None = Field(default=None, alias="snapshotID")
    """Snapshot to create the volume from, such as one with container images already pulled."""

    throughput: Int64 | None = None
    """MiB per second, for gp3 only; the default of EC2 is 125."""

    volume_initialization_rate: Annotated[Whole, Field(ge=100, le=300)] | None = None
    """MiB per second at which a volume is filled from its snapshot, 100 to 300; requires `snapshotID`."""

    volume_size: VolumeSize | None = None
    """Size with Gi, G, Ti or T, such as `500Gi`; at least the size of the AMI's snapshot."""

    volume_type: VolumeType | None = None
    """Type of the EBS volume; `gp3` is the common choice."""


class BlockDeviceMapping(Shape):
    """A volume and the device it appears as.

    Setting any mapping drops all defaults of the AMI family, so list every volume that the node needs.
    """

    device_name: Text | None = None
    """Device name, such as `/dev/xvda`. Without it, Karpenter can crash unless the family is Custom."""

    ebs: BlockDevice | None = None
    """The volume. The API server accepts a mapping without it, but then Karpenter crashes."""

    root_volume: Flag | None = None
    """Whether pods use this volume as ephemeral storage; on at most one mapping."""


AMISelectorTerms: TypeAlias = Annotated[
    list[AMISelectorTerm], Field(min_length=1, max_length=30), Compared("set")
]
SubnetSelectorTerms: TypeAlias = Annotated[list[SubnetSelectorTerm], Field(max_length=30), Compared("set")]
SecurityGroupSelectorTerms: TypeAlias = Annotated[
    list[SecurityGroupSelectorTerm], Field(max_length=30), Compared("set")
]
CapacityReservationSelectorTerms: TypeAlias = Annotated[
    list[CapacityReservationSelectorTerm], Field(max_length=30), Compared("set")
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
