"""Constraints: the values of a node label that a pool accepts, and sizes with a unit."""

from typing import Annotated, Any, TypeAlias

from pydantic import Discriminator, Field, Tag

from gpupool.karpenter.scalars import MinValues
from gpupool.shapes.annotations import Matching, form, number_or_text
from gpupool.shapes.base import NOT_EMPTY, Flag, Shape, Whole

_SIZE = r"^[0-9]+(\.[0-9]+)?(Mi|Gi|Ti|MB|GB|TB)$"
_RATE = r"^[0-9]+(\.[0-9]+)?(Mbps|Gbps|Tbps)$"

ConstraintValue: TypeAlias = Annotated[
    Annotated[str, Tag("<text>")] | Annotated[Whole, Tag("<number>")],
    Discriminator(number_or_text),
]
Size: TypeAlias = Annotated[str, Matching(_SIZE, "a size with its unit, such as 24GB or 512Gi")]
Rate: TypeAlias = Annotated[str, Matching(_RATE, "a bandwidth with its unit, such as 100Gbps")]

ConstraintValues: TypeAlias = Annotated[
    Annotated[ConstraintValue, Tag("<one>")] | Annotated[list[ConstraintValue], Tag("<list>"), NOT_EMPTY],
    Discriminator(form),
]
Texts: TypeAlias = Annotated[
    Annotated[str, Tag("<one>")] | Annotated[list[str], Tag("<list>"), NOT_EMPTY], Discriminator(form)
]
Numbers: TypeAlias = Annotated[
    Annotated[Whole, Tag("<one>")] | Annotated[list[Whole], Tag("<list>"), NOT_EMPTY], Discriminator(form)
]
Sizes: TypeAlias = Annotated[
    Annotated[Size, Tag("<one>")] | Annotated[list[Size], Tag("<list>"), NOT_EMPTY], Discriminator(form)
]
Rates: TypeAlias = Annotated[
    Annotated[Rate, Tag("<one>")] | Annotated[list[Rate], Tag("<list>"), NOT_EMPTY], Discriminator(form)
]


class Membership(Shape):
    """A constraint as a map; an instance type has to meet every field in it.

    The subclasses set the types of the values. A generic model would be shorter, but pydantic takes four
    times as long to build its variants, at every start.
    """

    in_: Any = Field(None, alias="in")
    """The label has one of these values (Karpenter's In)."""

    not_: Any = Field(None, alias="not")
    """The label has none of these values, or is absent (NotIn)."""

    exists: Flag | None = None
    """true: the label has any value (Exists). false: the label is absent (DoesNotExist)."""

    min_values: MinValues | None = None
    """The minimum number of different values to choose from; with fewer, Karpenter launches nothing."""


class Bounds(Membership):
    """A constraint on a label that counts or measures."""

    min: Any = None
    """The smallest allowed value (Gte)."""

    max: Any = None
    """The largest allowed value (Lte)."""

    above: Any = None
    """Greater than this value (Gt)."""

    below: Any = None
    """Less than this value (Lt)."""


class TextBounds(Membership):
    """A constraint on a label with text values, as a map."""

    in_: Texts | None = Field(None, alias="in")
    not_: Texts | None = Field(None, alias="not")


class ValueBounds(Bounds):
    """A constraint on any label, as a map."""

    in_: ConstraintValues | None = Field(None, alias="in")
    not_: ConstraintValues | None = Field(None, alias="not")
    min: ConstraintValue | None = None
    max: ConstraintValue | None = None
    above: ConstraintValue | None = None
    below: ConstraintValue | None = None


class NumberBounds(Bounds):
    """A constraint on a label with numbers, as a map."""

    in_: Numbers | None = Field(None, alias="in")
    not_: Numbers | None = Field(None, alias="not")
    min: Whole | None = None
    max: Whole | None = None
    above: Whole | None = None
    below: Whole | None = None


class SizeBounds(Bounds):
    """A constraint on a label with a size in bytes, as a map."""

    in_: Sizes | None = Field(None, alias="in")
    not_: Sizes | None = Field(None, alias="not")
    min: Size | None = None
    max: Size | None = None
    above: Size | None = None
    below: Size | None = None


class RateBounds(Bounds):
    """A constraint on a label with a bandwidth, as a map."""

    in_: Rates | None = Field(None, alias="in")
    not_: Rates | None = Field(None, alias="not")
    min: Rate | None = None
    max: Rate | None = None
    above: Rate | None = None
    below: Rate | None = None


ValueConstraint: TypeAlias = Annotated[
    Annotated[ConstraintValue, Tag("<one>")]
    | Annotated[list[ConstraintValue], Tag("<list>"), NOT_EMPTY]
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
