"""Table of a profile's fields: a partial pool, node class and stack with descriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from gpupool.blueprint.base import BlueprintFields
from gpupool.blueprint.model import Stack
from gpupool.blueprint.nodeclass import NodeClassFields
from gpupool.blueprint.pool import TieredPoolFields
from gpupool.shapes.fields import One, Part

if TYPE_CHECKING:
    from gpupool.blueprint.types import Name, NonEmpty, Text


class ProfileMetadata(BlueprintFields):
    """The profile's name."""

    name: One[Name] = One(is_required=True)
    """The profile's name; pools refer to shipped profiles by it."""


class Profile(BlueprintFields):
    """A partial pool, node class and stack under one name, with the reason for each value."""

    title = "gpupool profile"

    api_version: Annotated[One[Text], Literal["gpupool.dev/v1alpha1"]] = One(is_required=True)
    """The version of the profile's API."""

    kind: Annotated[One[Text], Literal["Profile"]] = One(is_required=True)
    """The kind of this file."""

    metadata = Part(ProfileMetadata, is_required=True)
    """The profile's name."""

    summary: One[NonEmpty] = One(is_required=True)
    """What it is for, in one line."""

    description: One[NonEmpty] = One(is_required=True)
    """Why these values, and when to choose another profile."""

    extends: One[Text] = One()
    """Another profile, by name or path, whose fields this one overrides."""

    pool = Part(TieredPoolFields)
    """Fields of the pool. Fields of the node class go under `nodeClass` of the profile, not here."""

    node_class = Part(NodeClassFields)
    """Fields of the node class; used where the pool has a node class of its own."""

    stack = Part(Stack)
    """Charts whose Helm values the profile sets."""
