"""What is allowed in YAML and what it means, where a blueprint and a manifest differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from gpupool.codes import Code
from gpupool.yamlio.located import Located
from gpupool.yamlio.scalars import Reading, quote_value, read_plain, suggest_quotes

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpupool.yamlio.located import Scalar


KeyValue: TypeAlias = str | int | float | bool | list[Located] | dict[str, Located] | None
"""What stands as a key."""


class ReadLimits(NamedTuple):
    """How much one file may hold."""

    depth: int
    """Maps and lists inside each other."""

    nodes: int
    """Values, keys not counted, with every alias written out."""


class Dialect(NamedTuple):
    """One way to read YAML; a Reading with a code is a mistake."""

    noun: str
    """What the file is, for messages."""

    limits: ReadLimits
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

    check_tag: Callable[[str, bool], str]
    """Says why a map (or a list) may not have this tag; empty where it may."""

    merges: bool
    """`<<` is a merge key, and not a mistake."""

    keeps_last: bool
    """Of two equal keys the last one counts, not the first."""


def _key(value: KeyValue, spelled: str | None) -> Reading:
    """Keep a key that is no text as it is spelled; drop a null or a collection."""
    text = spelled if value is not None else None
    fix = suggest_quotes(text) if text else "use a string as the key"
    return Reading(text, Code.NOT_YAML, describe_key_problem(value, spelled), fix)


def describe_key_problem(value: KeyValue, spelled: str | None) -> str:
    """Return why a value that is no text can't be a key."""
    if isinstance(value, (dict, list)):
        return f"a {'map' if isinstance(value, dict) else 'list'} can't be a key"
    if value is None:
        return "the key is null or missing"
    kind = "a boolean" if isinstance(value, bool) else "a number"
    return f"the key {quote_value(spelled or '')} is {kind}; keys must be strings"


_PREFIX = "tag:yaml.org,2002:"
_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (float, int),
    "bool": (bool,),
    "null": (type(None),),
}
_COLLECTIONS = {"map": "a map", "seq": "a list"}


def read_tagged(tag: str, text: str) -> Reading:
    """Read a scalar that has an explicit tag; a tag that does not fit is a problem in the Reading."""
    name = _short(tag)
    if name == "!!str":
        return Reading(text)
    reading = read_plain(text)
    types = _TYPES.get(name.removeprefix("!!"))
    if types is None:
        is_collection = name in ("!!map", "!!seq")
        problem = f"{quote_value(text)} is not a valid {name}" if is_collection else _unsupported_tag(name)
        return Reading(reading.value, Code.NOT_YAML, problem, "remove the tag")
    if type(reading.value) not in types:
        return Reading(
            reading.value,
            Code.NOT_YAML,
            f"{quote_value(text)} is not a valid {name}",
            f"remove the tag, or write a {name} value",
        )
    if name == "!!float" and isinstance(reading.value, int) and not reading.code:
        return Reading(float(reading.value))  # it has 64 bits at most, or it would have a code
    return reading


def describe_tag_problem(tag: str, *, is_map: bool) -> str:
    """Return why a map or list may not have this tag; empty where it may."""
    name = _short(tag)
    expected = "map" if is_map else "seq"
    if name == f"!!{expected}":
        return ""
    if name.removeprefix("!!") in {*_TYPES, *_COLLECTIONS, "str"}:
        return f"{_COLLECTIONS[expected]} is not a valid {name}"
    return _unsupported_tag(name)


def _short(tag: str) -> str:
    return f"!!{tag.removeprefix(_PREFIX)}" if tag.startswith(_PREFIX) else tag


def _unsupported_tag(name: str) -> str:
    return (
        f"unsupported tag {name}; only !!str, !!int, !!float, !!bool, !!null, !!map and !!seq are supported"
    )


BLUEPRINT = Dialect(
    noun="blueprint",
    limits=ReadLimits(depth=64, nodes=200_000),
    unreadable=Code.UNREADABLE,
    syntax=Code.NOT_YAML,
    key_twice=Code.KEY_TWICE,
    plain=read_plain,
    tagged=read_tagged,
    value=lambda value, _text: Reading(value),
    key=_key,
    check_tag=lambda tag, is_map: describe_tag_problem(tag, is_map=is_map),
    merges=False,
    keeps_last=False,
)
"""YAML 1.2 core, and nothing that another reader takes for something else."""
