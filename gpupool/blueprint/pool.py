"""Table of a pool's fields: those of a NodePool without nesting, and gpupool's short ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from gpupool.blueprint import targets
from gpupool.blueprint.base import BlueprintFields
from gpupool.blueprint.durations import to_karpenter_duration
from gpupool.blueprint.keyed import Constraint, Keyed
from gpupool.blueprint.nodeclass import NodeClassFields, ObjectMetadata
from gpupool.karpenter import labels as names
from gpupool.shapes.fields import (
    ListOf,
    ListOfParts,
    MapOf,
    Named,
    One,
    Part,
    Parts,
    Several,
    TextOrPart,
    Verbatim,
)

if TYPE_CHECKING:
    from gpupool.blueprint.types import (
        Architecture,
        BlueprintAmount,
        BlueprintDuration,
        BlueprintDurationOrNever,
        BlueprintRequirements,
        BlueprintTaints,
        BudgetDuration,
        CapacitySetting,
        ConsolidationPolicy,
        CronSchedule,
        Dollars,
        Flag,
        Hypervisor,
        LabelValue,
        NodeClassReference,
        Nodes,
        NumberConstraint,
        OperatingSystem,
        RateConstraint,
        Reason,
        Replicas,
        SizeConstraint,
        Slices,
        Text,
        TextConstraint,
        Weight,
        WholeOrZero,
        WindowReasons,
    )

PLUGIN_CONFIG_LABEL = "nvidia.com/device-plugin.config"
"""The node label that selects the device plugin's configuration."""

_CLASS = ("the node class",)
_TEMPLATE, _TEMPLATE_SPEC = "spec.template.metadata", "spec.template.spec"
_LAUNCH_TEMPLATE = "set its fields under `nodeClass`; Karpenter creates its own launch templates"
_SELECTOR = "set `labels` for the nodes' labels, and `instances` to select instance types"
_SELECT = "set `instances: {types: …}`"
_MINIMUM = "set `replicas: N` for a fixed number of nodes; a NodePool has no minimum and scales from zero"
_DESIRED = "set `replicas: N` for a fixed number of nodes; otherwise Karpenter follows the pods"
_LIMIT = "set `limits: {nodes: N}`"
_SHARE = "set `sharing: {timeSlicing: N}`; gpupool supports no other way to share GPUs"


class Instances(BlueprintFields):
    """The EC2 instance types that a pool can use; they have to meet every field."""

    types: Annotated[Constraint, TextConstraint] = Constraint(label=names.INSTANCE_TYPE)
    """Instance types, as in `p5.48xlarge`."""

    families: Annotated[Constraint, TextConstraint] = Constraint(label=names.INSTANCE_FAMILY)
    """Instance families, as in `g6e`: the part of a type before the dot."""

    categories: Annotated[Constraint, TextConstraint] = Constraint(label=names.INSTANCE_CATEGORY)
    """Instance categories, as in `g` or `p`: the letters before the generation."""

    sizes: Annotated[Constraint, TextConstraint] = Constraint(label=names.INSTANCE_SIZE)
    """Instance sizes, as in `2xlarge`: the part of a type after the dot."""

    hypervisor: Several[Hypervisor] = Several(label=names.INSTANCE_HYPERVISOR)
    """The hypervisor; for metal sizes it is the empty text."""

    generation: Annotated[Constraint, NumberConstraint] = Constraint(label=names.INSTANCE_GENERATION)
    """The generation number, such as 5 for p5."""

    cpu: Annotated[Constraint, NumberConstraint] = Constraint(label=names.INSTANCE_CPU)
    """Number of vCPUs."""

    memory: Annotated[Constraint, SizeConstraint] = Constraint(label=names.INSTANCE_MEMORY)
    """Memory of the instance type, with its unit."""

    gpus: Annotated[Constraint, NumberConstraint] = Constraint(label=names.INSTANCE_GPU_COUNT)
    """Number of GPUs of the instance type."""

    gpu_memory: Annotated[Constraint, SizeConstraint] = Constraint(label=names.INSTANCE_GPU_MEMORY)
    """Memory of one GPU, with its unit. `{min: 24GB}` matches L4 and A10G; `{min: 24Gi}` does not."""

    local_nvme: Annotated[Constraint, SizeConstraint] = Constraint(label=names.INSTANCE_LOCAL_NVME)
    """Total NVMe instance storage of the instance type, with its unit."""

    network_bandwidth: Annotated[Constraint, RateConstraint] = Constraint(
        label=names.INSTANCE_NETWORK_BANDWIDTH
    )
    """Network bandwidth of the instance type, with its unit."""


class BlueprintLimits(BlueprintFields):
    """The maximum size of a pool; Karpenter stops launching when one limit is reached.

    `nodes`, `gpus`, `usdPerHour`, and any resource name that Karpenter counts: `cpu`, `memory`,
    `aws.amazon.com/neuron`, `vpc.amazonaws.com/efa`. Each is rendered as one limit of its own.
    """

    other_type = "BlueprintAmount"

    nodes: One[WholeOrZero] = One()
    """Number of nodes. Karpenter can exceed it when it launches several nodes at once."""

    gpus: One[WholeOrZero] = One(sets=targets.GPU_LIMITS)
    """Number of physical GPUs, also where they are shared."""

    usd_per_hour: One[Dollars] = One()
    """Maximum on-demand cost of the accelerators per hour; becomes a number of accelerators by the price of
    the most expensive one. In the blueprint's own `limits`: the cap on the pools' sum."""

    cpu: One[BlueprintAmount] = One()
    """vCPUs in total."""

    memory: One[BlueprintAmount] = One()
    """Memory in total, as in `2000Gi`."""


class BlueprintBudget(BlueprintFields):
    """How many nodes can be disrupted at once; of all budgets that apply, Karpenter uses the smallest."""

    nodes: One[Nodes] = One(default="10%")
    """The number of nodes at once, or a percentage, rounded up. Default: 10%."""

    schedule: One[CronSchedule] = One()
    """When the budget becomes active: five cron fields, in UTC. A budget restricts; it never permits."""

    duration: One[BudgetDuration] = One()
    """How long the budget is active from each time in `schedule`."""

    reasons: ListOf[Reason] = ListOf()
    """Which disruptions the budget is for. Default: all."""


class BlueprintWindow(BlueprintFields):
    """A part of the week in local time."""

    days: Several[Text] = Several()
    """The days on which the window begins: `mon-fri`, `sat`, `[sat, sun]` or `daily`. Default: daily."""

    hours: One[Text] = One()
    """As in `22:00-06:00`; an end before the start is on the next day. Default: the whole day."""

    nodes: One[Nodes] = One()
    """The number of nodes at once during the window. Default: 0 for `protect`, 10% for `maintenance`."""

    reasons: Annotated[Several[Text], WindowReasons] = Several()
    """Which disruptions it is for, or `all`. Default: Underutilized and Drifted, but not Empty."""

    timezone: One[Text] = One()
    """The IANA time zone, as in `Europe/Berlin`. Default: `cluster.timezone`."""


class BlueprintDisruption(BlueprintFields):
    """When Karpenter can disrupt nodes by itself."""

    consolidation_policy: One[ConsolidationPolicy] = One(to="consolidationPolicy")
    """Which nodes can be consolidated: only empty ones, or also underutilized ones."""

    consolidate_after: One[BlueprintDurationOrNever] = One(
        to="consolidateAfter", convert=to_karpenter_duration
    )
    """How long a node has to be idle before it can be consolidated. Required in `disruption`."""

    budgets = ListOfParts(BlueprintBudget)
    """Karpenter's own budgets, in UTC. Karpenter's default: 10% of the nodes at once."""

    protect = Parts(BlueprintWindow)
    """Windows during which at most `nodes` can be disrupted. Default: 0."""

    maintenance = Parts(BlueprintWindow)
    """The only windows in which `reasons` can disrupt nodes, at most `nodes` at once. Default: 10%."""


class Sharing(BlueprintFields):
    """Several pods on one GPU."""

    time_slicing: One[Slices] = One(hints={"mps": _SHARE, "mig": _SHARE})
    """How many pods share each GPU in turn; its memory is shared without limits."""


class PoolFields(BlueprintFields):
    """The fields of a pool that a pool, a tier, a profile and the defaults can set."""

    is_item = True

    metadata = Part(ObjectMetadata, to="metadata")
    """Labels and annotations of the NodePool object. Its nodes get `labels` and `annotations`."""

    node_class = TextOrPart(
        NodeClassFields,
        sets=_CLASS,
        hints={
            "launchTemplate": "set its fields under `nodeClass`; Karpenter creates its own launch templates"
        },
    )
    """The name of a node class under `nodeClasses`, or the fields of a node class for this pool only."""

    node_class_ref: Verbatim[NodeClassReference] = Verbatim(to=f"{_TEMPLATE_SPEC}.nodeClassRef", sets=_CLASS)
    """Karpenter's own reference, for node classes of a kind that gpupool does not render."""

    accelerator: Several[Text] = Several(sets=targets.find_accelerator_targets)
    """The GPU or Neuron chip: `h100`, `[l4, a10g]`, `trainium2`. `nvidia` or `neuron` for any, or `none`."""

    arch: Several[Architecture] = Several(label=names.ARCH)
    """The processor architecture."""

    os: Several[OperatingSystem] = Several(label=names.OS)
    """The operating system."""

    instances = Part(
        Instances,
        hints={"instanceType": _SELECT, "instanceTypes": _SELECT},
    )
    """The EC2 instance types that the pool can use."""

    requirements: Annotated[Keyed, BlueprintRequirements] = Keyed(
        to=f"{_TEMPLATE_SPEC}.requirements", sets=targets.find_requirement_targets
    )
    """Any other node label and its allowed values."""

    capacity: Annotated[Several[Text], CapacitySetting] = Several(
        label=names.CAPACITY_TYPE, default="on-demand"
    )
    """The capacity types. Default: on-demand. Karpenter always tries reserved, then spot, then on-demand.
    `any` renders no requirement; Karpenter then prefers spot."""

    zones: Several[Text] = Several(sets=targets.find_zone_targets)
    """Availability zones: names, letters (`b` is `<region>b`) or zone ids. Default: `cluster.zones`."""

    labels: MapOf[LabelValue] = MapOf(
        to=f"{_TEMPLATE}.labels",
        entries="label",
        hints={
            "nodeSelector": "set `labels` for the nodes' labels, and `instances` to select instance types"
        },
    )
    """Labels of the pool's nodes. A change replaces all nodes."""

    annotations: MapOf[Text] = MapOf(to=f"{_TEMPLATE}.annotations", entries="annotation")
    """Annotations of the pool's nodes. A change replaces all nodes."""

    taints: Annotated[Keyed, BlueprintTaints] = Keyed(
        to=f"{_TEMPLATE_SPEC}.taints",
        hints={"tolerations": "set `taints` in the pool; tolerations belong to workloads and charts"},
    )
    """Taints of the pool's nodes. A change replaces all nodes."""

    startup_taints: Annotated[Keyed, BlueprintTaints] = Keyed(to=f"{_TEMPLATE_SPEC}.startupTaints")
    """Taints that an agent has to remove before the node counts as initialized."""

    expire_after: One[BlueprintDurationOrNever] = One(
        to=f"{_TEMPLATE_SPEC}.expireAfter", convert=to_karpenter_duration
    )
    """The maximum lifetime of a node, whatever the budgets. Karpenter's default: 720h."""

    termination_grace_period: One[BlueprintDuration] = One(
        to=f"{_TEMPLATE_SPEC}.terminationGracePeriod", convert=to_karpenter_duration
    )
    """How long termination waits for the node's pods. Without it, a protected pod blocks it forever."""

    disruption = Part(BlueprintDisruption, to="spec.disruption")
    """When Karpenter can disrupt nodes by itself."""

    limits = Part(
        BlueprintLimits,
        to="spec.limits",
        entries="limit",
        hints={
            "maxSize": _LIMIT,
            "max_size": _LIMIT,
            "scalingConfig": "set `limits: {nodes: N}`, or `replicas: N` for a fixed number of nodes",
        },
    )
    """The maximum size of the pool."""

    weight: One[Weight] = One(to="spec.weight")
    """The priority among pools that fit a pod, from 1 to 100; the highest is tried first."""

    replicas: One[Replicas] = One(
        to="spec.replicas",
        since="1.8",
        gate="StaticCapacity",
        hints={
            "minSize": _MINIMUM,
            "min_size": _MINIMUM,
            "desiredSize": _DESIRED,
            "desiredCapacity": _DESIRED,
        },
    )
    """A fixed number of nodes, whether or not pods need them."""

    do_not_disrupt: One[Flag] = One(sets=(f"annotation {names.DO_NOT_DISRUPT}",))
    """true: Karpenter never disrupts these nodes, unless they expire or are interrupted."""

    sharing = Part(Sharing, sets=(f"label {PLUGIN_CONFIG_LABEL}",))
    """Several pods on one GPU."""


class Tier(PoolFields):
    """One NodePool of a pool that has several; it overrides any field of the pool but `profile`."""

    limits = TextOrPart(BlueprintLimits, text="Share", to="spec.limits", entries="limit")
    """The tier's own limits, or a share of the pool's such as 25%. Default: the pool's limits in full."""


class TieredPoolFields(PoolFields):
    """The fields of a pool, and tiers."""

    tiers = Named(Tier)
    """Several NodePools named `<pool>-<tier>`, tried in this order."""


class BlueprintPool(TieredPoolFields):
    """A group of interchangeable nodes: one NodePool, or one for each tier."""

    profile: One[Text] = One()
    """The name of a shipped profile, or the path of your own; the pool's own fields override it."""
