"""Tables of constraints: the values of a node label that a pool accepts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpupool.blueprint.base import BlueprintFields
from gpupool.shapes.fields import ListOf, One, Several

if TYPE_CHECKING:
    from gpupool.karpenter.scalars import MinValues
    from gpupool.shapes.base import Flag, Text

    Value = Any


class Membership(BlueprintFields):
    """A constraint as a map; an instance type has to meet every field in it."""

    in_: Several[Value] = Several(key="in")
    """The label has one of these values (Karpenter's In)."""

    not_: Several[Value] = Several(key="not")
    """The label has none of these values, or is absent (NotIn)."""

    exists: One[Flag] = One()
    """true: the label has any value (Exists). false: the label is absent (DoesNotExist)."""

    min_values: One[MinValues] = One()
    """The minimum number of different values to choose from; with fewer, Karpenter launches nothing."""


class Bounds(Membership):
    """A constraint on a label that counts or measures."""

    min: One[Value] = One()
    """The smallest allowed value (Gte)."""

    max: One[Value] = One()
    """The largest allowed value (Lte)."""

    above: One[Value] = One()
    """Greater than this value (Gt)."""

    below: One[Value] = One()
    """Less than this value (Lt)."""


class TextBounds(Membership):
    """A constraint on a label with text values, as a map."""

    value_type = "Text"


class ValueBounds(Bounds):
    """A constraint on any label, as a map."""

    value_type = "ConstraintValue"


class NumberBounds(Bounds):
    """A constraint on a label with numbers, as a map."""

    value_type = "Whole"


class SizeBounds(Bounds):
    """A constraint on a label with a size in bytes, as a map."""

    value_type = "Size"


class RateBounds(Bounds):
    """A constraint on a label with a bandwidth, as a map."""

    value_type = "Rate"


class RequirementEntry(BlueprintFields):
    """One requirement in Karpenter's own form, validated by Karpenter's type; this table only reads it."""

    label: One[Text] = One(key="key")
    """The label's key."""

    operator: One[Text] = One()
    values: ListOf[Text] = ListOf()
    min_values: One[MinValues] = One()


class TaintEntry(BlueprintFields):
    """One taint in Karpenter's own form; this table only reads it."""

    label: One[Text] = One(key="key")
    """The taint's key."""

    value: One[Text] = One()
    effect: One[Text] = One()
