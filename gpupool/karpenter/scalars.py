"""Scalar types of Karpenter's fields, each with the pattern from its CRD."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from gpupool.karpenter.checks import QUANTITY_HINT, QUANTITY_PATTERN, DateTime, IntOrString, suggest_hours
from gpupool.karpenter.labels import LABEL_VALUE_PATTERN
from gpupool.shapes import suggestions
from gpupool.shapes.annotations import Compared, Matching
from gpupool.shapes.base import Whole

_PERCENTAGE = r"(\d{1,2}(\.\d{1,2})?|100(\.0{1,2})?)%"
_SIZE = (
    r"(?:[1-9][0-9]{0,3}|[1-4][0-9]{4}|[5][0-8][0-9]{3}|59000)Gi"
    r"|(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|[6][0-3][0-9]{3}|64000)G"
    r"|([1-9]||[1-5][0-7]|58)Ti|([1-9]||[1-5][0-9]|6[0-3]|64)T"
)
_CRON = (
    r"^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))"
    r"|((.+)\s(.+)\s(.+)\s(.+)\s(.+))$"
)
_PREFIX = r"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\/))?"
_KEY_HINT = "a label key such as team or example.com/team"


Int32: TypeAlias = Annotated[Whole, Field(ge=-(2**31), le=2**31 - 1)]
Int64: TypeAlias = Annotated[Whole, Field(ge=-(2**63), le=2**63 - 1)]
Count: TypeAlias = Annotated[Whole, Field(ge=0, le=2**31 - 1)]
"""A 32-bit number that is not negative."""

Quantity: TypeAlias = Annotated[str, Matching(QUANTITY_PATTERN, QUANTITY_HINT), Compared("quantity")]
"""A Kubernetes quantity as text, such as `500m` or `64Gi`."""

LimitAmount: TypeAlias = Annotated[int | str, IntOrString(), Compared("quantity")]
"""A Kubernetes quantity, as a whole number or as text."""

Duration: TypeAlias = Annotated[
    str,
    Matching(
        r"^([0-9]+(s|m|h))+$", "a duration such as 30s, 90m or 12h (Karpenter has no days)", suggest_hours
    ),
    Compared("duration"),
]
DurationOrNever: TypeAlias = Annotated[
    str,
    Matching(
        r"^(([0-9]+(s|m|h))+|Never)$",
        "a duration such as 30s, 90m or 12h (Karpenter has no days), or Never",
        suggest_hours,
    ),
    Compared("duration"),
]
RequirementKey: TypeAlias = Annotated[
    str, Field(max_length=316), Matching(rf"^{_PREFIX}([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$", _KEY_HINT)
]
LabelValue: TypeAlias = Annotated[
    str,
    Field(max_length=63),
    Matching(
        LABEL_VALUE_PATTERN,
        "a label value (letters, digits, - _ . with a letter or digit at both ends)",
    ),
]
TaintKey: TypeAlias = Annotated[
    str,
    Matching(
        rf"^{_PREFIX}([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$",
        "a taint key such as dedicated or nvidia.com/gpu",
    ),
]
TaintValue: TypeAlias = Annotated[
    str,
    Matching(
        rf"^{_PREFIX}([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$",
        "a taint value such as true or gpu-team (omit `value` for a taint without one)",
    ),
]
Instant: TypeAlias = Annotated[str, DateTime()]
"""A time in the API server's `format: date-time`; `instants` checks which of them Go can parse."""

ApiGroup: TypeAlias = Annotated[
    str, Matching(r"^[^/]*$", "an API group without a version, such as karpenter.k8s.aws")
]

Weight: TypeAlias = Annotated[Whole, Field(ge=1, le=100)]
Replicas: TypeAlias = Annotated[Whole, Field(ge=0, le=2**31 - 1)]
MinValues: TypeAlias = Annotated[Whole, Field(ge=1, le=50)]
BudgetNodes: TypeAlias = Annotated[
    str,
    Matching(
        r"^((100|[0-9]{1,2})%|[0-9]+)$",
        'a number of nodes or a percentage in quotes, such as "3" or "10%"',
        suggestions.suggest_node_count,
    ),
]
CronSchedule: TypeAlias = Annotated[
    str, Matching(_CRON, 'a cron schedule of five fields, such as "0 9 * * 1-5", or a name such as @daily')
]
BudgetDuration: TypeAlias = Annotated[
    str,
    Matching(
        r"^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$",
        "a duration in hours and minutes, hours first, such as 8h, 30m or 1h30m",
        suggest_hours,
    ),
    Compared("duration"),
]
Reason: TypeAlias = Literal["Underutilized", "Empty", "Drifted"]
ConsolidationPolicy: TypeAlias = Literal["WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"]
TaintEffect: TypeAlias = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
OperatorName: TypeAlias = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"]

Architecture: TypeAlias = Literal["amd64", "arm64"]
OperatingSystem: TypeAlias = Literal["linux", "windows"]
AMIFamily: TypeAlias = Literal[
    "AL2", "AL2023", "Bottlerocket", "Custom", "Windows2019", "Windows2022", "Windows2025"
]
VolumeType: TypeAlias = Literal["standard", "io1", "io2", "gp2", "sc1", "st1", "gp3"]
VolumeSize: TypeAlias = Annotated[
    str,
    Matching(
        rf"^({_SIZE})$",
        "a volume size such as 100Gi, 500G or 2Ti (whole numbers, at most 59000Gi or 64T)",
        suggestions.suggest_size,
    ),
    Compared("quantity"),
]
Switch: TypeAlias = Literal["enabled", "disabled"]
EvictionThreshold: TypeAlias = Annotated[
    str,
    Matching(
        rf"^({_PERCENTAGE}||{QUANTITY_PATTERN[1:-1]})$",
        "a threshold such as 5% or 500Mi",
    ),
    Compared("quantity"),
]

AMIID: TypeAlias = Annotated[str, Matching(r"ami-[0-9a-z]+", "an AMI id such as ami-0123456789abcdef0")]
SubnetID: TypeAlias = Annotated[
    str, Matching(r"subnet-[0-9a-z]+", "a subnet id such as subnet-0123456789abcdef0")
]
SecurityGroupID: TypeAlias = Annotated[
    str, Matching(r"sg-[0-9a-z]+", "a security group id such as sg-0123456789abcdef0")
]
ReservationID: TypeAlias = Annotated[
    str, Matching(r"^cr-[0-9a-z]+$", "a capacity reservation id such as cr-0123456789abcdef0")
]
PlacementGroupID: TypeAlias = Annotated[
    str, Matching(r"^pg-[0-9a-z]+$", "a placement group id such as pg-0123456789abcdef0")
]
AccountID: TypeAlias = Annotated[
    str, Matching(r"^[0-9]{12}$", "an AWS account id of twelve digits, in quotes")
]
SelectorTags: TypeAlias = Annotated[dict[str, str], Field(max_length=20)]
Price: TypeAlias = Annotated[str, Matching(r"^\d+(\.\d+)?$", 'USD per hour as a string, such as "1.25"')]
PriceAdjustment: TypeAlias = Annotated[
    str,
    Matching(
        r"^(([+-]{1}(\d*\.?\d+))|(\+{1}\d*\.?\d+%)|(^(-\d{1,2}(\.\d+)?%)$)|(-100%))$",
        "a change with its sign, in USD per hour or percent, such as -0.5 or +10%",
    ),
]
