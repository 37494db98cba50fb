"""The NodeOverlay of Karpenter's v1alpha1 API: what Karpenter should believe of certain machines."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from gpupool.karpenter.meta import ObjectMeta
from gpupool.karpenter.scalars import Amount, Operator, Price, PriceAdjustment, RequirementKey
from gpupool.shapes.annotations import Since
from gpupool.shapes.base import Shape, Text, Whole


class NodeSelectorRequirement(Shape):
    """One condition on the machines that an overlay is for."""

    key: RequirementKey
    """The label, as in `node.kubernetes.io/instance-type`; `karpenter.sh/nodepool` is allowed here."""

    operator: Operator
    """How the label's value relates to `values`; `In` and `NotIn` both need values here."""

    values: list[Text] | None = None
    """The values to compare with, always as text."""


OverlayWeight: TypeAlias = Annotated[Whole, Field(ge=1, le=10000)]


class NodeOverlaySpec(Shape):
    """Which machines an overlay is for, and what it says of them."""

    requirements: Annotated[list[NodeSelectorRequirement], Field(max_length=100)]
    """Conditions on the machines, at most 100; all of them have to hold."""

    price_adjustment: PriceAdjustment | None = None
    """Change of the price that decisions go by, sign included: `-0.5` in USD per hour, or `+10%`.

    It changes no bill. Not allowed together with `price`.
    """

    price: Price | None = None
    """The price that decisions go by, in USD per hour, as text; not together with `priceAdjustment`."""

    capacity: dict[Text, Amount] | None = None
    """Extended resources of the machine, per node; they replace what Karpenter knew of the same name.

    `cpu`, `memory`, `ephemeral-storage` and `pods` are refused. This is how Karpenter learns of shared
    GPUs, MIG slices and fractional GPU types.
    """

    weight: OverlayWeight | None = None
    """Which of several overlays wins, 1 to 10000, higher first; absent counts as 0."""


class NodeOverlay(Shape):
    """A whole NodeOverlay object; it does nothing unless the feature gate NodeOverlay is on."""

    api_version: Annotated[Literal["karpenter.sh/v1alpha1"], Since("1.7", gate="NodeOverlay")] = (
        "karpenter.sh/v1alpha1"
    )
    """Group and version of the API."""

    kind: Literal["NodeOverlay"] = "NodeOverlay"
    """Kind of the object."""

    metadata: ObjectMeta
    """Name, labels and annotations of the object itself."""

    spec: NodeOverlaySpec
    """Which machines, and what of them."""

    status: Any = None
    """Written by Karpenter."""
