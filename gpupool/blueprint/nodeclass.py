"""Node class fields of a blueprint: gpupool's short fields, and the fields of EC2NodeClass."""

from typing import Annotated, TypeAlias

from pydantic import Discriminator, Field, Tag

from gpupool.karpenter.scalars import VolumeSize
from gpupool.karpenter.v1.ec2nodeclass import (
    AMISelectorTerm,
    CapacityReservationSelectorTerm,
    EC2NodeClassFields,
    SecurityGroupSelectorTerm,
    SubnetSelectorTerm,
    VolumeType,
)
from gpupool.shapes.annotations import form
from gpupool.shapes.base import NOT_EMPTY, Flag, Shape, Whole

Tags: TypeAlias = dict[str, str]
IdOrTags: TypeAlias = Annotated[
    Annotated[str, Tag("<one>")] | Annotated[Tags, Tag("<map>")],
    Discriminator(form),
]
Selector: TypeAlias = Annotated[
    Annotated[str, Tag("<one>")]
    | Annotated[list[IdOrTags], Tag("<list>"), NOT_EMPTY]
    | Annotated[Tags, Tag("<map>")],
    Discriminator(form),
]
"""A map of tags, an id, or a list of ids and tag maps, any of which may match."""


class AMI(Shape):
    """Which AMI to use, where no alias is set; the newest match wins."""

    id: str | None = None
    """The image's id, `ami-0abc…`."""

    name: str | None = None
    """The image's name; `*` matches any text."""

    owner: str | None = None
    """The account that owns the image: an id, `self` or `amazon`."""

    tags: Tags | None = None
    """Tags of the image; `*` as a value matches any value."""

    ssm_parameter: str | None = None
    """The name or ARN of an SSM parameter that holds an image id."""


AMISetting: TypeAlias = Annotated[
    Annotated[str, Tag("<one>")] | Annotated[AMI, Tag("<map>")],
    Discriminator(form),
]
AMISettings: TypeAlias = Annotated[
    Annotated[str, Tag("<one>")]
    | Annotated[AMI, Tag("<map>")]
    | Annotated[list[AMISetting], Tag("<list>"), NOT_EMPTY],
    Discriminator(form),
]


class Disk(Shape):
    """One EBS volume. Default: gp3, encrypted, and deleted with the node."""

    size: VolumeSize | None = None
    """The size, as in `200Gi`."""

    type: VolumeType | None = None
    """The EBS volume type. Default: gp3."""

    iops: Whole | None = None
    """Input and output operations per second."""

    throughput: Whole | None = None
    """MiB per second; gp3 only."""

    encrypted: Flag | None = None
    """Whether EBS encrypts the volume. Default: true."""

    kms_key_id: str | None = Field(None, alias="kmsKeyID")
    """The KMS key that encrypts the volume. Default: the account's EBS key."""

    snapshot_id: str | None = Field(None, alias="snapshotID")
    """A snapshot to create the volume from, for example with images already pulled."""

    delete_on_termination: Flag | None = None
    """Whether the volume is deleted with the node. Default: true."""

    volume_initialization_rate: Annotated[int, Field(ge=100, le=300, strict=True)] | None = None
    """MiB per second at which the snapshot is loaded, from 100 to 300."""


class UserDataFile(Shape):
    """User data in a separate file."""

    file: str
    """The file's path, relative to the file that sets it."""


UserData: TypeAlias = Annotated[
    Annotated[str, Tag("<one>")] | Annotated[UserDataFile, Tag("<map>")],
    Discriminator(form),
]


class ObjectMetadata(Shape):
    """Labels and annotations of the Kubernetes object itself, not of its nodes."""

    labels: dict[str, str | None] | None = None
    """Labels of the object."""

    annotations: dict[str, str | None] | None = None
    """Annotations of the object."""


class NodeClassFields(EC2NodeClassFields):
    """The fields of a node class: gpupool's short ones, and every EC2NodeClass field by its own name."""

    metadata: ObjectMetadata | None = None
    """Labels and annotations of the EC2NodeClass object."""

    ami: AMISettings | None = None
    """The AMI: an alias such as `al2023@v20260810`, an id, or what to look for.

    A pinned alias never changes by itself. `@latest` replaces every node on each release.
    """

    ami_selector_terms: list[AMISelectorTerm] | None = None
    """Karpenter's own form of `ami`."""

    subnets: Selector | None = None
    """Subnets by tag or id. Default: those with the tag `karpenter.sh/discovery: <cluster.name>`."""

    subnet_selector_terms: list[SubnetSelectorTerm] | None = None
    """Karpenter's own form of `subnets`."""

    security_groups: Selector | None = None
    """Security groups by tag or id. Default: those with the tag `karpenter.sh/discovery: <cluster.name>`."""

    security_group_selector_terms: list[SecurityGroupSelectorTerm] | None = None
    """Karpenter's own form of `securityGroups`."""

    reservations: Selector | None = None
    """Capacity reservations and Capacity Blocks by id or tag; requires `reserved` in `capacity`."""

    capacity_reservation_selector_terms: list[CapacityReservationSelectorTerm] | None = None
    """Karpenter's own form of `reservations`."""

    disk: Disk | None = None
    """The volume for images and pods: the root volume, or on Bottlerocket the data volume."""

    os_disk: Disk | None = None
    """Bottlerocket's system volume. Default: 4Gi. Other AMI families have none."""

    user_data: UserData | None = None  # type: ignore[assignment] # the blueprint also accepts a file
    """Script or settings for the node's first boot, as text or as `{file: path}`."""


class BlueprintNodeClass(NodeClassFields):
    """A node class that pools refer to by its name."""

    external: Flag | None = None
    """true: the node class is managed elsewhere and not rendered; its other fields are for checks only."""
