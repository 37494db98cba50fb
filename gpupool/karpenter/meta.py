"""The metadata of a whole object, as far as gpupool writes it."""

from typing import Annotated, TypeAlias

from pydantic import Field

from gpupool.karpenter.scalars import LabelValue
from gpupool.shapes.base import Matching, Shape, Text

_NAME_PART = r"([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$"
_DNS = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_ANY_CASE_DNS = r"[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?(\.[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?)*"

ObjectName: TypeAlias = Annotated[
    str,
    Field(max_length=253),
    Matching(
        rf"^{_DNS}$", "a name of lower-case letters, digits, - and . with a letter or digit at both ends"
    ),
]
LabelKey: TypeAlias = Annotated[
    str,
    Field(max_length=317),
    Matching(rf"^({_DNS}/)?{_NAME_PART}", "a label key such as team or example.com/team"),
]
AnnotationKey: TypeAlias = Annotated[
    str,
    Field(max_length=317),
    Matching(rf"^({_ANY_CASE_DNS}/)?{_NAME_PART}", "an annotation key such as example.com/owner"),
]


class ObjectMeta(Shape):
    """The name, labels and annotations of an object."""

    name: ObjectName
    """Name of the object in the cluster; Karpenter's kinds have no namespace.

    A NodePool's and an EC2NodeClass's name also become node label values, so keep them to 63 characters.
    Another name is another object: renaming a NodePool replaces all of its nodes.
    """

    labels: dict[LabelKey, LabelValue] | None = None
    """Labels of the object itself; they reach no node and replace none."""

    annotations: dict[AnnotationKey, Text] | None = None
    """Annotations of the object itself; they reach no node and replace none."""
