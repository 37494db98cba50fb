"""Types of the blueprint's values, which the tables name. Importing this module imports pydantic."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from gpupool.blueprint import constraint
from gpupool.karpenter.scalars import (
    Architecture,
    BudgetDuration,
    BudgetNodes,
    ConsolidationPolicy,
    Count,
    CronSchedule,
    LabelValue,
    MinValues,
    OperatingSystem,
    Quantity,
    Reason,
    VolumeSize,
)
from gpupool.karpenter.v1.ec2nodeclass import (
    AMISelectorTerm,
    CapacityReservationSelectorTerm,
    SecurityGroupSelectorTerm,
    SubnetSelectorTerm,
    VolumeType,
)
from gpupool.karpenter.v1.nodepool import (
    NodeClassReference,
    NodeSelectorRequirementWithMinValues,
    Taint,
    Weight,
)
from gpupool.shapes import suggestions
from gpupool.shapes.annotations import Matching, form, number_or_text
from gpupool.shapes.base import NOT_EMPTY, Flag, NonEmpty, Text, Whole
from gpupool.shapes.field_models import build_model
from gpupool.yamlio.located import YamlValue

__all__ = [
    "AMISelectorTerm", "Architecture", "BlueprintAmount", "BlueprintDuration", "BlueprintDurationOrNever",
    "BlueprintName", "BlueprintRequirements", "BlueprintTaints", "BudgetDuration", "Capacity",
    "CapacityReservationSelectorTerm", "CapacitySetting", "ClusterName", "ConsolidationPolicy",
    "ConstraintValue", "Count", "CronSchedule", "Dollars", "Feature", "Flag", "HopLimit", "Hypervisor",
    "KarpenterMinor", "LabelValue", "MinValues", "Name", "NamespaceName", "NodeClassReference", "Nodes",
    "NonEmpty", "NumberConstraint", "OperatingSystem", "Rate", "RateConstraint", "Reason", "Region",
    "Replicas", "SecurityGroupSelectorTerm", "Selector", "Share", "Size", "SizeConstraint", "Slices",
    "SubnetSelectorTerm", "Text", "TextConstraint", "ValueConstraint", "VolumeInitializationRate",
    "VolumeSize", "VolumeType", "Weight", "Whole", "WholeOrZero", "WindowReasons", "YamlValue",
]  # fmt: skip

# Names.

Name: TypeAlias = Annotated[
    str,
    Matching(
        r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        "a name of lower-case letters, digits and `-`",
        suggestions.suggest_name,
    ),
]
BlueprintName: TypeAlias = Annotated[
    str,
    Matching(
        r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$",
        "a name of lower-case letters, digits and `-`, at most 63 characters",
        suggestions.suggest_name,
    ),
]
NamespaceName: TypeAlias = Annotated[
    str, Matching(r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$", "a namespace's name")
]
ClusterName: TypeAlias = Annotated[
    str, Matching(r"^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$", "an EKS cluster's name")
]
KarpenterMinor: TypeAlias = Annotated[str, Matching(r"^1\.[0-9]{1,2}$", 'a minor version such as "1.14"')]
Region: TypeAlias = Annotated[
    str,
    Matching(r"^[a-z]{2}(-[a-z]+)+-[0-9]$", "a region such as us-east-1", suggestions.suggest_region),
]
Feature: TypeAlias = Literal[
    "NodeOverlay", "StaticCapacity", "ReservedCapacity", "NodeRepair", "SpotToSpotConsolidation",
    "CapacityBuffer",
]  # fmt: skip
Hypervisor: TypeAlias = Literal["nitro", "xen", ""]
Capacity: TypeAlias = Literal["on-demand", "spot", "reserved"]

# Numbers and amounts.

_DURATION = "a duration such as 30m, 12h or 14d"
BlueprintDuration: TypeAlias = Annotated[
    str, Matching(r"^([0-9]+(s|m|h|d))+$", _DURATION, suggestions.suggest_duration)
]
BlueprintDurationOrNever: TypeAlias = Annotated[
    str, Matching(r"^(([0-9]+(s|m|h|d))+|Never)$", f"{_DURATION}, or Never", suggestions.suggest_duration)
]
Nodes: TypeAlias = Annotated[
    Annotated[BudgetNodes, Tag("<text>")] | Annotated[Whole, Tag("<number>"), Field(ge=0)],
    Discriminator(number_or_text),
]
"""The number of nodes at once, or a percentage such as 10%, rounded up."""

BlueprintAmount: TypeAlias = Annotated[
    Annotated[Quantity, Tag("<text>")] | Annotated[Whole, Tag("<number>")],
    Discriminator(number_or_text),
]
WholeOrZero: TypeAlias = Annotated[Whole, Field(ge=0)]
Replicas: TypeAlias = Annotated[Whole, Field(ge=0, le=2147483647)]
HopLimit: TypeAlias = Annotated[Whole, Field(ge=1, le=64)]
Slices: TypeAlias = Annotated[Whole, Field(ge=2, le=64)]
Dollars: TypeAlias = Annotated[float, Field(strict=True, gt=0, le=1_000_000_000)]
VolumeInitializationRate: TypeAlias = Annotated[int, Field(ge=100, le=300, strict=True)]
Share: TypeAlias = Annotated[
    str,
    Matching(r"^([1-9][0-9]?|100)%$", "a share of the pool's limits, such as 25%", suggestions.suggest_share),
]
Size: TypeAlias = Annotated[
    str,
    Matching(r"^[0-9]+(\.[0-9]+)?(Mi|Gi|Ti|MB|GB|TB)$", "a size with its unit, such as 24GB or 512Gi"),
]
Rate: TypeAlias = Annotated[
    str, Matching(r"^[0-9]+(\.[0-9]+)?(Mbps|Gbps|Tbps)$", "a bandwidth with its unit, such as 100Gbps")
]

# Constraints on a label: one value, a list, or a map.

ConstraintValue: TypeAlias = Annotated[
    Annotated[str, Tag("<text>")] | Annotated[Whole, Tag("<number>")],
    Discriminator(number_or_text),
]


def _constraint(value: Any, table: type[constraint.Membership]) -> Any:  # noqa: ANN401 - any type
    return Annotated[
        Annotated[value, Tag("<one>")]
        | Annotated[list[value], Tag("<list>"), NOT_EMPTY]
        | Annotated[build_model(table), Tag("<map>")],
        Discriminator(form),
    ]


ValueConstraint = _constraint(ConstraintValue, constraint.ValueBounds)
TextConstraint = _constraint(str, constraint.TextBounds)
NumberConstraint = _constraint(Whole, constraint.NumberBounds)
SizeConstraint = _constraint(Size, constraint.SizeBounds)
RateConstraint = _constraint(Rate, constraint.RateBounds)

# Fields with several forms.

CapacitySetting: TypeAlias = Annotated[
    Annotated[Literal["on-demand", "spot", "reserved", "any"], Tag("<one>")]
    | Annotated[list[Capacity], Tag("<list>"), NOT_EMPTY],
    Discriminator(form),
]
WindowReasons: TypeAlias = Annotated[
    Annotated[list[Reason], Tag("<list>")] | Annotated[Literal["all"], Tag("<one>")],
    Discriminator(form),
]
BlueprintTaints: TypeAlias = Annotated[
    Annotated[
        dict[
            str,
            Annotated[
                Annotated[str, Tag("<one>")] | Annotated[list[str], Tag("<list>"), NOT_EMPTY],
                Discriminator(form),
            ]
            | None,
        ],
        Tag("<map>"),
    ]
    | Annotated[list[Taint], Tag("<list>")],
    Discriminator(form),
]
"""`key: value:Effect` or `key: Effect`, a list for several effects on one key; or Karpenter's own list."""

BlueprintRequirements: TypeAlias = Annotated[
    Annotated[dict[str, ValueConstraint | None], Tag("<map>")]  # type: ignore[valid-type] # built above
    | Annotated[list[NodeSelectorRequirementWithMinValues], Tag("<list>")],
    Discriminator(form),
]
"""Any node label and the values it may have; or Karpenter's own list."""

_Tags: TypeAlias = dict[str, str]
_IdOrTags: TypeAlias = Annotated[
    Annotated[str, Tag("<one>")] | Annotated[_Tags, Tag("<map>")],
    Discriminator(form),
]
Selector: TypeAlias = Annotated[
    Annotated[str, Tag("<one>")]
    | Annotated[list[_IdOrTags], Tag("<list>"), NOT_EMPTY]
    | Annotated[_Tags, Tag("<map>")],
    Discriminator(form),
]
"""A map of tags, an id, or a list of ids and tag maps, any of which may match."""
