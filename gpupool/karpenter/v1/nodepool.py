"""The NodePool of Karpenter's v1 API: which nodes may be made, how many, and when they go."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from gpupool.karpenter.checks import Distinct
from gpupool.karpenter.meta import ObjectMeta
from gpupool.karpenter.scalars import (
    Amount,
    ApiGroup,
    BudgetDuration,
    BudgetNodes,
    ConsolidationPolicy,
    CronSchedule,
    Duration,
    DurationOrNever,
    Instant,
    LabelValue,
    MinValues,
    Operator,
    Reason,
    Replicas,
    RequirementKey,
    TaintEffect,
    TaintKey,
    TaintValue,
    Weight,
)
from gpupool.shapes.annotations import Since
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
    "Requirement",
    "Requirements",
    "Taint",
    "Weight",
]


class Requirement(Shape):
    """One condition on a label of the machines that a pool may use.

    Upstream: NodeSelectorRequirementWithMinValues.
    """

    key: RequirementKey
    """The label, as in `karpenter.k8s.aws/instance-family`.

    A key that Karpenter does not know filters no machine: it becomes a label on the nodes instead.
    """

    operator: Operator
    """How the label's value relates to `values`.

    `In`, `NotIn` take a list; `Gt`, `Lt`, `Gte`, `Lte` one whole number in quotes; `Exists`,
    `DoesNotExist` take none. `NotIn` and `DoesNotExist` also let machines in that lack the label.
    """

    values: list[Text] | None = None
    """The values to compare with, always as text: `["8"]`, not `[8]`."""

    min_values: MinValues | None = None
    """How many different values have to stay possible at launch, 1 to 50; keeps spot pools broad.

    Changing it never replaces nodes.
    """


class Taint(Shape):
    """A mark on a node that keeps pods away which do not tolerate it."""

    key: TaintKey
    """Name of the taint, as in `nvidia.com/gpu`."""

    value: TaintValue | None = None
    """What a toleration with `Equal` has to name; leave it out for none, an empty text is refused."""

    effect: TaintEffect
    """`NoSchedule` keeps new pods away, `PreferNoSchedule` tries to, `NoExecute` also evicts running ones."""

    time_added: Instant | None = None
    """Moment the taint was set; Kubernetes' own field, of no use in a template."""


class NodeClassReference(Shape):
    """Which node class gives the nodes their AMI, network, disks and role."""

    group: ApiGroup
    """API group without a version: `karpenter.k8s.aws`. It can't be changed later."""

    kind: Text
    """Kind of the node class: `EC2NodeClass`. It can't be changed later.

    Any other text is accepted, and then every controller ignores the pool without a word.
    """

    name: Text
    """Name of the node class. Another name replaces all nodes, even where the two classes are equal."""


Requirements: TypeAlias = Annotated[list[Requirement], Field(max_length=100)]


class NodeClaimTemplateSpec(Shape):
    """What each node of a pool is made from."""

    node_class_ref: NodeClassReference
    """The node class that the nodes are launched with."""

    requirements: Requirements
    """Conditions on the machines, at most 100; all of them have to hold. An empty list allows everything.

    A change replaces only the nodes whose labels no longer fit; order means nothing. The labels of
    the template count towards the 100 as well.
    """

    taints: list[Taint] | None = None
    """Taints that the nodes keep. Any change but their order replaces all nodes."""

    startup_taints: list[Taint] | None = None
    """Taints that an agent on the node takes away when it is done, as a CNI plugin does.

    Karpenter waits for that before it counts the node as initialized, so a taint that nobody removes
    leaves nodes that are never cleaned up. Any change but their order replaces all nodes.
    """

    expire_after: DurationOrNever | None = None
    """Greatest age of a node before it is replaced; absent means `720h`, thirty days. `Never` turns it off.

    Expiry asks no budget and no do-not-disrupt annotation. Another length of time replaces all nodes.
    """

    termination_grace_period: Duration | None = None
    """Longest time that draining a node may take; after it pods are removed whatever protects them.

    Absent means that a drain may wait forever. When it is set, drift may start on a node although a
    pod there says do-not-disrupt. Another length of time replaces all nodes.
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
    """Machines, taints, lifetime."""


class Budget(Shape):
    """How many nodes Karpenter may take down at once; the strictest budget in force counts.

    Budgets bind consolidation and drift. Expiry, spot interruption, node repair and deletion by
    hand ask none.
    """

    reasons: Annotated[list[Reason], Field(max_length=50), Distinct("a list of different reasons")] | None = (
        None
    )
    """The reasons that this budget binds, each at most once; absent means all, an empty list means none."""

    nodes: BudgetNodes | None = None
    """Nodes that may go at once: a number or a percentage, both as text; absent means `10%`.

    A percentage is rounded up, so `10%` of a small pool is still one node.
    """

    schedule: CronSchedule | None = None
    """When the budget begins to hold, as cron in UTC; needs `duration`. Absent: it holds always.

    A scheduled budget restricts within its window and says nothing outside of it. One schedule that
    can't be parsed stops all disruption of the pool.
    """

    duration: BudgetDuration | None = None
    """How long it holds from each start, in hours and minutes; needs `schedule`."""


Budgets: TypeAlias = Annotated[list[Budget], Field(max_length=50)]


class Disruption(Shape):
    """When Karpenter may take nodes away of its own accord. Changing it never replaces nodes."""

    consolidate_after: DurationOrNever
    """How long no pod may have come or gone on a node before it is considered; `0s` is at once.

    It has to be there as soon as `disruption` is written. `Never` stops consolidation, not drift or expiry.
    """

    consolidation_policy: ConsolidationPolicy | None = None
    """Which nodes may go to save money; absent means `WhenEmptyOrUnderutilized`.

    `WhenEmpty` takes only nodes without pods of their own, `Balanced` (Karpenter 1.14) moves pods only
    where what is saved is worth the disturbance.
    """

    budgets: Budgets | None = None
    """Brakes on voluntary disruption, at most 50; absent means one of `10%`, an empty list means no brake."""


class NodePoolSpec(Shape):
    """What a NodePool asks for."""

    template: NodeClaimTemplate
    """What each node is made from."""

    disruption: Disruption | None = None
    """When nodes may go; absent means `consolidateAfter: 0s` and a budget of `10%`."""

    limits: dict[Text, Amount] | None = None
    """Greatest total of each resource over all nodes of the pool, as in `nvidia.com/gpu: 16`.

    A resource that no machine reports is never enforced. `nodes` counts nodes. Changing limits
    replaces nothing, and nodes already above them stay.
    """

    weight: Weight | None = None
    """Rank among pools that could take a pod, 1 to 100, higher first; absent counts as 0.

    It is asked only for new nodes and never moves running ones. Not allowed together with `replicas`.
    """

    replicas: Annotated[Replicas | None, Since("1.8", gate="StaticCapacity")] = None
    """Fixed number of nodes, kept whether or not pods ask for them (feature gate StaticCapacity).

    With the gate off the pool is accepted and does nothing. It can be neither added to nor taken from
    an existing pool, and besides it only `limits.nodes` is allowed, and no `weight`.
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
    """What the pool asks for."""

    status: Any = None
    """Written by Karpenter."""
