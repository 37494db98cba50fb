"""A profile: a partial pool with its own prose."""

from typing import Literal

from pydantic import ConfigDict

from gpupool.blueprint.model import Stack
from gpupool.blueprint.nodeclass import NodeClassWords
from gpupool.blueprint.pool import Name, TieredWords
from gpupool.shapes.base import NonEmpty, Shape


class ProfileMetadata(Shape):
    """Who the profile is."""

    name: Name
    """The profile's name; a shipped one is found by it."""


class Profile(Shape):
    """A partial pool, node class and stack under one name, with the reasons for each value."""

    model_config = ConfigDict(title="gpupool profile")

    api_version: Literal["gpupool.dev/v1alpha1"]
    """The version of this vocabulary."""

    kind: Literal["Profile"]
    """What this file is."""

    metadata: ProfileMetadata
    """Who the profile is."""

    summary: NonEmpty
    """What it is for, in one line."""

    description: NonEmpty
    """Why these values, and when to choose another profile."""

    extends: str | None = None
    """Another profile whose words lie under this one's."""

    pool: TieredWords | None = None
    """Words of the pool; the node class' words stand beside it, under `nodeClass`."""

    node_class: NodeClassWords | None = None
    """Words of the node class, where the pool has one of its own."""

    stack: Stack | None = None
    """Charts whose Helm values the profile needs."""
