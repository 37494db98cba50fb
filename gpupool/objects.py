"""A Kubernetes object as identity and located body."""

from typing import NamedTuple

from gpupool.yamlio.nodes import Node, Plain


class Ref(NamedTuple):
    """What an object is called."""

    kind: str
    name: str


class Manifest(NamedTuple):
    """One object to be rendered; every leaf of `body` knows its place in the blueprint."""

    ref: Ref
    path: str
    """Where it stands in the blueprint: `pools.chat.tiers.spot`."""

    body: Node
    data: Plain
    """The body without its places: what is checked and written."""
