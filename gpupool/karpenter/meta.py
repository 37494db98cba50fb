"""Object metadata, as the API server accepts it for a new object."""

from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, Field

from gpupool.karpenter.checks import (
    DNS,
    check_annotations_size,
    check_finalizer,
    check_finalizers,
    check_name_prefix,
    check_prefix_length,
    check_rfc3339,
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
    AfterValidator(check_prefix_length),
]
AnnotationKey: TypeAlias = Annotated[
    str,
    Field(max_length=317),
    Matching(rf"^({_ANY_CASE_DNS}/)?{_NAME_PART}", "an annotation key such as example.com/owner"),
    AfterValidator(check_prefix_length),
]
Finalizer: TypeAlias = Annotated[str, AfterValidator(check_finalizer)]
GenerateName: TypeAlias = Annotated[str, Field(max_length=253), AfterValidator(check_name_prefix)]
Moment: TypeAlias = Annotated[str, AfterValidator(check_rfc3339)]


class OwnerReference(Shape):
    """An owner of the object; the object is deleted with its last owner."""

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
    """Whether this object must be deleted before its owner in a foreground deletion."""


class ManagedFieldsEntry(Shape):
    """Which fields a field manager wrote; maintained by the API server."""

    manager: Text | None = None
    """Name of the field manager."""

    operation: Text | None = None
    """Operation: `Apply` or `Update`."""

    api_version: Text | None = None
    """API version of the fields."""

    time: Moment | None = None
    """Time of the last write."""

    fields_type: Text | None = None
    """Format of the fields: `FieldsV1`."""

    fields_v1: Any = Field(default=None, alias="fieldsV1")
    """The fields, each as a key."""

    subresource: Text | None = None
    """Subresource that was written."""


class ObjectMeta(Shape):
    """The name, labels and annotations of an object, and the fields that only the API server sets."""

    name: ObjectName | None = None
    """Name of the object in the cluster; Karpenter's kinds have no namespace.

    The name of a NodePool or EC2NodeClass is also a node label value, so use at most 63 characters.
    A new name is a new object: renaming a NodePool replaces all of its nodes.
    """

    generate_name: GenerateName | None = None
    """Prefix of a name that the API server generates; only for `kubectl create`."""

    namespace: Text | None = None
    """Ignored: Karpenter's kinds have no namespace, and the API server drops it."""

    labels: dict[LabelKey, LabelValue] | None = None
    """Labels of the object itself; they are not set on nodes, and a change replaces no node."""

    annotations: Annotated[dict[AnnotationKey, Text], AfterValidator(check_annotations_size)] | None = None
    """Annotations of the object itself; they are not set on nodes, and a change replaces no node."""

    finalizers: Annotated[list[Finalizer], AfterValidator(check_finalizers)] | None = None
    """Finalizers that must be removed before the object is deleted."""

    owner_references: list[OwnerReference] | None = None
    """Owners of the object; it is deleted with its last owner."""

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
    """Set by the API server: which field manager wrote which field."""
