"""Profile file format: a partial pool, node class and stack with descriptions."""

from typing import Literal

from pydantic import ConfigDict

from gpupool.blueprint.model import Stack
from gpupool.blueprint.nodeclass import NodeClassFields
from gpupool.blueprint.pool import Name, TieredPoolFields
from gpupool.shapes.base import NonEmpty, Shape


class ProfileMetadata(Shape):
    """The profile's name."""

    name: Name
    """The profile's name; pools refer to shipped profiles by it."""


class Profile(Shape):
    """A partial pool, node class and stack under one name, with the reason for each value."""

    model_config = ConfigDict(title="gpupool profile")

    api_version: Literal["gpupool.dev/v1alpha1"]
    """The version of the profile's API."""

    kind: Literal["Profile"]
    """The kind of this file."""

    metadata: ProfileMetadata
    """The profile's name."""

    summary: NonEmpty
    """What it is for, in one line."""

    description: NonEmpty
    """Why these values, and when to choose another profile."""

    extends: str | None = None
    """Another profile, by name or path, whose fields this one overrides."""

    pool: TieredPoolFields | None = None
    """Fields of the pool. Fields of the node class go under `nodeClass` of the profile, not here."""

    node_class: NodeClassFields | None = None
    """Fields of the node class; used where the pool has a node class of its own."""

    stack: Stack | None = None
    """Charts whose Helm values the profile sets."""
