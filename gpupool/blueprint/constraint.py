"""Constraints: which values of one node label a pool accepts, and sizes that carry their unit."""

from typing import Annotated, Generic, TypeAlias, TypeVar

from pydantic import Discriminator, Field, Tag

from gpupool.shapes.base import NOT_EMPTY, Flag, Matching, Shape, Whole, form, number_or_text

_SIZE = r"^[0-9]+(\.[0-9]+)?(Mi|Gi|Ti|MB|GB|TB)$"
_RATE = r"^[0-9]+(\.[0-9]+)?(Mbps|Gbps|Tbps)$"

Value: TypeAlias = Annotated[
    Annotated[str, Tag("<text>")] | Annotated[Whole, Tag("<number>")],
    Discriminator(number_or_text),
]
Size: TypeAlias = Annotated[str, Matching(_SIZE, "a size with its unit, such as 24GB or 512Gi")]
Rate: TypeAlias = Annotated[str, Matching(_RATE, "a bandwidth with its unit, such as 100Gbps")]
MinValues: TypeAlias = Annotated[Whole, Field(ge=1, le=50)]

V = TypeVar("V")


class Bounds(Shape, Generic[V]):
    """A constraint written out as a map; every word in it has to hold."""

    in_: (
        Annotated[
            Annotated[list[V], Tag("<list>"), NOT_EMPTY] | Annotated[V, Tag("<one>")], Discriminator(form)
        ]
        | None
    ) = Field(None, alias="in")
    """The label has one of these values (Karpenter's In)."""

    not_: (
        Annotated[
            Annotated[list[V], Tag("<list>"), NOT_EMPTY] | Annotated[V, Tag("<one>")], Discriminator(form)
        ]
        | None
    ) = Field(None, alias="not")
    """The label has none of these values, or is absent (NotIn)."""

    min: V | None = None
    """The smallest value allowed (Gte)."""

    max: V | None = None
    """The largest value allowed (Lte)."""

    above: V | None = None
    """Greater than this, as Karpenter's Gt."""

    below: V | None = None
    """Less than this, as Karpenter's Lt."""

    exists: Flag | None = None
    """true: the label has any value (Exists). false: the machine lacks it (DoesNotExist)."""

    min_values: MinValues | None = None
    """At least this many different values must be left to choose from, or Karpenter launches nothing."""


class ValueBounds(Bounds[Value]):
    """Bounds on any label."""


class TextBounds(Bounds[str]):
    """Bounds on a label with text values."""


class NumberBounds(Bounds[Whole]):
    """Bounds on a label that counts."""


class SizeBounds(Bounds[Size]):
    """Bounds on a label that measures bytes."""


class RateBounds(Bounds[Rate]):
    """Bounds on a label that measures bandwidth."""


# Each is written out: a type alias with a parameter does not reach into a generic model.
ValueConstraint: TypeAlias = Annotated[
    Annotated[Value, Tag("<one>")]
    | Annotated[list[Value], Tag("<list>"), NOT_EMPTY]
    | Annotated[ValueBounds, Tag("<map>")],
    Discriminator(form),
]
TextConstraint: TypeAlias = Annotated[
    Annotated[str, Tag("<one>")]
    | Annotated[list[str], Tag("<list>"), NOT_EMPTY]
    | Annotated[TextBounds, Tag("<map>")],
    Discriminator(form),
]
NumberConstraint: TypeAlias = Annotated[
    Annotated[Whole, Tag("<one>")]
    | Annotated[list[Whole], Tag("<list>"), NOT_EMPTY]
    | Annotated[NumberBounds, Tag("<map>")],
    Discriminator(form),
]
SizeConstraint: TypeAlias = Annotated[
    Annotated[Size, Tag("<one>")]
    | Annotated[list[Size], Tag("<list>"), NOT_EMPTY]
    | Annotated[SizeBounds, Tag("<map>")],
    Discriminator(form),
]
RateConstraint: TypeAlias = Annotated[
    Annotated[Rate, Tag("<one>")]
    | Annotated[list[Rate], Tag("<list>"), NOT_EMPTY]
    | Annotated[RateBounds, Tag("<map>")],
    Discriminator(form),
]
