"""What is allowed in YAML and what it means, where a blueprint and a manifest differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from gpupool.codes import Code
from gpupool.yamlio.nodes import Node
from gpupool.yamlio.scalars import Reading, as_string, read_plain, shown
from gpupool.yamlio.tags import collection_problem, read_tagged

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpupool.yamlio.nodes import Scalar

KeyValue: TypeAlias = str | int | float | bool | list[Node] | dict[str, Node] | None
"""What stands as a key."""


class Limits(NamedTuple):
    """How much one file may hold."""

    depth: int
    """Maps and lists inside each other."""

    nodes: int
    """Values, keys not counted, with every alias written out."""


class Dialect(NamedTuple):
    """One way to read YAML; a Reading with a code is a mistake."""

    noun: str
    """What the file is, for messages."""

    limits: Limits
    unreadable: Code
    syntax: Code
    key_twice: Code
    plain: Callable[[str], Reading]
    """Reads a scalar without quotes and without a tag."""

    tagged: Callable[[str, str], Reading]
    """Reads a scalar by its tag and its text."""

    value: Callable[[Scalar, str], Reading]
    """Gives what a scalar becomes where it is no key, by what was read and its text."""

    key: Callable[[KeyValue, str | None], Reading]
    """Gives the text of a key that is none; None where its value has to be dropped."""

    collection_problem: Callable[[str, bool], str]
    """Says why a map (or a list) may not have this tag; empty where it may."""

    merges: bool
    """`<<` is a merge key, and not a mistake."""

    keeps_last: bool
    """Of two equal keys the last one counts, not the first."""


def _key(value: KeyValue, spelled: str | None) -> Reading:
    """Keep a key that is no text as it is spelled; drop a null or a collection."""
    text = spelled if value is not None else None
    fix = as_string(text) if text else "use a string as the key"
    return Reading(text, Code.NOT_YAML, key_problem(value, spelled), fix)


def key_problem(value: KeyValue, spelled: str | None) -> str:
    """Say why a value that is no text can't be a key."""
    if isinstance(value, (dict, list)):
        return f"a {'map' if isinstance(value, dict) else 'list'} can't be a key"
    if value is None:
        return "the key is null or missing"
    kind = "a boolean" if isinstance(value, bool) else "a number"
    return f"the key {shown(spelled or '')} is {kind}; keys must be strings"


BLUEPRINT = Dialect(
    noun="blueprint",
    limits=Limits(depth=64, nodes=200_000),
    unreadable=Code.UNREADABLE,
    syntax=Code.NOT_YAML,
    key_twice=Code.KEY_TWICE,
    plain=read_plain,
    tagged=read_tagged,
    value=lambda value, _text: Reading(value),
    key=_key,
    collection_problem=lambda tag, is_map: collection_problem(tag, is_map=is_map),
    merges=False,
    keeps_last=False,
)
"""YAML 1.2 core, and nothing that another reader takes for something else."""
