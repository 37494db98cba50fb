"""The metadata of a whole object, as the API server takes it for a new one."""

from typing import Annotated, Any, NoReturn, TypeAlias

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from gpupool.karpenter.instants import is_rfc3339
from gpupool.karpenter.labels import syntax_problem
from gpupool.karpenter.scalars import Int64, LabelValue
from gpupool.shapes.base import Flag, Matching, NonEmpty, Shape, Text, matches

_NAME_PART = r"([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$"
_DNS = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_ANY_CASE_DNS = r"[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?(\.[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?)*"

_KIND = "wanted"
_LONGEST_PREFIX = 253
_MOST_ANNOTATIONS = 256 * 1024


def _refuse(wanted: str) -> NoReturn:
    raise PydanticCustomError(_KIND, "{wanted}", {"wanted": wanted})


def _beginning(text: str) -> str:
    """Check the beginning of a name, whose last dash the API server leaves out of account."""
    is_cut = len(text) > 1 and text.endswith("-")
    if text and not matches(f"^{_DNS}$", f"{text[:-2]}a" if is_cut else text):
        _refuse("the beginning of a name: lower-case letters, digits, - and .")
    return text


def _moment(text: str) -> str:
    if not is_rfc3339(text):
        _refuse("a moment such as 2026-08-20T12:00:00Z")
    return text


def _qualified(name: str) -> str:
    if problem := syntax_problem(name):
        _refuse(f"the name of a finalizer: it {problem}")
    return name


def _one_way_to_go(finalizers: list[str]) -> list[str]:
    if {"orphan", "foregroundDeletion"} <= set(finalizers):
        kind = "two_ways_to_go"
        raise PydanticCustomError(kind, "`orphan` and `foregroundDeletion` exclude each other")
    return finalizers


def _short_prefix(key: str) -> str:
    if len(key.rpartition("/")[0]) > _LONGEST_PREFIX:
        _refuse(f"a key with at most {_LONGEST_PREFIX} characters before the `/`")
    return key


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
    AfterValidator(_short_prefix),
]
AnnotationKey: TypeAlias = Annotated[
    str,
    Field(max_length=317),
    Matching(rf"^({_ANY_CASE_DNS}/)?{_NAME_PART}", "an annotation key such as example.com/owner"),
    AfterValidator(_short_prefix),
]
Finalizer: TypeAlias = Annotated[str, AfterValidator(_qualified)]
GenerateName: TypeAlias = Annotated[str, Field(max_length=253), AfterValidator(_beginning)]
Moment: TypeAlias = Annotated[str, AfterValidator(_moment)]


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


def _small(annotations: dict[str, str]) -> dict[str, str]:
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    if size > _MOST_ANNOTATIONS:
        kind = "too_large"
        raise PydanticCustomError(kind, f"{size:,} bytes, and 262,144 is the most")
    return annotations


def _owned_well(owners: list[OwnerReference]) -> list[OwnerReference]:
    if any((owner.api_version, owner.kind) == ("v1", "Event") for owner in owners):
        kind = "owned_by_an_event"
        raise PydanticCustomError(kind, "an Event can own nothing")
    different = {tuple(vars(owner).values()): owner for owner in owners}
    if sum(owner.controller is True for owner in different.values()) > 1:
        kind = "several_controllers"
        raise PydanticCustomError(kind, "several owners say that they are the controller")
    return owners


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

    annotations: Annotated[dict[AnnotationKey, Text], AfterValidator(_small)] | None = None
    """Annotations of the object itself; they reach no node and replace none."""

    finalizers: Annotated[list[Finalizer], AfterValidator(_one_way_to_go)] | None = None
    """What has to be done before the object may go."""

    owner_references: Annotated[list[OwnerReference], AfterValidator(_owned_well)] | None = None
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
