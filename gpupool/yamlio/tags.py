"""The tags that may stand before a value: YAML 1.2's core ones."""

from __future__ import annotations

from gpupool.codes import Code
from gpupool.yamlio.scalars import Reading, read_plain, shown

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
        problem = f"{shown(text)} is not a valid {name}" if is_collection else _refusal(name)
        return Reading(reading.value, Code.NOT_YAML, problem, "remove the tag")
    if type(reading.value) not in types:
        return Reading(
            reading.value,
            Code.NOT_YAML,
            f"{shown(text)} is not a valid {name}",
            f"remove the tag, or write a {name} value",
        )
    if name == "!!float" and isinstance(reading.value, int) and not reading.code:
        return Reading(float(reading.value))  # it has 64 bits at most, or it would have a code
    return reading


def collection_problem(tag: str, *, is_map: bool) -> str:
    """Say why a map or list may not have this tag; empty where it may."""
    name = _short(tag)
    expected = "map" if is_map else "seq"
    if name == f"!!{expected}":
        return ""
    if name.removeprefix("!!") in {*_TYPES, *_COLLECTIONS, "str"}:
        return f"{_COLLECTIONS[expected]} is not a valid {name}"
    return _refusal(name)


def _short(tag: str) -> str:
    return f"!!{tag.removeprefix(_PREFIX)}" if tag.startswith(_PREFIX) else tag


def _refusal(name: str) -> str:
    return (
        f"unsupported tag {name}; only !!str, !!int, !!float, !!bool, !!null, !!map and !!seq are supported"
    )
