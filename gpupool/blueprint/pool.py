"""The pool words: a NodePool with its depth removed, and short words for the common."""

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
from gpupool.blueprint.nodeclass import NodeClassWords, ObjectMetadata
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
from gpupool.karpenter.v1.nodepool import NodeClassReference, Requirement, Taint, Weight
from gpupool.shapes import repairs
from gpupool.shapes.annotations import Matching, Since, form, number_or_text
from gpupool.shapes.base import NOT_EMPTY, Flag, Shape, Whole

Name: TypeAlias = Annotated[
    str, Matching(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "a name of small letters, digits and `-`", repairs.name)
]
_DAYS_TOO = "a duration such as 30m, 12h or 14d"
Duration: TypeAlias = Annotated[str, Matching(r"^([0-9]+(s|m|h|d))+$", _DAYS_TOO, repairs.duration)]
DurationOrNever: TypeAlias = Annotated[
    str, Matching(r"^(([0-9]+(s|m|h|d))+|Never)$", f"{_DAYS_TOO}, or Never", repairs.duration)
]


Nodes: TypeAlias = Annotated[
    Annotated[BudgetNodes, Tag("<text>")] | Annotated[Whole, Tag("<number>"), Field(ge=0)],
    Discriminator(number_or_text),
]
"""How many nodes at once: a number, or a percentage such as 10%, rounded up."""

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
    """Which EC2 machines a pool may use; every word has to hold."""

    types: TextConstraint | None = None
    """Instance types, as in `p5.48xlarge`."""

    families: TextConstraint | None = None
    """Instance families, as in `g6e`: the part of a type before the dot."""

    categories: TextConstraint | None = None
    """Instance categories, as in `g` or `p`: the letters before the generation."""

    sizes: TextConstraint | None = None
    """Instance sizes, as in `2xlarge`: the part of a type after the dot."""

    hypervisor: Hypervisors | None = None
    """The hypervisor; metal sizes have the empty text."""

    generation: NumberConstraint | None = None
    """The generation number, as in 5 for p5."""

    cpu: NumberConstraint | None = None
    """Number of vCPUs."""

    memory: SizeConstraint | None = None
    """Memory of the machine, with its unit."""

    gpus: NumberConstraint | None = None
    """Number of GPUs in one machine."""

    gpu_memory: SizeConstraint | None = None
    """Memory of one GPU, with its unit. 24GB takes L4 and A10G; 24Gi would not."""

    local_nvme: SizeConstraint | None = None
    """NVMe instance storage of the machine in total, with its unit."""

    network_bandwidth: RateConstraint | None = None
    """Network bandwidth of the machine, with its unit."""


Dollars: TypeAlias = Annotated[float, Field(strict=True, gt=0, le=1_000_000_000)]


class Limits(Shape):
    """How much a pool may hold at most; Karpenter stops launching when one is reached.

    `nodes`, `gpus`, `usdPerHour`, and any resource name that Karpenter counts: `cpu`, `memory`,
    `aws.amazon.com/neuron`, `vpc.amazonaws.com/efa`. Each is rendered as one limit; none fills in another.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, "Amount | None"]

    nodes: Annotated[Whole, Field(ge=0)] | None = None
    """Number of nodes. Karpenter may overshoot it when it launches several at once."""

    gpus: Annotated[Whole, Field(ge=0)] | None = None
    """Number of physical GPUs, even where they are shared."""

    usd_per_hour: Dollars | None = None
    """What the accelerators may cost by the hour, on demand. Becomes a number of accelerators, by the dearest
    that the pool's machines have. Under the blueprint's own `limits`: what the pools' may add up to."""

    cpu: "Amount | None" = None
    """vCPUs in total."""

    memory: "Amount | None" = None
    """Memory in total, as in `2000Gi`."""


Amount: TypeAlias = Annotated[
    Annotated[Quantity, Tag("<text>")] | Annotated[Whole, Tag("<number>")],
    Discriminator(number_or_text),
]
Share: TypeAlias = Annotated[
    str, Matching(r"^([1-9][0-9]?|100)%$", "a share of the pool's limits, such as 25%")
]
TierLimits: TypeAlias = Annotated[
    Annotated[Share, Tag("<one>")] | Annotated[Limits, Tag("<map>")],
    Discriminator(form),
]


class Budget(Shape):
    """How many nodes may be disrupted at once; of all budgets that apply, Karpenter takes the smallest."""

    nodes: Nodes | None = None
    """How many at once: a number, or a percentage that is rounded up. 10% unless said."""

    schedule: CronSchedule | None = None
    """When the budget begins to count, in cron's five fields and UTC. It restricts; it never permits."""

    duration: BudgetDuration | None = None
    """How long the budget counts from each time of `schedule` on."""

    reasons: list[Reason] | None = None
    """Which disruptions it counts for; all unless said."""


class Window(Shape):
    """A stretch of the week in local time."""

    days: Texts | None = None
    """`mon-fri`, `sat`, `[sat, sun]` or `daily`; daily unless said. The day on which the window begins."""

    hours: str | None = None
    """`22:00-06:00`; an end before the start is on the next day. Whole days unless said."""

    nodes: Nodes | None = None
    """How many nodes at once during the window; 0 for `protect`, 10% for `maintenance` unless said."""

    reasons: (
        Annotated[
            Annotated[list[Reason], Tag("<list>")] | Annotated[Literal["all"], Tag("<one>")],
            Discriminator(form),
        ]
        | None
    ) = None
    """Which disruptions; Underutilized and Drifted unless said, so that empty nodes still go. Or `all`."""

    timezone: str | None = None
    """The IANA time zone, as in `Europe/Berlin`; `cluster.timezone` unless said."""


Windows: TypeAlias = Annotated[
    Annotated[Window, Tag("<map>")] | Annotated[list[Window], Tag("<list>"), NOT_EMPTY],
    Discriminator(form),
]


class Disruption(Shape):
    """When Karpenter may take nodes away by itself."""

    consolidation_policy: ConsolidationPolicy | None = None
    """Which nodes may be consolidated: only empty ones, or also under-used ones."""

    consolidate_after: DurationOrNever | None = None
    """How long a node has to be idle before it may be consolidated. Karpenter wants it as soon as
    anything is said about disruption."""

    budgets: list[Budget] | None = None
    """Karpenter's own budgets, in UTC. Where nothing is said, it takes 10% at once."""

    protect: Windows | None = None
    """Windows during which at most `nodes` (0) may be disrupted."""

    maintenance: Windows | None = None
    """The only windows in which the named disruptions may happen, at most `nodes` (10%) at once."""


class Sharing(Shape):
    """Several pods on one GPU."""

    time_slicing: Annotated[Whole, Field(ge=2, le=64)] | None = None
    """How many pods take turns on each GPU; they share its memory without limits."""


TaintWords: TypeAlias = Annotated[
    Annotated[dict[str, Texts | None], Tag("<map>")] | Annotated[list[Taint], Tag("<list>")],
    Discriminator(form),
]
"""`key: value:Effect` or `key: Effect`, a list for several effects on one key; or Karpenter's own list."""

Requirements: TypeAlias = Annotated[
    Annotated[dict[str, ValueConstraint | None], Tag("<map>")] | Annotated[list[Requirement], Tag("<list>")],
    Discriminator(form),
]
"""Any node label and the values it may have; or Karpenter's own list."""

NodeClassWord: TypeAlias = Annotated[
    Annotated[str, Tag("<one>")] | Annotated[NodeClassWords, Tag("<map>")],
    Discriminator(form),
]


class PoolWords(Shape):
    """What a pool, a tier, a profile or the defaults may say about a group of machines."""

    metadata: ObjectMetadata | None = None
    """Labels and annotations of the NodePool object; those of its nodes are `labels` and `annotations`."""

    node_class: NodeClassWord | None = None
    """The name of a class under `nodeClasses`, or the words of a class of the pool's own."""

    node_class_ref: NodeClassReference | None = None
    """Karpenter's own reference, for classes of a kind that gpupool does not render."""

    accelerator: Texts | None = None
    """The GPU or Neuron chip: `h100`, `[l4, a10g]`, `trainium2`; `nvidia` or `neuron` for any; `none`."""

    arch: Architectures | None = None
    """The processor architecture."""

    os: OperatingSystems | None = None
    """The operating system."""

    instances: Instances | None = None
    """Which EC2 machines."""

    requirements: Requirements | None = None
    """Any other node label and the values it may have."""

    capacity: (
        Annotated[
            Annotated[Literal["on-demand", "spot", "reserved", "any"], Tag("<one>")]
            | Annotated[list[Capacity], Tag("<list>"), NOT_EMPTY],
            Discriminator(form),
        ]
        | None
    ) = None
    """How machines are bought; on-demand unless said. Karpenter always tries reserved, spot, on-demand
    in this order. `any` says nothing to Karpenter, which then prefers spot."""

    zones: Texts | None = None
    """Availability zones: names, letters (`b` is `<region>b`) or zone ids; `cluster.zones` unless said."""

    labels: dict[str, LabelValue | None] | None = None
    """Labels of the pool's nodes. A change replaces them all."""

    annotations: dict[str, str | None] | None = None
    """Annotations of the pool's nodes. A change replaces them all."""

    taints: TaintWords | None = None
    """What keeps other pods off the nodes. A change replaces them all."""

    startup_taints: TaintWords | None = None
    """Taints that an agent on the node has to take away before the node counts as ready."""

    expire_after: DurationOrNever | None = None
    """How long a node lives at most, budgets or not; Karpenter takes 720h where nothing is said."""

    termination_grace_period: Duration | None = None
    """How long a node that goes waits for its pods; without it a protected pod holds it for ever."""

    disruption: Disruption | None = None
    """When Karpenter may take nodes away by itself."""

    limits: Limits | None = None
    """How much the pool may hold at most."""

    weight: Weight | None = None
    """Which of several fitting pools comes first: the higher, from 1 to 100."""

    replicas: Annotated[
        Annotated[Whole, Field(ge=0, le=2147483647)] | None, Since("1.8", gate="StaticCapacity")
    ] = None
    """A fixed number of nodes, kept whether or not pods want them."""

    do_not_disrupt: Flag | None = None
    """true: Karpenter never disrupts these nodes by itself, except when they expire or are interrupted."""

    sharing: Sharing | None = None
    """Several pods on one GPU."""


class Tier(PoolWords):
    """One NodePool of a pool that has several; it overrides any of the pool's words but `profile`."""

    limits: TierLimits | None = None  # type: ignore[assignment] # a tier may also say a share
    """The tier's own limits, or a share of the pool's such as 25%. A silent tier gets them in full."""


class TieredWords(PoolWords):
    """What a pool or a profile may say: a pool's words, and tiers."""

    tiers: dict[Name, Tier | None] | None = None
    """Several NodePools `<pool>-<tier>`, tried in this order."""


class Pool(TieredWords):
    """A group of interchangeable machines: one NodePool, or one for each tier."""

    profile: str | None = None
    """A shipped profile's name, or the path of your own; its words lie under the pool's."""
