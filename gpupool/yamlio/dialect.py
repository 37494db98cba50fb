"""YAML dialects: which YAML a blueprint and a manifest allow, and how scalars are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from gpupool.codes import Code
from gpupool.yamlio.located import Located
from gpupool.yamlio.scalars import Reading, quote_value, read_plain, suggest_quotes

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpupool.yamlio.located import Scalar


KeyValue: TypeAlias = str | int | float | bool | list[Located] | dict[str, Located] | None
"""The value of a key."""

_PREFIX = "tag:yaml.org,2002:"
_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (float, int),
    "bool": (bool,),
    "null": (type(None),),
}
_COLLECTIONS = {"map": "a map", "seq": "a list"}


class ReadLimits(NamedTuple):
    """Limits on the size of one file."""

    depth: int
    """The deepest nesting of maps and lists."""

    nodes: int
    """The number of values, without keys and with every alias expanded."""


class Dialect(NamedTuple):
    """The rules for reading YAML of one kind of file; a Reading with a code is an error."""

    noun: str
    """The kind of file, for messages."""

    limits: ReadLimits
    syntax: Code
    duplicate_key: Code
    read_plain: Callable[[str], Reading]
    """Reads a scalar that has neither quotes nor a tag."""

    read_tagged: Callable[[str, str], Reading]
    """Reads a scalar by its tag and its text."""

    convert_value: Callable[[Scalar, str], Reading]
    """Converts the value of a scalar that is not a key; the second argument is its text."""

    convert_key: Callable[[KeyValue, str | None], Reading]
    """Converts a key that is not a string to a string; None where its value has to be dropped."""

    check_tag: Callable[[str, bool], str]
    """Describes why a map (or a list) can't have a tag; empty where it can."""

    has_merge_keys: bool
    """Whether `<<` is a merge key; otherwise it is an error."""

    is_last_key_kept: bool
    """Whether the last of two equal keys counts; otherwise the first does."""


def _convert_key(value: KeyValue, spelled: str | None) -> Reading:
    """Convert a key that is not a string to its text in the file; drop a null or a collection."""
    text = spelled if value is not None else None
    fix = suggest_quotes(text) if text else "use a string as the key"
    return Reading(text, Code.NOT_YAML, describe_key_problem(value, spelled), fix)


def describe_key_problem(value: KeyValue, spelled: str | None) -> str:
    """Describe why a value that is not a string can't be a key."""
    if isinstance(value, (dict, list)):
        return f"a {'map' if isinstance(value, dict) else 'list'} can't be a key"
    if value is None:
        return "the key is null or missing"
    kind = "a boolean" if isinstance(value, bool) else "a number"
    return f"the key {quote_value(spelled or '')} is {kind}; keys must be strings"


def read_tagged(tag: str, text: str) -> Reading:
    """Read a scalar that has an explicit tag; a tag that does not fit is an error in the Reading."""
    name = _shorten_tag(tag)
    if name == "!!str":
        return Reading(text)
    reading = read_plain(text)
    types = _TYPES.get(name.removeprefix("!!"))
    if types is None:
        is_collection = name in ("!!map", "!!seq")
        problem = (
            f"{quote_value(text)} is not a valid {name}" if is_collection else _describe_unsupported_tag(name)
        )
        return Reading(reading.value, Code.NOT_YAML, problem, "remove the tag")
    if type(reading.value) not in types:
        return Reading(
            reading.value,
            Code.NOT_YAML,
            f"{quote_value(text)} is not a valid {name}",
            f"remove the tag, or write a {name} value",
        )
    if name == "!!float" and isinstance(reading.value, int) and not reading.code:
        return Reading(float(reading.value))  # a number of more than 64 bits has a code
    return reading


def describe_tag_problem(tag: str, *, is_map: bool) -> str:
    """Describe why a map or list can't have a tag; empty where it can."""
    name = _shorten_tag(tag)
    expected = "map" if is_map else "seq"
    if name == f"!!{expected}":
        return ""
    if name.removeprefix("!!") in {*_TYPES, *_COLLECTIONS, "str"}:
        return f"{_COLLECTIONS[expected]} is not a valid {name}"
    return _describe_unsupported_tag(name)


def _shorten_tag(tag: str) -> str:
    return f"!!{tag.removeprefix(_PREFIX)}" if tag.startswith(_PREFIX) else tag


def _describe_unsupported_tag(name: str) -> str:
    return (
        f"unsupported tag {name}; only !!str, !!int, !!float, !!bool, !!null, !!map and !!seq are supported"
    )


BLUEPRINT = Dialect(
    noun="blueprint",
    limits=ReadLimits(depth=64, nodes=200_000),
    syntax=Code.NOT_YAML,
    duplicate_key=Code.KEY_TWICE,
    read_plain=read_plain,
    read_tagged=read_tagged,
    convert_value=lambda value, _text: Reading(value),
    convert_key=_convert_key,
    check_tag=lambda tag, is_map: describe_tag_problem(tag, is_map=is_map),
    has_merge_keys=False,
    is_last_key_kept=False,
)
"""YAML 1.2 core, without anything that other readers read differently."""
