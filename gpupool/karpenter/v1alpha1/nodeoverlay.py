"""The NodeOverlay of Karpenter's v1alpha1 API: changed prices and capacities of instance types."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from gpupool.karpenter.meta import ObjectMeta
from gpupool.karpenter.scalars import LimitAmount, OperatorName, Price, PriceAdjustment, RequirementKey
from gpupool.shapes.annotations import Compared, Since
from gpupool.shapes.base import Shape, Text, Whole


class NodeSelectorRequirement(Shape):
    """One condition on the instance types of an overlay."""

    key: RequirementKey
    """The label, such as `node.kubernetes.io/instance-type`; `karpenter.sh/nodepool` is allowed here."""

    operator: OperatorName
    """How the label's value relates to `values`; `In` and `NotIn` both need values here."""

    values: Annotated[list[Text], Compared("set")] | None = None
    """The values to compare with, always strings."""


OverlayWeight: TypeAlias = Annotated[Whole, Field(ge=1, le=10000)]


class NodeOverlaySpec(Shape):
    """The instance types of an overlay, and what it changes."""

    requirements: Annotated[
        list[NodeSelectorRequirement], Field(max_length=100), Compared("named", ("key", "operator"))
    ]
    """Conditions on the instance types, at most 100; all must match."""

    price_adjustment: PriceAdjustment | None = None
    """Change of the price that Karpenter assumes, with its sign: `-0.5` in USD per hour, or `+10%`.

    It does not change the AWS bill. Not allowed with `price`.
    """

    price: Price | None = None
    """The price that Karpenter assumes, in USD per hour, as a string; not with `priceAdjustment`."""

    capacity: dict[Text, LimitAmount] | None = None
    """Extended resources per node; they replace the amounts that Karpenter assumes.

    `cpu`, `memory`, `ephemeral-storage` and `pods` are rejected. Use it for shared GPUs, MIG slices and
    fractional GPU types.
    """

    weight: OverlayWeight | None = None
    """Priority among overlays, 1 to 10000, highest first. Default: 0."""


class NodeOverlay(Shape):
    """A whole NodeOverlay object; it has no effect unless the feature gate NodeOverlay is on."""

    api_version: Annotated[Literal["karpenter.sh/v1alpha1"], Since("1.7", gate="NodeOverlay")] = (
        "karpenter.sh/v1alpha1"
    )
    """Group and version of the API."""

    kind: Literal["NodeOverlay"] = "NodeOverlay"
    """Kind of the object."""

    metadata: ObjectMeta
    """Name, labels and annotations of the object itself."""

    spec: NodeOverlaySpec
    """The instance types, and what to change."""

    status: Any = None
    """Written by Karpenter."""
