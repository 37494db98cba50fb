"""A Kubernetes object as identity and located body."""

from collections.abc import Iterator
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


def leaves(node: Node, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Node]]:
    """Give each leaf of a body with its path; an empty list or map is a leaf too."""
    if isinstance(node.value, dict) and node.value:
        for key, item in node.value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(node.value, list) and node.value:
        for index, item in enumerate(node.value):
            yield from leaves(item, (*path, index))
    else:
        yield path, node
