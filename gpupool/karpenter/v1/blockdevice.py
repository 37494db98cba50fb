"""The volumes of a node."""

from typing import Annotated

from pydantic import Field

from gpupool.karpenter.scalars import Int64, VolumeSize, VolumeType
from gpupool.shapes.base import Flag, Shape, Text, Whole


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
