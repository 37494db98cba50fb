"""Pool fields of a blueprint: the fields of a NodePool without nesting, and gpupool's short fields."""

from typing import Annotated, Literal, TypeAlias

from pydantic import ConfigDict, Discriminator, Field, Tag

from gpupool.blueprint.constraint import (
    NumberConstraint,
    RateConstraint,
    SizeConstraint,
    TextConstraint,
    Texts,
    ValueConstraint,
)
from gpupool.blueprint.nodeclass import NodeClassFields, ObjectMetadata
from gpupool.karpenter.scalars import (
    Architecture,
    BudgetDuration,
    BudgetNodes,
    ConsolidationPolicy,
    CronSchedule,
    LabelValue,
    OperatingSystem,
    Quantity,
    Reason,
)
from gpupool.karpenter.v1.nodepool import (
    NodeClassReference,
    NodeSelectorRequirementWithMinValues,
    Taint,
    Weight,
)
from gpupool.shapes import suggestions
from gpupool.shapes.annotations import Matching, Since, form, number_or_text
from gpupool.shapes.base import NOT_EMPTY, Flag, Shape, Whole

Name: TypeAlias = Annotated[
    str,
    Matching(
        r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        "a name of lower-case letters, digits and `-`",
        suggestions.suggest_name,
    ),
]
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

Architectures: TypeAlias = Annotated[
    Annotated[Architecture, Tag("<one>")] | Annotated[list[Architecture], Tag("<list>"), NOT_EMPTY],
    Discriminator(form),
]
OperatingSystems: TypeAlias = Annotated[
    Annotated[OperatingSystem, Tag("<one>")] | Annotated[list[OperatingSystem], Tag("<list>"), NOT_EMPTY],
    Discriminator(form),
]
Hypervisor: TypeAlias = Literal["nitro", "xen", ""]
Hypervisors: TypeAlias = Annotated[
    Annotated[Hypervisor, Tag("<one>")] | Annotated[list[Hypervisor], Tag("<list>"), NOT_EMPTY],
    Discriminator(form),
]
Capacity: TypeAlias = Literal["on-demand", "spot", "reserved"]


class Instances(Shape):
    """The EC2 instance types that a pool can use; they have to meet every field."""

    types: TextConstraint | None = None
    """Instance types, as in `p5.48xlarge`."""

    families: TextConstraint | None = None
    """Instance families, as in `g6e`: the part of a type before the dot."""

    categories: TextConstraint | None = None
    """Instance categories, as in `g` or `p`: the letters before the generation."""

    sizes: TextConstraint | None = None
    """Instance sizes, as in `2xlarge`: the part of a type after the dot."""

    hypervisor: Hypervisors | None = None
    """The hypervisor; for metal sizes it is the empty text."""

    generation: NumberConstraint | None = None
    """The generation number, such as 5 for p5."""

    cpu: NumberConstraint | None = None
    """Number of vCPUs."""

    memory: SizeConstraint | None = None
    """Memory of the instance type, with its unit."""

    gpus: NumberConstraint | None = None
    """Number of GPUs of the instance type."""

    gpu_memory: SizeConstraint | None = None
    """Memory of one GPU, with its unit. `{min: 24GB}` matches L4 and A10G; `{min: 24Gi}` does not."""

    local_nvme: SizeConstraint | None = None
    """Total NVMe instance storage of the instance type, with its unit."""

    network_bandwidth: RateConstraint | None = None
    """Network bandwidth of the instance type, with its unit."""


Dollars: TypeAlias = Annotated[float, Field(strict=True, gt=0, le=1_000_000_000)]


class BlueprintLimits(Shape):
    """The maximum size of a pool; Karpenter stops launching when one limit is reached.

    `nodes`, `gpus`, `usdPerHour`, and any resource name that Karpenter counts: `cpu`, `memory`,
    `aws.amazon.com/neuron`, `vpc.amazonaws.com/efa`. Each is rendered as one limit of its own.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, "BlueprintAmount | None"]

    nodes: Annotated[Whole, Field(ge=0)] | None = None
    """Number of nodes. Karpenter can exceed it when it launches several nodes at once."""

    gpus: Annotated[Whole, Field(ge=0)] | None = None
    """Number of physical GPUs, also where they are shared."""

    usd_per_hour: Dollars | None = None
    """Maximum on-demand cost of the accelerators per hour; becomes a number of accelerators by the price of
    the most expensive one. In the blueprint's own `limits`: the cap on the pools' sum."""

    cpu: "BlueprintAmount | None" = None
    """vCPUs in total."""

    memory: "BlueprintAmount | None" = None
    """Memory in total, as in `2000Gi`."""


BlueprintAmount: TypeAlias = Annotated[
    Annotated[Quantity, Tag("<text>")] | Annotated[Whole, Tag("<number>")],
    Discriminator(number_or_text),
]
Share: TypeAlias = Annotated[
    str,
    Matching(r"^([1-9][0-9]?|100)%$", "a share of the pool's limits, such as 25%", suggestions.suggest_share),
]
TierLimits: TypeAlias = Annotated[
    Annotated[Share, Tag("<one>")] | Annotated[BlueprintLimits, Tag("<map>")],
    Discriminator(form),
]


class BlueprintBudget(Shape):
    """How many nodes can be disrupted at once; of all budgets that apply, Karpenter uses the smallest."""

    nodes: Nodes | None = None
    """The number of nodes at once, or a percentage, rounded up. Default: 10%."""

    schedule: CronSchedule | None = None
    """When the budget becomes active: five cron fields, in UTC. A budget restricts; it never permits."""

    duration: BudgetDuration | None = None
    """How long the budget is active from each time in `schedule`."""

    reasons: list[Reason] | None = None
    """Which disruptions the budget is for. Default: all."""


class BlueprintWindow(Shape):
    """A part of the week in local time."""

    days: Texts | None = None
    """The days on which the window begins: `mon-fri`, `sat`, `[sat, sun]` or `daily`. Default: daily."""

    hours: str | None = None
    """As in `22:00-06:00`; an end before the start is on the next day. Default: the whole day."""

    nodes: Nodes | None = None
    """The number of nodes at once during the window. Default: 0 for `protect`, 10% for `maintenance`."""

    reasons: (
        Annotated[
            Annotated[list[Reason], Tag("<list>")] | Annotated[Literal["all"], Tag("<one>")],
            Discriminator(form),
        ]
        | None
    ) = None
    """Which disruptions it is for, or `all`. Default: Underutilized and Drifted, but not Empty."""

    timezone: str | None = None
    """The IANA time zone, as in `Europe/Berlin`. Default: `cluster.timezone`."""


Windows: TypeAlias = Annotated[
    Annotated[BlueprintWindow, Tag("<map>")] | Annotated[list[BlueprintWindow], Tag("<list>"), NOT_EMPTY],
    Discriminator(form),
]


class BlueprintDisruption(Shape):
    """When Karpenter can disrupt nodes by itself."""

    consolidation_policy: ConsolidationPolicy | None = None
    """Which nodes can be consolidated: only empty ones, or also underutilized ones."""

    consolidate_after: BlueprintDurationOrNever | None = None
    """How long a node has to be idle before it can be consolidated. Required in `disruption`."""

    budgets: list[BlueprintBudget] | None = None
    """Karpenter's own budgets, in UTC. Karpenter's default: 10% of the nodes at once."""

    protect: Windows | None = None
    """Windows during which at most `nodes` can be disrupted. Default: 0."""

    maintenance: Windows | None = None
    """The only windows in which `reasons` can disrupt nodes, at most `nodes` at once. Default: 10%."""


class Sharing(Shape):
    """Several pods on one GPU."""

    time_slicing: Annotated[Whole, Field(ge=2, le=64)] | None = None
    """How many pods share each GPU in turn; its memory is shared without limits."""


BlueprintTaints: TypeAlias = Annotated[
    Annotated[dict[str, Texts | None], Tag("<map>")] | Annotated[list[Taint], Tag("<list>")],
    Discriminator(form),
]
"""`key: value:Effect` or `key: Effect`, a list for several effects on one key; or Karpenter's own list."""

BlueprintRequirements: TypeAlias = Annotated[
    Annotated[dict[str, ValueConstraint | None], Tag("<map>")]
    | Annotated[list[NodeSelectorRequirementWithMinValues], Tag("<list>")],
    Discriminator(form),
]
"""Any node label and the values it may have; or Karpenter's own list."""

NodeClassSetting: TypeAlias = Annotated[
    Annotated[str, Tag("<one>")] | Annotated[NodeClassFields, Tag("<map>")],
    Discriminator(form),
]


class PoolFields(Shape):
    """The fields of a pool that a pool, a tier, a profile and the defaults can set."""

    metadata: ObjectMetadata | None = None
    """Labels and annotations of the NodePool object. Its nodes get `labels` and `annotations`."""

    node_class: NodeClassSetting | None = None
    """The name of a node class under `nodeClasses`, or the fields of a node class for this pool only."""

    node_class_ref: NodeClassReference | None = None
    """Karpenter's own reference, for node classes of a kind that gpupool does not render."""

    accelerator: Texts | None = None
    """The GPU or Neuron chip: `h100`, `[l4, a10g]`, `trainium2`. `nvidia` or `neuron` for any, or `none`."""

    arch: Architectures | None = None
    """The processor architecture."""

    os: OperatingSystems | None = None
    """The operating system."""

    instances: Instances | None = None
    """The EC2 instance types that the pool can use."""

    requirements: BlueprintRequirements | None = None
    """Any other node label and its allowed values."""

    capacity: (
        Annotated[
            Annotated[Literal["on-demand", "spot", "reserved", "any"], Tag("<one>")]
            | Annotated[list[Capacity], Tag("<list>"), NOT_EMPTY],
            Discriminator(form),
        ]
        | None
    ) = None
    """The capacity types. Default: on-demand. Karpenter always tries reserved, then spot, then on-demand.
    `any` renders no requirement; Karpenter then prefers spot."""

    zones: Texts | None = None
    """Availability zones: names, letters (`b` is `<region>b`) or zone ids. Default: `cluster.zones`."""

    labels: dict[str, LabelValue | None] | None = None
    """Labels of the pool's nodes. A change replaces all nodes."""

    annotations: dict[str, str | None] | None = None
    """Annotations of the pool's nodes. A change replaces all nodes."""

    taints: BlueprintTaints | None = None
    """Taints of the pool's nodes. A change replaces all nodes."""

    startup_taints: BlueprintTaints | None = None
    """Taints that an agent has to remove before the node counts as initialized."""

    expire_after: BlueprintDurationOrNever | None = None
    """The maximum lifetime of a node, whatever the budgets. Karpenter's default: 720h."""

    termination_grace_period: BlueprintDuration | None = None
    """How long termination waits for the node's pods. Without it, a protected pod blocks it forever."""

    disruption: BlueprintDisruption | None = None
    """When Karpenter can disrupt nodes by itself."""

    limits: BlueprintLimits | None = None
    """The maximum size of the pool."""

    weight: Weight | None = None
    """The priority among pools that fit a pod, from 1 to 100; the highest is tried first."""

    replicas: Annotated[
        Annotated[Whole, Field(ge=0, le=2147483647)] | None, Since("1.8", gate="StaticCapacity")
    ] = None
    """A fixed number of nodes, whether or not pods need them."""

    do_not_disrupt: Flag | None = None
    """true: Karpenter never disrupts these nodes, unless they expire or are interrupted."""

    sharing: Sharing | None = None
    """Several pods on one GPU."""


class Tier(PoolFields):
    """One NodePool of a pool that has several; it overrides any field of the pool but `profile`."""

    limits: TierLimits | None = None  # type: ignore[assignment] # a tier can also set a share
    """The tier's own limits, or a share of the pool's such as 25%. Default: the pool's limits in full."""


class TieredPoolFields(PoolFields):
    """The fields of a pool, and tiers."""

    tiers: dict[Name, Tier | None] | None = None
    """Several NodePools named `<pool>-<tier>`, tried in this order."""


class BlueprintPool(TieredPoolFields):
    """A group of interchangeable nodes: one NodePool, or one for each tier."""

    profile: str | None = None
    """The name of a shipped profile, or the path of your own; the pool's own fields override it."""
