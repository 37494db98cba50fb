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
