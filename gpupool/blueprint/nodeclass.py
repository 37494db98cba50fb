"""The node class words: short ones for the common, EC2NodeClass' own fields for the rest."""

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
    """Which machine image to use, where no alias names it; the newest match wins."""

    id: str | None = None
    """The image's id, `ami-0abc…`."""

    name: str | None = None
    """The image's name; `*` stands for any text."""

    owner: str | None = None
    """The account that owns the image: an id, `self` or `amazon`."""

    tags: Tags | None = None
    """Tags that the image carries; `*` as a value stands for any."""

    ssm_parameter: str | None = None
    """The name or ARN of an SSM parameter that holds an image id."""


AMIWord: TypeAlias = Annotated[
    Annotated[str, Tag("<one>")] | Annotated[AMI, Tag("<map>")],
    Discriminator(form),
]
AMIWords: TypeAlias = Annotated[
    Annotated[str, Tag("<one>")]
    | Annotated[AMI, Tag("<map>")]
    | Annotated[list[AMIWord], Tag("<list>"), NOT_EMPTY],
    Discriminator(form),
]


class Disk(Shape):
    """One EBS volume. What is not said here is gp3, encrypted and deleted with the machine."""

    size: VolumeSize | None = None
    """How large, as in `200Gi`."""

    type: VolumeType | None = None
    """The EBS volume type; gp3 unless said."""

    iops: Whole | None = None
    """Input and output operations per second."""

    throughput: Whole | None = None
    """MiB per second; gp3 only."""

    encrypted: Flag | None = None
    """Whether EBS encrypts the volume; true unless said."""

    kms_key_id: str | None = Field(None, alias="kmsKeyID")
    """The KMS key that encrypts it; the account's default EBS key unless said."""

    snapshot_id: str | None = Field(None, alias="snapshotID")
    """A snapshot to start from, for example with images already pulled."""

    delete_on_termination: Flag | None = None
    """Whether the volume goes with the machine; true unless said."""

    volume_initialization_rate: Annotated[int, Field(ge=100, le=300, strict=True)] | None = None
    """MiB per second at which the snapshot is loaded, 100 to 300."""


class UserDataFile(Shape):
    """User data kept in a file of its own."""

    file: str
    """The file's path, relative to the file that names it."""


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


class NodeClassWords(EC2NodeClassFields):
    """What a node class may say: gpupool's short words, and every EC2NodeClass field by its own name."""

    metadata: ObjectMetadata | None = None
    """Labels and annotations of the EC2NodeClass object."""

    ami: AMIWords | None = None
    """The machine image: an alias such as `al2023@v20260810`, an id, or what to look for.

    A pinned alias changes only when this line does. `@latest` replaces every node on each release.
    """

    ami_selector_terms: list[AMISelectorTerm] | None = None
    """Karpenter's own form of `ami`."""

    subnets: Selector | None = None
    """Subnets by tag or id; those tagged `karpenter.sh/discovery: <cluster.name>` unless said."""

    subnet_selector_terms: list[SubnetSelectorTerm] | None = None
    """Karpenter's own form of `subnets`."""

    security_groups: Selector | None = None
    """Security groups by tag or id; those tagged `karpenter.sh/discovery: <cluster.name>` unless said."""

    security_group_selector_terms: list[SecurityGroupSelectorTerm] | None = None
    """Karpenter's own form of `securityGroups`."""

    reservations: Selector | None = None
    """Capacity reservations and Capacity Blocks by id or tag; `capacity` has to allow `reserved`."""

    capacity_reservation_selector_terms: list[CapacityReservationSelectorTerm] | None = None
    """Karpenter's own form of `reservations`."""

    disk: Disk | None = None
    """The volume that holds images and pods: the root volume, or on Bottlerocket the data volume."""

    os_disk: Disk | None = None
    """Bottlerocket's small system volume; 4Gi unless said. Other families have none."""

    user_data: UserData | None = None  # type: ignore[assignment] # the blueprint also takes a file's name
    """What the machine runs at boot, as text or as `{file: path}`."""


class NodeClass(NodeClassWords):
    """A node class that pools share by its name."""

    external: Flag | None = None
    """true: kept elsewhere. It is never rendered; what else is said here are facts for the checks."""
