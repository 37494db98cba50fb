"""The volumes of a node."""

from typing import Annotated

from pydantic import Field

from gpupool.karpenter.scalars import Int64, VolumeSize, VolumeType
from gpupool.shapes.base import Flag, Shape, Text, Whole


class BlockDevice(Shape):
    """An EBS volume. It needs a size or a snapshot."""

    delete_on_termination: Flag | None = None
    """Whether the volume goes with the instance. Left out, EC2 decides."""

    encrypted: Flag | None = None
    """Whether the volume is encrypted. Left out, the account's and the snapshot's settings decide."""

    iops: Int64 | None = None
    """Input and output operations per second, for gp3, io1 and io2; io1 and io2 need it."""

    kms_key_id: Text | None = Field(default=None, alias="kmsKeyID")
    """Id, alias or ARN of the KMS key to encrypt with; Karpenter's role has to be allowed to use it."""

    snapshot_id: Text | None = Field(default=None, alias="snapshotID")
    """Snapshot that the volume starts from, as in one with container images already pulled."""

    throughput: Int64 | None = None
    """MiB per second, for gp3 only; EC2 gives 125 unless said."""

    volume_initialization_rate: Annotated[Whole, Field(ge=100, le=300)] | None = None
    """MiB per second at which a volume is filled from its snapshot, 100 to 300; needs `snapshotID`."""

    volume_size: VolumeSize | None = None
    """Size as text with Gi, G, Ti or T: `500Gi`. It has to hold the image's own snapshot."""

    volume_type: VolumeType | None = None
    """Kind of EBS volume; `gp3` is the common choice."""


class BlockDeviceMapping(Shape):
    """A volume and the device it appears as.

    Setting any mapping drops all of the image family's own, so name every volume that the node needs.
    """

    device_name: Text | None = None
    """Device, as in `/dev/xvda`. Left out, Karpenter can crash on it unless the family is Custom."""

    ebs: BlockDevice | None = None
    """The volume. The API lets it be left out, and then Karpenter crashes."""

    root_volume: Flag | None = None
    """Whether this volume's size is what pods may use as ephemeral storage; on one mapping at most."""
