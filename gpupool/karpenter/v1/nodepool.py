"""The NodePool of Karpenter's v1 API: which nodes are launched, how many, and when they are disrupted."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from gpupool.karpenter.checks import Distinct
from gpupool.karpenter.meta import ObjectMeta
from gpupool.karpenter.scalars import (
    ApiGroup,
    BudgetDuration,
    BudgetNodes,
    ConsolidationPolicy,
    CronSchedule,
    Duration,
    DurationOrNever,
    Instant,
    LabelValue,
    LimitAmount,
    MinValues,
    OperatorName,
    Reason,
    Replicas,
    RequirementKey,
    TaintEffect,
    TaintKey,
    TaintValue,
    Weight,
)
from gpupool.shapes.annotations import Compared, Since
from gpupool.shapes.base import Shape, Text

__all__ = [
    "Budget",
    "Budgets",
    "Disruption",
    "NodeClaimTemplate",
    "NodeClaimTemplateMetadata",
    "NodeClaimTemplateSpec",
    "NodeClassReference",
    "NodePool",
    "NodePoolSpec",
    "NodeSelectorRequirementWithMinValues",
    "NodeSelectorRequirements",
    "Taint",
    "Weight",
]


class NodeSelectorRequirementWithMinValues(Shape):
    """One condition on a label of the instance types that a pool may use."""

    key: RequirementKey
    """The label, such as `karpenter.k8s.aws/instance-family`.

    A key that is unknown to Karpenter filters no instance type: it becomes a node label instead.
    """

    operator: OperatorName
    """How the label's value relates to `values`.

    `In` and `NotIn` need a list; `Gt`, `Lt`, `Gte` and `Lte` one whole number in quotes; `Exists` and
    `DoesNotExist` none. `NotIn` and `DoesNotExist` also match instance types without the label.
    """

    values: Annotated[list[Text], Compared("set")] | None = None
    """The values to compare with, always strings: `["8"]`, not `[8]`."""

    min_values: MinValues | None = None
    """How many different values must remain possible at launch, 1 to 50; keeps spot pools flexible.

    Changing it never replaces nodes.
    """


class Taint(Shape):
    """A taint: it keeps pods without a matching toleration off the node."""

    key: TaintKey
    """Key of the taint, such as `nvidia.com/gpu`."""

    value: TaintValue | None = None
    """Value that a toleration with `Equal` must have; omit it for none, an empty string is rejected."""

    effect: TaintEffect
    """`NoSchedule` keeps new pods off, `PreferNoSchedule` tries to, `NoExecute` also evicts running pods."""

    time_added: Instant | None = None
    """Time at which the taint was added; set by Kubernetes, without effect in a template."""


class NodeClassReference(Shape):
    """The node class that defines the AMI, network, disks and role of the nodes."""

    group: ApiGroup
    """API group without a version: `karpenter.k8s.aws`. Immutable."""

    kind: Text
    """Kind of the node class: `EC2NodeClass`. Immutable.

    The API server accepts any other string, but then the pool is silently ignored.
    """

    name: Text
    """Name of the node class. A change replaces all nodes, even if the two classes are equal."""


NodeSelectorRequirements: TypeAlias = Annotated[
    list[NodeSelectorRequirementWithMinValues], Field(max_length=100), Compared("named", ("key", "operator"))
]


class NodeClaimTemplateSpec(Shape):
    """The spec of each node of a pool."""

    node_class_ref: NodeClassReference
    """The node class that the nodes are launched with."""

    requirements: NodeSelectorRequirements
    """Conditions on the instance types, at most 100; all must match. An empty list allows every type.

    A change replaces only the nodes whose labels no longer match; the order does not matter. The labels
    of the template count towards the 100 as well.
    """

    taints: Annotated[list[Taint], Compared("named", ("key", "effect"))] | None = None
    """Permanent taints of the nodes. Any change except the order replaces all nodes."""

    startup_taints: Annotated[list[Taint], Compared("named", ("key", "effect"))] | None = None
    """Taints that an agent on the node removes when it is ready, such as a CNI plugin.

    Karpenter waits for that before the node counts as initialized, so a taint that is never removed
    leaves nodes that are never cleaned up. Any change except the order replaces all nodes.
    """

    expire_after: DurationOrNever | None = None
    """Maximum age of a node before it is replaced. Default: `720h`, thirty days. `Never` disables expiry.

    Expiry ignores budgets and the do-not-disrupt annotation. A different duration replaces all nodes.
    """

    termination_grace_period: Duration | None = None
    """Maximum duration of a drain; after it, pods are deleted even if they are protected.

    Default: a drain may wait forever. If set, a drifted node is replaced even if a pod on it has the
    do-not-disrupt annotation. A different duration replaces all nodes.
    """


class NodeClaimTemplateMetadata(Shape):
    """Labels and annotations that every node of a pool gets. Upstream: ObjectMeta."""

    labels: Annotated[dict[Text, LabelValue], Field(max_length=100)] | None = None
    """Node labels, at most 100; each is a requirement at the same time. A change replaces all nodes."""

    annotations: dict[Text, Text] | None = None
    """Node annotations. A change replaces all nodes."""


class NodeClaimTemplate(Shape):
    """The template of a pool's nodes."""

    metadata: NodeClaimTemplateMetadata | None = None
    """Labels and annotations of the nodes."""

    spec: NodeClaimTemplateSpec
    """Instance types, taints and lifetime of the nodes."""


class Budget(Shape):
    """How many nodes Karpenter may disrupt at once; the strictest active budget applies.

    Budgets limit consolidation and drift. Expiry, spot interruption, node repair and manual deletion
    ignore them.
    """

    reasons: (
        Annotated[
            list[Reason], Field(max_length=50), Distinct("a list of different reasons"), Compared("set")
        ]
        | None
    ) = None
    """The reasons that this budget limits, each at most once. Default: all; an empty list means none."""

    nodes: BudgetNodes | None = None
    """Nodes that may be disrupted at once: a number or a percentage, as a string. Default: `10%`.

    A percentage is rounded up, so `10%` of a small pool is still one node.
    """

    schedule: CronSchedule | None = None
    """When the budget becomes active, as cron in UTC; requires `duration`. Default: always active.

    A scheduled budget applies only in its window. One schedule that can't be parsed stops all
    disruption of the pool.
    """

    duration: BudgetDuration | None = None
    """How long it is active from each start, in hours and minutes; requires `schedule`."""


Budgets: TypeAlias = Annotated[list[Budget], Field(max_length=50), Compared("set")]


class Disruption(Shape):
    """When Karpenter may disrupt nodes voluntarily. Changing it never replaces nodes."""

    consolidate_after: DurationOrNever
    """How long a node must have no pod added or removed before it is considered; `0s` means at once.

    Required in `disruption`. `Never` disables consolidation, but not drift or expiry.
    """

    consolidation_policy: ConsolidationPolicy | None = None
    """Which nodes are consolidated to save cost. Default: `WhenEmptyOrUnderutilized`.

    `WhenEmpty` removes only nodes without workload pods; `Balanced` (Karpenter 1.14) moves pods only
    if the savings justify the disruption.
    """

    budgets: Budgets | None = None
    """Limits on voluntary disruption, at most 50. Default: one of `10%`; an empty list means no limit."""


class NodePoolSpec(Shape):
    """The spec of a NodePool."""

    template: NodeClaimTemplate
    """Template of the nodes."""

    disruption: Disruption | None = None
    """When nodes may be disrupted. Default: `consolidateAfter: 0s` and a budget of `10%`."""

    limits: dict[Text, LimitAmount] | None = None
    """Maximum total of each resource over all nodes of the pool, such as `nvidia.com/gpu: 16`.

    A resource that no instance type has is never enforced. `nodes` counts nodes. Changing limits
    replaces no node, and nodes above the limit keep running.
    """

    weight: Weight | None = None
    """Priority among pools that fit a pod, 1 to 100, highest first. Default: 0.

    It applies only to new nodes and never moves running pods. Not allowed with `replicas`.
    """

    replicas: Annotated[Replicas | None, Since("1.8", gate="StaticCapacity")] = None
    """Fixed number of nodes, independent of pods (feature gate StaticCapacity).

    With the gate off, the pool is accepted but does nothing. It can't be added to or removed from an
    existing pool. With it, only `limits.nodes` is allowed, and no `weight`.
    """


class NodePool(Shape):
    """A whole NodePool object."""

    api_version: Literal["karpenter.sh/v1"] = "karpenter.sh/v1"
    """Group and version of the API."""

    kind: Literal["NodePool"] = "NodePool"
    """Kind of the object."""

    metadata: ObjectMeta
    """Name, labels and annotations of the object itself."""

    spec: NodePoolSpec
    """The spec of the NodePool."""

    status: Any = None
    """Written by Karpenter."""
