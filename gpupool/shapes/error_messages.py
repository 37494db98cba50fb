"""Pydantic's error types in plain English, each at the place in the file that caused it."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from math import isfinite
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, Union, get_args, get_origin

from pydantic_core import ErrorDetails, ValidationError

from gpupool.codes import Code
from gpupool.findings import Finding
from gpupool.shapes.annotations import is_match
from gpupool.shapes.compiled import Model
from gpupool.shapes.suggestions import suggest_architecture, suggest_node_count, suggest_taint
from gpupool.yamlio.located import Located, items

if TYPE_CHECKING:
    from pydantic import BaseModel

ErrorPath: TypeAlias = tuple[str | int, ...]


_KINDS = {
    "string_type": "a string",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a map",
    "model_type": "a map",
    "model_attributes_type": "a map",
    "float_type": "a number",
}

_COMPARED = {
    "greater_than_equal": "{shown} is less than {ge}",
    "less_than_equal": "{shown} is more than {le}",
    "string_too_short": "{shown} is shorter than the minimum length of {min_length}",
    "string_too_long": "{shown} is longer than {max_length} characters",
    "too_short": "{actual_length} items, at least {min_length} required",
    "too_long": "{actual_length} items, at most {max_length} allowed",
}
_LONGEST_SHOWN = 80
"""Enough of a value to know it again; what is longer may be a script or a secret."""

_MAPS = {
    "limits": "gpus", "disk": "size", "osDisk": "size", "metadata": "name", "cluster": "name",
    "sharing": "timeSlicing", "instances": "types",
}  # fmt: skip
"""The key that is meant where a map of such a name is a single value."""

_TAGS = {
    "<one>": "a string",
    "<text>": "a string",
    "<number>": "a number",
    "<list>": "a list",
    "<map>": "a map",
}


def convert_errors(error: ValidationError, node: Located, model: Model) -> Iterator[Finding]:
    """Say each mistake that pydantic found in `node`, read as a `model`, in human words."""
    for details in error.errors(include_url=False):
        yield convert_error(details, node, model)


def locate(node: Located, path: Sequence[str | int]) -> tuple[Located, ErrorPath, bool]:
    """Follow `path` into `node` as far as it goes.

    Returns the deepest Node, the path that led there, and whether all of `path` was found. Parts of
    a path that name a branch of a union (and so stand in no file) are stepped over.
    """
    here, walked, whole = node, [], True
    for index, part in enumerate(path):
        below = _child(here, part)
        if below is not None:
            here = below
            walked.append(part)
            whole = True
        elif index + 1 == len(path):
            whole = part in _TAGS
    return here, tuple(walked), whole


def format_path(path: Sequence[str | int]) -> str:
    """Return a key path as people write it: `pools.chat.budgets[0].nodes`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            shown = f"[{part}]" if "." in part or "/" in part else part
            text += shown if not text or shown.startswith("[") else f".{shown}"
    return text


def find_close_match(word: str, known: Sequence[str]) -> str:
    """Return the known word that `word` was probably meant to be, or an empty text."""
    folded = {name.lower(): name for name in reversed(known)}
    close = get_close_matches(word.lower(), list(folded), n=1, cutoff=0.6)
    return folded[close[0]] if close else ""


def _child(node: Located, part: str | int) -> Located | None:
    if isinstance(node.value, dict) and isinstance(part, str):
        return node.value.get(part)
    if isinstance(node.value, list) and isinstance(part, int) and part < len(node.value):
        return node.value[part]
    return None


def convert_error(details: ErrorDetails, root: Located, model: Model) -> Finding:
    """Say one mistake that pydantic found in `root`, read as a `model`, in human words."""
    here, path, whole = locate(root, details["loc"])
    at = here.at if whole else here.key or here.at
    kind, context = details["type"], details.get("ctx", {})
    name = format_path(path)
    if kind == "extra_forbidden":
        return _unknown_key(here, path, list_keys(model.load(), path[:-1]))
    if kind == "missing":
        missing = str(details["loc"][-1])
        message = f"`{missing}` is missing{_inside(name)}"
        return Finding(Code.MISSING, message, here.key or here.at, path=format_path((*path, missing)))
    if kind in _KINDS:
        return _wrong_kind(_KINDS[kind], here, path)
    if kind == "union_tag_invalid":
        return _wrong_kind(
            " or ".join(_TAGS[tag] for tag in _TAGS if tag in context["expected_tags"]), here, path
        )
    if "item" in context:
        here, path = items(here)[context["item"]], (*path, context["item"])
        at, name = here.at, format_path(path)
    if kind == "wanted" and at is here.at and not isinstance(here.value, str):
        return _not_wanted(context, here, path)
    message, fix = _value_words(kind, context, details)
    return Finding(Code.WRONG_VALUE, f"`{name}`: {message}", at, fix, path=name)


def _inside(name: str) -> str:
    return f" in `{name}`" if name else ""


def _unknown_key(here: Located, path: ErrorPath, known: Sequence[str]) -> Finding:
    key = str(path[-1]) if path else ""
    near = find_close_match(key, known)
    fix = f"did you mean `{near}`?" if near else f"use one of {', '.join(known)}" if known else ""
    where = _inside(format_path(path[:-1]))
    return Finding(
        Code.UNKNOWN_KEY, f"unknown field `{key}`{where}", here.key or here.at, fix, path=format_path(path)
    )


def _wrong_kind(wanted: str, here: Located, path: ErrorPath) -> Finding:
    fix = ""
    if wanted == "a string" and here.text:
        fix = f'put it in quotes: `"{here.text}"`'
    elif wanted == "a map" and (inner := _MAPS.get(str(path[-1]) if path else "")):
        fix = f"write `{path[-1]}: {{{inner}: {here.text or here.value}}}`" if _is_one(here.value) else ""
    elif isinstance(here.value, float) and isfinite(here.value):
        fix = suggest_node_count(str(here.value)) or (
            f"write `{path[-1]}: {int(here.value)}`" if path else ""
        )
    elif path[-2:-1] in {("taints",), ("startupTaints",)}:
        fix = suggest_taint(str(here.value))
    message = f"`{format_path(path)}` must be {wanted}, not {describe_value(here)}"
    return Finding(Code.WRONG_TYPE, message, here.at, fix, path=format_path(path))


def _is_one(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _not_wanted(context: Mapping[str, Any], here: Located, path: ErrorPath) -> Finding:
    """Return what is wanted in place of a value that is no text; quotes may be all that is missing."""
    is_said = here.text is not None and here.value is not None
    quoted_fits = is_said and is_match(context.get("pattern", "$."), here.text or "")
    fix = f'put it in quotes: `"{here.text}"`' if quoted_fits else str(context.get("fix", ""))
    message = f"`{format_path(path)}` must be {context['wanted']}, not {describe_value(here)}"
    return Finding(Code.WRONG_TYPE, message, here.at, fix, path=format_path(path))


def describe_value(node: Located) -> str:
    """Describe a value, as in `the number 1.30` or `a list`."""
    value = node.value
    if isinstance(value, bool):
        return f"the boolean {node.text or str(value).lower()}"
    if isinstance(value, int | float):
        return f"the number {node.text or value}"
    if isinstance(value, str):
        return f"the string `{value[:40]}`"
    if value is None:
        return "null"
    return "a map" if isinstance(value, dict) else "a list"


def _value_words(kind: str, context: Mapping[str, Any], details: ErrorDetails) -> tuple[str, str]:
    """Return what is wrong with a value of the right type, and the fix where one is known."""
    shown = _shown(details["input"])
    if kind in {"literal_error", "enum"}:
        expected = str(context["expected"])
        near = find_close_match(
            str(details["input"]), [word.strip("'") for word in expected.replace(" or ", ", ").split(", ")]
        )
        fix = suggest_architecture(str(details["input"])) or (f"did you mean `{near}`?" if near else "")
        return f"{shown} is not {'one of ' if ' or ' in expected else ''}{expected}", fix
    if "wanted" in context:
        wanted = context["wanted"]
        is_empty = details["input"] == ""
        message = f"must be {wanted}, not the empty string" if is_empty else f"{shown} is not {wanted}"
        return message, str(context.get("fix", ""))
    if kind in _COMPARED:
        fix = (
            f"set `{context['ge']}` or more"
            if "ge" in context
            else f"set `{context['le']}` or less"
            if "le" in context
            else ""
        )
        # Pydantic stops counting the entries of a map that has too many.
        given = context.get("actual_length")
        counted = {**context, "actual_length": "too many" if given is None else given}
        return _COMPARED[kind].format(shown=shown, **counted), fix
    return details["msg"], str(context.get("fix", ""))


def _shown(value: object) -> str:
    if not isinstance(value, str | int | float):
        return "this"
    text = str(value)
    if not text:
        return "the empty string"
    return f"`{text}`" if len(text) <= _LONGEST_SHOWN else f"`{text[:_LONGEST_SHOWN]}…`"


def list_field_names(model: "type[BaseModel]") -> list[str]:
    """Return the keys that a model takes, as they are spelled in the file."""
    return [field.alias or name for name, field in model.model_fields.items()]


def list_keys(model: "type[BaseModel]", path: ErrorPath) -> list[str]:
    """Return the keys that a model takes in the map at `path`; nothing where any key is right."""
    here: list[Any] = [model]
    for part in path:
        here = [kind for kind in flatten_types(here) for kind in _below(kind, part)]
    return list(
        dict.fromkeys(
            name for kind in flatten_types(here) if _is_model(kind) for name in list_field_names(kind)
        )
    )


def _is_model(kind: object) -> bool:
    from pydantic import BaseModel

    return isinstance(kind, type) and issubclass(kind, BaseModel)


def flatten_types(kinds: Sequence[Any]) -> Iterator[Any]:
    """Yield the members of unions and the types under `Annotated`, each on its own."""
    for kind in kinds:
        origin = get_origin(kind)
        if origin is Annotated:
            yield from flatten_types(get_args(kind)[:1])
        elif origin in (Union, UnionType):
            yield from flatten_types(get_args(kind))
        else:
            yield kind


def _below(kind: type[Any], part: str | int) -> Iterator[Any]:
    if _is_model(kind):
        yield from (
            field.annotation for name, field in kind.model_fields.items() if (field.alias or name) == part
        )
    elif get_origin(kind) is dict and isinstance(part, str):
        yield get_args(kind)[1]
    elif get_origin(kind) is list and isinstance(part, int):
        yield get_args(kind)[0]
