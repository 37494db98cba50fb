"""Findings from pydantic's validation errors, with plain messages and the location in the file."""

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

_COMPARISONS = {
    "greater_than_equal": "{value} is less than {ge}",
    "less_than_equal": "{value} is more than {le}",
    "string_too_short": "{value} is shorter than the minimum length of {min_length}",
    "string_too_long": "{value} is longer than {max_length} characters",
    "too_short": "{actual_length} items, at least {min_length} required",
    "too_long": "{actual_length} items, at most {max_length} allowed",
}
_LONGEST_SHOWN = 80
"""Enough to recognize a value; a longer one may be a script or a secret."""

_MAIN_FIELDS = {
    "limits": "gpus", "disk": "size", "osDisk": "size", "metadata": "name", "cluster": "name",
    "sharing": "timeSlicing", "instances": "types",
}  # fmt: skip
"""The field that a single value was probably meant for where these fields require a map."""

_TAGS = {
    "<one>": "a string",
    "<text>": "a string",
    "<number>": "a number",
    "<list>": "a list",
    "<map>": "a map",
}


def convert_errors(error: ValidationError, node: Located, model: Model) -> Iterator[Finding]:
    """Convert each error that pydantic reported for `node` as a `model` to a finding."""
    for details in error.errors(include_url=False):
        yield convert_error(details, node, model)


def locate(node: Located, path: Sequence[str | int]) -> tuple[Located, ErrorPath, bool]:
    """Find the value at `path` in `node`, or the deepest one on the way.

    Returns the value, its path, and whether all of `path` exists. Parts of a path that name a branch of a
    union, and so are not in the file, are skipped.
    """
    current, existing, is_complete = node, [], True
    for index, part in enumerate(path):
        child = _find_child(current, part)
        if child is not None:
            current = child
            existing.append(part)
            is_complete = True
        elif index + 1 == len(path):
            is_complete = part in _TAGS
    return current, tuple(existing), is_complete


def format_path(path: Sequence[str | int]) -> str:
    """Format a key path: `pools.chat.budgets[0].nodes`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            shown = f"[{part}]" if "." in part or "/" in part else part
            text += shown if not text or shown.startswith("[") else f".{shown}"
    return text


def find_close_match(text: str, valid: Sequence[str]) -> str:
    """Return the valid value that is most similar to a text; empty where none is similar."""
    folded = {name.lower(): name for name in reversed(valid)}
    close = get_close_matches(text.lower(), list(folded), n=1, cutoff=0.6)
    return folded[close[0]] if close else ""


def _find_child(node: Located, part: str | int) -> Located | None:
    if isinstance(node.value, dict) and isinstance(part, str):
        return node.value.get(part)
    if isinstance(node.value, list) and isinstance(part, int) and part < len(node.value):
        return node.value[part]
    return None


def convert_error(details: ErrorDetails, root: Located, model: Model) -> Finding:
    """Convert one error that pydantic reported for `root` as a `model` to a finding."""
    node, path, is_complete = locate(root, details["loc"])
    at = node.at if is_complete else node.key or node.at
    kind, context = details["type"], details.get("ctx", {})
    name = format_path(path)
    if kind == "extra_forbidden":
        return _report_unknown_field(node, path, list_keys(model.load(), path[:-1]))
    if kind == "missing":
        missing = str(details["loc"][-1])
        message = f"`{missing}` is missing{_inside(name)}"
        return Finding(Code.MISSING, message, node.key or node.at, path=format_path((*path, missing)))
    if kind in _KINDS:
        return _report_wrong_type(_KINDS[kind], node, path)
    if kind == "union_tag_invalid":
        return _report_wrong_type(
            " or ".join(_TAGS[tag] for tag in _TAGS if tag in context["expected_tags"]), node, path
        )
    if "item" in context:
        node, path = items(node)[context["item"]], (*path, context["item"])
        at, name = node.at, format_path(path)
    if kind == "wanted" and at is node.at and not isinstance(node.value, str):
        return _report_unexpected(context, node, path)
    message, fix = _describe_value_error(kind, context, details)
    return Finding(Code.WRONG_VALUE, f"`{name}`: {message}", at, fix, path=name)


def _inside(name: str) -> str:
    return f" in `{name}`" if name else ""


def _report_unknown_field(node: Located, path: ErrorPath, valid: Sequence[str]) -> Finding:
    key = str(path[-1]) if path else ""
    near = find_close_match(key, valid)
    fix = f"did you mean `{near}`?" if near else f"use one of {', '.join(valid)}" if valid else ""
    where = _inside(format_path(path[:-1]))
    return Finding(
        Code.UNKNOWN_KEY, f"unknown field `{key}`{where}", node.key or node.at, fix, path=format_path(path)
    )


def _report_wrong_type(expected: str, node: Located, path: ErrorPath) -> Finding:
    fix = ""
    if expected == "a string" and node.text:
        fix = f'put it in quotes: `"{node.text}"`'
    elif expected == "a map" and (inner := _MAIN_FIELDS.get(str(path[-1]) if path else "")):
        fix = f"write `{path[-1]}: {{{inner}: {node.text or node.value}}}`" if _is_single(node.value) else ""
    elif isinstance(node.value, float) and isfinite(node.value):
        fix = suggest_node_count(str(node.value)) or (
            f"write `{path[-1]}: {int(node.value)}`" if path else ""
        )
    elif path[-2:-1] in {("taints",), ("startupTaints",)}:
        fix = suggest_taint(str(node.value))
    elif isinstance(node.value, str) and (unquoted := _unquoted(expected, node.value)):
        fix = f"remove the quotes: `{unquoted}`"
    message = f"`{format_path(path)}` must be {expected}, not {describe_value(node)}"
    return Finding(Code.WRONG_TYPE, message, node.at, fix, path=format_path(path))


def _unquoted(expected: str, text: str) -> str:
    """Return a string without its quotes if it is a value of the expected type, or an empty one."""
    is_number = expected == "a whole number" and text.isdecimal() and text.isascii()
    return text if is_number or (expected == "true or false" and text in {"true", "false"}) else ""


def _is_single(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _report_unexpected(context: Mapping[str, Any], node: Located, path: ErrorPath) -> Finding:
    """Report a value that is not the expected string; quotes may be all that is missing."""
    has_text = node.text is not None and node.value is not None
    is_quoted_valid = has_text and is_match(context.get("pattern", "$."), node.text or "")
    fix = f'put it in quotes: `"{node.text}"`' if is_quoted_valid else str(context.get("fix", ""))
    message = f"`{format_path(path)}` must be {context['wanted']}, not {describe_value(node)}"
    return Finding(Code.WRONG_TYPE, message, node.at, fix, path=format_path(path))


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


def _describe_value_error(kind: str, context: Mapping[str, Any], details: ErrorDetails) -> tuple[str, str]:
    """Return the message about a value of the right type, and the fix where there is one."""
    value = _quote(details["input"])
    if kind in {"literal_error", "enum"}:
        expected = str(context["expected"])
        near = find_close_match(
            str(details["input"]), [value.strip("'") for value in expected.replace(" or ", ", ").split(", ")]
        )
        fix = suggest_architecture(str(details["input"])) or (f"did you mean `{near}`?" if near else "")
        return f"{value} is not {'one of ' if ' or ' in expected else ''}{expected}", fix
    if "wanted" in context:
        expected = str(context["wanted"])
        is_empty = details["input"] == ""
        message = f"must be {expected}, not the empty string" if is_empty else f"{value} is not {expected}"
        return message, str(context.get("fix", ""))
    if kind in _COMPARISONS:
        fix = (
            f"set `{context['ge']}` or more"
            if "ge" in context
            else f"set `{context['le']}` or less"
            if "le" in context
            else ""
        )
        # Pydantic stops counting the entries of a map that has too many.
        length = context.get("actual_length")
        counted = {**context, "actual_length": "too many" if length is None else length}
        return _COMPARISONS[kind].format(value=value, **counted), fix
    return details["msg"], str(context.get("fix", ""))


def _quote(value: object) -> str:
    if not isinstance(value, str | int | float):
        return "this"
    text = str(value)
    if not text:
        return "the empty string"
    return f"`{text}`" if len(text) <= _LONGEST_SHOWN else f"`{text[:_LONGEST_SHOWN]}…`"


def list_field_names(model: "type[BaseModel]") -> list[str]:
    """Return the names of a model's fields as they are in a file."""
    return [field.alias or name for name, field in model.model_fields.items()]


def list_keys(model: "type[BaseModel]", path: ErrorPath) -> list[str]:
    """Return the names of the fields that a model allows at `path`; empty where any key is valid."""
    kinds: list[Any] = [model]
    for part in path:
        kinds = [inner for kind in flatten_types(kinds) for inner in _find_types(kind, part)]
    return list(
        dict.fromkeys(
            name for kind in flatten_types(kinds) if _is_model(kind) for name in list_field_names(kind)
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


def _find_types(kind: type[Any], part: str | int) -> Iterator[Any]:
    if _is_model(kind):
        yield from (
            field.annotation for name, field in kind.model_fields.items() if (field.alias or name) == part
        )
    elif get_origin(kind) is dict and isinstance(part, str):
        yield get_args(kind)[1]
    elif get_origin(kind) is list and isinstance(part, int):
        yield get_args(kind)[0]
