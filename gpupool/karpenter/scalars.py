"""The single values that Karpenter's objects are made of, each with the pattern of its CRD."""

import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from gpupool.karpenter.instants import is_date_time
from gpupool.shapes.base import Matching, Whole

QUANTITY_PATTERN = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
LABEL_VALUE_PATTERN = r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"
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
_KIND = "wanted"
_HOURS = {"d": 24, "w": 7 * 24}
_QUANTITY_WORDS = "a quantity such as 16, 500m or 64Gi"
_KEY_WORDS = "a label key such as team or example.com/team"


@dataclass(frozen=True, slots=True)
class Distinct:
    """A list in which nothing stands twice."""

    wanted: str
    """What the list should be: `a list of different reasons`."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Check after pydantic has read the list."""
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Say the same in JSON Schema."""
        return {**handler(schema), "uniqueItems": True}

    def _check(self, items: list[str]) -> list[str]:
        for index, item in enumerate(items):
            if item in items[:index]:
                raise _unlike(self.wanted, "take it out", item=index)
        return items


@dataclass(frozen=True, slots=True)
class _IntOrString:
    """Read a whole number or a quantity text, with one error for everything else."""

    def __get_pydantic_core_schema__(self, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        """Replace pydantic's union, which reports each branch on its own."""
        return core_schema.no_info_plain_validator_function(_amount)

    def __get_pydantic_json_schema__(
        self, _schema: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Say the same in JSON Schema."""
        return {"anyOf": [{"type": "integer"}, {"type": "string"}], "pattern": QUANTITY_PATTERN}


@dataclass(frozen=True, slots=True)
class _DateTime:
    """Refuse what is no date and time to the API server, which lets any list through as well."""

    def __get_pydantic_core_schema__(self, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        """Replace pydantic's check for a text."""
        return core_schema.no_info_plain_validator_function(_moment)

    def __get_pydantic_json_schema__(
        self, _schema: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Say in JSON Schema what is meant."""
        return {"type": "string", "format": "date-time"}


def _moment(value: object) -> object:
    if isinstance(value, list):
        return value
    wanted = "a moment such as 2026-08-20T12:00:00Z"
    if not isinstance(value, str):
        raise _unlike(wanted)
    if not is_date_time(value):
        kind = "date_time"
        raise PydanticCustomError(kind, "{wanted}", {"wanted": wanted})
    return value


def _in_hours(text: str) -> str:
    """Give the hours for a number of days or weeks."""
    match = re.fullmatch(r"([0-9]{1,5})([dw])", text, re.ASCII)
    return f"write {int(match[1]) * _HOURS[match[2]]}h" if match else ""


def _unlike(wanted: str, fix: str = "", **context: int) -> PydanticCustomError:
    return PydanticCustomError(_KIND, "{wanted}", {"wanted": wanted, "fix": fix, **context})


def _amount(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(QUANTITY_PATTERN, value, re.ASCII):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    fix = f'put it in quotes: "{value}"' if isinstance(value, float) else ""
    raise _unlike(_QUANTITY_WORDS, fix)


Int32: TypeAlias = Annotated[Whole, Field(ge=-(2**31), le=2**31 - 1)]
Int64: TypeAlias = Annotated[Whole, Field(ge=-(2**63), le=2**63 - 1)]
Count: TypeAlias = Annotated[Whole, Field(ge=0, le=2**31 - 1)]
"""A 32-bit number that is not negative."""

Quantity: TypeAlias = Annotated[str, Matching(QUANTITY_PATTERN, _QUANTITY_WORDS)]
"""A Kubernetes quantity as text, as in `500m` or `64Gi`."""

Amount: TypeAlias = Annotated[int | str, _IntOrString()]
"""A Kubernetes quantity, as a whole number or as text."""

Duration: TypeAlias = Annotated[
    str,
    Matching(r"^([0-9]+(s|m|h))+$", "a duration such as 30s, 90m or 12h; Karpenter has no days", _in_hours),
]
DurationOrNever: TypeAlias = Annotated[
    str,
    Matching(
        r"^(([0-9]+(s|m|h))+|Never)$",
        "a duration such as 30s, 90m or 12h (Karpenter has no days), or Never",
        _in_hours,
    ),
]
QualifiedName: TypeAlias = Annotated[
    str, Matching(rf"^{_PREFIX}([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$", _KEY_WORDS)
]
"""A name with an optional DNS prefix, as label and taint keys are."""

RequirementKey: TypeAlias = Annotated[
    str, Field(max_length=316), Matching(rf"^{_PREFIX}([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$", _KEY_WORDS)
]
LabelValue: TypeAlias = Annotated[
    str,
    Field(max_length=63),
    Matching(
        LABEL_VALUE_PATTERN,
        "a label value: letters, digits, - _ . with a letter or digit at both ends",
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
        "a taint value such as true or gpu-team; leave the key out for a taint without value",
    ),
]
Instant: TypeAlias = Annotated[str, _DateTime()]
"""A moment as the API server's `format: date-time` has it; `instants` tells which of them Go can read."""

ApiGroup: TypeAlias = Annotated[
    str, Matching(r"^[^/]*$", "an API group without a version, such as karpenter.k8s.aws")
]

Weight: TypeAlias = Annotated[Whole, Field(ge=1, le=100)]
Replicas: TypeAlias = Annotated[Whole, Field(ge=0, le=2**31 - 1)]
MinValues: TypeAlias = Annotated[Whole, Field(ge=1, le=50)]
BudgetNodes: TypeAlias = Annotated[
    str,
    Matching(
        r"^((100|[0-9]{1,2})%|[0-9]+)$", 'a number of nodes or a percentage in quotes, as in "3" or "10%"'
    ),
]
CronSchedule: TypeAlias = Annotated[
    str, Matching(_CRON, 'a cron schedule of five fields, as in "0 9 * * 1-5", or @daily and the like')
]
BudgetDuration: TypeAlias = Annotated[
    str,
    Matching(
        r"^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$",
        "a duration in hours and minutes, hours first, such as 8h, 30m or 1h30m",
        _in_hours,
    ),
]
Reason: TypeAlias = Literal["Underutilized", "Empty", "Drifted"]
ConsolidationPolicy: TypeAlias = Literal["WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"]
TaintEffect: TypeAlias = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
Operator: TypeAlias = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"]

Architecture: TypeAlias = Literal["amd64", "arm64"]
OperatingSystem: TypeAlias = Literal["linux", "windows"]
AMIFamily: TypeAlias = Literal[
    "AL2", "AL2023", "Bottlerocket", "Custom", "Windows2019", "Windows2022", "Windows2025"
]
VolumeType: TypeAlias = Literal["standard", "io1", "io2", "gp2", "sc1", "st1", "gp3"]
VolumeSize: TypeAlias = Annotated[
    str,
    Matching(
        rf"^({_SIZE})$", "a volume size such as 100Gi, 500G or 2Ti; whole numbers, at most 59000Gi or 64T"
    ),
]
Switch: TypeAlias = Literal["enabled", "disabled"]
ReservedResource: TypeAlias = Literal["cpu", "memory", "ephemeral-storage", "pid"]
EvictionSignal: TypeAlias = Literal[
    "memory.available",
    "nodefs.available",
    "nodefs.inodesFree",
    "imagefs.available",
    "imagefs.inodesFree",
    "pid.available",
]
EvictionThreshold: TypeAlias = Annotated[
    str,
    Matching(
        rf"^({_PERCENTAGE}||{QUANTITY_PATTERN[1:-1]})$",
        "a threshold such as 5% or 500Mi",
    ),
]

AMIID: TypeAlias = Annotated[str, Matching(r"ami-[0-9a-z]+", "an image id such as ami-0123456789abcdef0")]
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
AccountID: TypeAlias = Annotated[str, Matching(r"^[0-9]{12}$", "an AWS account of twelve digits, in quotes")]
SelectorTags: TypeAlias = Annotated[dict[str, str], Field(max_length=20)]
Price: TypeAlias = Annotated[str, Matching(r"^\d+(\.\d+)?$", 'USD per hour as text, as in "1.25"')]
PriceAdjustment: TypeAlias = Annotated[
    str,
    Matching(
        r"^(([+-]{1}(\d*\.?\d+))|(\+{1}\d*\.?\d+%)|(^(-\d{1,2}(\.\d+)?%)$)|(-100%))$",
        "a change with its sign, in USD per hour or percent, as in -0.5 or +10%",
    ),
]
