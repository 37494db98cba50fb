"""The metadata of a whole object, as the API server takes it for a new one."""

from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, Field

from gpupool.karpenter.checks import (
    DNS,
    beginning,
    one_way_to_go,
    qualified,
    rfc3339,
    short_prefix,
    small,
)
from gpupool.karpenter.scalars import Int64, LabelValue
from gpupool.shapes.annotations import Matching
from gpupool.shapes.base import Flag, NonEmpty, Shape, Text

_NAME_PART = r"([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$"
_ANY_CASE_DNS = r"[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?(\.[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?)*"

ObjectName: TypeAlias = Annotated[
    str,
    Field(max_length=253),
    Matching(
        rf"^{DNS}$", "a name of lower-case letters, digits, - and . with a letter or digit at both ends"
    ),
]
LabelKey: TypeAlias = Annotated[
    str,
    Field(max_length=317),
    Matching(rf"^({DNS}/)?{_NAME_PART}", "a label key such as team or example.com/team"),
    AfterValidator(short_prefix),
]
AnnotationKey: TypeAlias = Annotated[
    str,
    Field(max_length=317),
    Matching(rf"^({_ANY_CASE_DNS}/)?{_NAME_PART}", "an annotation key such as example.com/owner"),
    AfterValidator(short_prefix),
]
Finalizer: TypeAlias = Annotated[str, AfterValidator(qualified)]
GenerateName: TypeAlias = Annotated[str, Field(max_length=253), AfterValidator(beginning)]
Moment: TypeAlias = Annotated[str, AfterValidator(rfc3339)]


class OwnerReference(Shape):
    """An object without which this one goes as well."""

    api_version: Annotated[str, Matching(r"^([^/]*/)?[^/]+$", "an API version such as v1 or apps/v1")]
    """API version of the owner."""

    kind: NonEmpty
    """Kind of the owner."""

    name: NonEmpty
    """Name of the owner."""

    uid: NonEmpty
    """Unique id of the owner."""

    controller: Flag | None = None
    """Whether the owner is this object's controller; at most one is."""

    block_owner_deletion: Flag | None = None
    """Whether the owner waits for this object when it goes."""


class ManagedFieldsEntry(Shape):
    """Which fields somebody wrote; the API server keeps these itself."""

    manager: Text | None = None
    """Who wrote them."""

    operation: Text | None = None
    """How: `Apply` or `Update`."""

    api_version: Text | None = None
    """The API version that they were written in."""

    time: Moment | None = None
    """When they were written."""

    fields_type: Text | None = None
    """Form of the list: `FieldsV1`."""

    fields_v1: Any = Field(default=None, alias="fieldsV1")
    """The fields, each as a key."""

    subresource: Text | None = None
    """The subresource through which they were written."""


class ObjectMeta(Shape):
    """The name, labels and annotations of an object, and what only the API server sets."""

    name: ObjectName | None = None
    """Name of the object in the cluster; Karpenter's kinds have no namespace.

    A NodePool's and an EC2NodeClass's name also become node label values, so keep them to 63 characters.
    Another name is another object: renaming a NodePool replaces all of its nodes.
    """

    generate_name: GenerateName | None = None
    """Beginning of a name that the API server completes; only for `kubectl create`."""

    namespace: Text | None = None
    """No namespace: Karpenter's kinds have none, and the API server drops it."""

    labels: dict[LabelKey, LabelValue] | None = None
    """Labels of the object itself; they reach no node and replace none."""

    annotations: Annotated[dict[AnnotationKey, Text], AfterValidator(small)] | None = None
    """Annotations of the object itself; they reach no node and replace none."""

    finalizers: Annotated[list[Finalizer], AfterValidator(one_way_to_go)] | None = None
    """What has to be done before the object may go."""

    owner_references: list[OwnerReference] | None = None
    """Objects without which this one goes as well."""

    uid: Text | None = None
    """Set by the API server."""

    resource_version: Text | None = None
    """Set by the API server."""

    generation: Int64 | None = None
    """Set by the API server."""

    creation_timestamp: Moment | None = None
    """Set by the API server."""

    deletion_timestamp: Moment | None = None
    """Set by the API server."""

    deletion_grace_period_seconds: Int64 | None = None
    """Set by the API server."""

    self_link: Text | None = None
    """Set by older API servers."""

    managed_fields: list[ManagedFieldsEntry] | None = None
    """Set by the API server: who wrote which field."""
