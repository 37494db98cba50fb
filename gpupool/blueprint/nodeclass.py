"""Table of a node class' fields: gpupool's short ones; all others are passed on as EC2NodeClass has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from gpupool.blueprint.base import BlueprintFields
from gpupool.shapes.fields import (
    ListOf,
    MapOf,
    One,
    Part,
    Several,
    TextOrPart,
    TextsOrParts,
    Verbatim,
)

if TYPE_CHECKING:
    from gpupool.blueprint.types import (
        AMISelectorTerm,
        CapacityReservationSelectorTerm,
        Count,
        Flag,
        HopLimit,
        SecurityGroupSelectorTerm,
        Selector,
        SubnetSelectorTerm,
        Text,
        VolumeInitializationRate,
        VolumeSize,
        VolumeType,
        Whole,
        YamlValue,
    )

_IDENTITY = ("the instance's identity",)


class AMI(BlueprintFields):
    """Which AMI to use, where no alias is set; the newest match wins."""

    id: One[Text] = One()
    """The image's id, `ami-0abc…`."""

    name: One[Text] = One()
    """The image's name; `*` matches any text."""

    owner: One[Text] = One()
    """The account that owns the image: an id, `self` or `amazon`."""

    tags: Annotated[MapOf[Text], dict[str, str]] = MapOf()
    """Tags of the image; `*` as a value matches any value."""

    ssm_parameter: One[Text] = One()
    """The name or ARN of an SSM parameter that holds an image id."""


class AMITerm(BlueprintFields):
    """One selector of AMIs in Karpenter's own form, validated by Karpenter's type."""

    alias: One[Text] = One()
    """An image's alias."""


class Disk(BlueprintFields):
    """One EBS volume. Default: gp3, encrypted, and deleted with the node."""

    size: One[VolumeSize] = One(to="volumeSize")
    """The size, as in `200Gi`."""

    type: One[VolumeType] = One(to="volumeType", default="gp3")
    """The EBS volume type. Default: gp3."""

    iops: One[Whole] = One(to="iops")
    """Input and output operations per second."""

    throughput: One[Whole] = One(to="throughput")
    """MiB per second; gp3 only."""

    encrypted: One[Flag] = One(to="encrypted", default=True)
    """Whether EBS encrypts the volume. Default: true."""

    kms_key_id: One[Text] = One(key="kmsKeyID", to="kmsKeyID")
    """The KMS key that encrypts the volume. Default: the account's EBS key."""

    snapshot_id: One[Text] = One(key="snapshotID", to="snapshotID")
    """A snapshot to create the volume from, for example with images already pulled."""

    delete_on_termination: One[Flag] = One(to="deleteOnTermination", default=True)
    """Whether the volume is deleted with the node. Default: true."""

    volume_initialization_rate: One[VolumeInitializationRate] = One(to="volumeInitializationRate")
    """MiB per second at which the snapshot is loaded, from 100 to 300."""


class UserDataFile(BlueprintFields):
    """User data in a separate file."""

    file: One[Text] = One(is_required=True)
    """The file's path, relative to the file that sets it."""


class ObjectMetadata(BlueprintFields):
    """Labels and annotations of the Kubernetes object itself, not of its nodes."""

    labels: MapOf[Text] = MapOf(to="labels")
    """Labels of the object."""

    annotations: MapOf[Text] = MapOf(to="annotations")
    """Annotations of the object."""


class NodeClassFields(BlueprintFields):
    """The fields of a node class: gpupool's short ones, and every EC2NodeClass field by its own name."""

    inherits = "gpupool.karpenter.v1.ec2nodeclass:EC2NodeClassFields"
    is_item = True

    metadata = Part(ObjectMetadata, to="metadata")
    """Labels and annotations of the EC2NodeClass object."""

    ami = TextsOrParts(AMI, sets=("amiSelectorTerms",), is_atomic=True)
    """The AMI: an alias such as `al2023@v20260810`, an id, or what to look for.

    A pinned alias never changes by itself. `@latest` replaces every node on each release.
    """

    ami_selector_terms: Annotated[ListOf[YamlValue], list[AMISelectorTerm]] = ListOf()
    """Karpenter's own form of `ami`."""

    subnets: Annotated[Several[YamlValue], Selector] = Several(sets=("subnetSelectorTerms",))
    """Subnets by tag or id. Default: those with the tag `karpenter.sh/discovery: <cluster.name>`."""

    subnet_selector_terms: Annotated[ListOf[YamlValue], list[SubnetSelectorTerm]] = ListOf()
    """Karpenter's own form of `subnets`."""

    security_groups: Annotated[Several[YamlValue], Selector] = Several(sets=("securityGroupSelectorTerms",))
    """Security groups by tag or id. Default: those with the tag `karpenter.sh/discovery: <cluster.name>`."""

    security_group_selector_terms: Annotated[ListOf[YamlValue], list[SecurityGroupSelectorTerm]] = ListOf()
    """Karpenter's own form of `securityGroups`."""

    reservations: Annotated[Several[YamlValue], Selector] = Several(
        sets=("capacityReservationSelectorTerms",)
    )
    """Capacity reservations and Capacity Blocks by id or tag; requires `reserved` in `capacity`."""

    capacity_reservation_selector_terms: Annotated[
        ListOf[YamlValue], list[CapacityReservationSelectorTerm]
    ] = ListOf()
    """Karpenter's own form of `reservations`."""

    disk = Part(Disk, sets=("blockDeviceMappings of disk",))
    """The volume for images and pods: the root volume, or on Bottlerocket the data volume."""

    os_disk = Part(Disk, sets=("blockDeviceMappings of osDisk",))
    """Bottlerocket's system volume. Default: 4Gi. Other AMI families have none."""

    placement_group: One[Text] = One(to="placementGroupSelector.name", since="1.11")
    """The name of the placement group of all nodes. A change replaces all nodes."""

    max_pods: One[Count] = One(to="kubelet.maxPods")
    """The maximum number of pods on a node. Default: what the network interfaces of the instance allow. A
    change replaces all nodes."""

    imds_hop_limit: One[HopLimit] = One(to="metadataOptions.httpPutResponseHopLimit")
    """The number of network hops to the instance metadata service, 1 to 64. Default: 1, which pods do not
    reach; 2 lets them read the node's credentials. A change replaces all nodes."""

    user_data = TextOrPart(UserDataFile, is_atomic=True)
    """Script or settings for the node's first boot, as text or as `{file: path}`."""

    ami_family: One[Text] = One(is_inherited=True)
    role: One[Text] = One(
        sets=_IDENTITY,
        hints={"nodeRole": "set `role` in the node class, with the role's name and not its ARN"},
        is_inherited=True,
    )
    instance_profile: One[Text] = One(sets=_IDENTITY, is_inherited=True)
    block_device_mappings: Verbatim[YamlValue] = Verbatim(
        sets=("blockDeviceMappings of disk", "blockDeviceMappings of osDisk"), is_inherited=True
    )
    network_interfaces: ListOf[YamlValue] = ListOf(is_inherited=True)


class BlueprintNodeClass(NodeClassFields):
    """A node class that pools refer to by its name."""

    external: One[Flag] = One()
    """true: the node class is managed elsewhere and not rendered; its other fields are for checks only."""
