"""The terms by which an EC2NodeClass finds its images, subnets, security groups and reservations."""

from typing import Annotated, Literal

from pydantic import Field

from gpupool.karpenter.scalars import (
    AMIID,
    AccountID,
    PlacementGroupID,
    ReservationID,
    SecurityGroupID,
    SelectorTags,
    SubnetID,
)
from gpupool.shapes.base import Shape, Text


class AMISelectorTerm(Shape):
    """One way to find machine images; several terms are alternatives."""

    alias: Annotated[str, Field(max_length=30)] | None = None
    """An EKS image family and its release, as in `al2023@v20260810`; it has to be the only term.

    `al2`, `al2023`, `bottlerocket`, `windows2019`, `windows2022`, `windows2025`. Karpenter then picks the
    variant that fits the machine, the one with GPU or Neuron drivers included. `@latest` replaces every
    node at each new release; for Windows it is the only one there is.
    """

    tags: SelectorTags | None = None
    """Tags that the image has to carry, at most 20; `*` stands for any value."""

    id: AMIID | None = None
    """One image by its id; no other word beside it."""

    name: Text | None = None
    """Name of the image, `*` allowed. Without `owner`: your own images and Amazon's."""

    owner: Text | None = None
    """Account that owns the image, `self` or `amazon`; goes with `name` or `tags`."""

    ssm_parameter: Text | None = None
    """Name or ARN of the SSM parameter that holds the image id."""


class SubnetSelectorTerm(Shape):
    """One way to find subnets; several terms are alternatives. The zones of a pool come from here."""

    tags: SelectorTags | None = None
    """Tags that the subnet has to carry, at most 20; `*` stands for any value.

    An empty map asks for nothing and so selects every subnet of the region.
    """

    id: SubnetID | None = None
    """One subnet by its id; no tags beside it."""


class SecurityGroupSelectorTerm(Shape):
    """One way to find security groups; a node gets all that any term finds."""

    tags: SelectorTags | None = None
    """Tags that the group has to carry, at most 20; `*` stands for any value.

    An empty map asks for nothing and so selects every group of the region.
    """

    id: SecurityGroupID | None = None
    """One group by its id; no other word beside it."""

    name: Text | None = None
    """One group by its name (not its `Name` tag); no other word beside it."""


class CapacityReservationSelectorTerm(Shape):
    """One way to find capacity reservations and Capacity Blocks; several terms are alternatives."""

    tags: SelectorTags | None = None
    """Tags that the reservation has to carry, at most 20; `*` stands for any value."""

    id: ReservationID | None = None
    """One reservation by its id; no other word beside it."""

    owner_id: AccountID | None = Field(default=None, alias="ownerID")
    """Account that owns the reservation, twelve digits in quotes; alone it selects nothing."""

    instance_match_criteria: Literal["open", "targeted"] | None = None
    """Whether any instance that matches uses the reservation (`open`) or only one naming it (`targeted`)."""


class PlacementGroupSelector(Shape):
    """The placement group that nodes are launched into; by name or by id, not both."""

    name: Annotated[str, Field(min_length=1)] | None = None
    """Name of the placement group."""

    id: PlacementGroupID | None = None
    """Id of the placement group."""
