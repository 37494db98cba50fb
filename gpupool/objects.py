"""A Kubernetes object as identity and located body."""

from dataclasses import dataclass
from typing import NamedTuple

from gpupool.yamlio.nodes import Node


class Ref(NamedTuple):
    """What an object is called."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object to be rendered; every leaf of `body` knows its place in the blueprint."""

    ref: Ref
    path: str
    """Where it stands in the blueprint: `pools.chat.tiers.spot`."""

    body: Node
