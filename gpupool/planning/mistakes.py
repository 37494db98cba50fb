"""What is wrong with a plan file, each mistake at its line and column.

The places are looked for only when something is wrong: that reads the file a second time.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from gpupool.codes import Code
from gpupool.errors import InputError
from gpupool.findings import Finding, Location
from gpupool.planning.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails

    from gpupool.yamlio.nodes import Node, Plain

_MOST: Final = 20
"""More mistakes than these say no more than that the file is no plan."""

_UNKNOWN: Final = "unexpected_keyword_argument"
_KINDS: Final = {
    "string_type": "a text",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a map",
    "mapping_type": "a map",
    "dataclass_type": "a map",
}
_FIX: Final = "create it again with `gpupool plan -o json=FILE`"


def parsed(raw: bytes, name: str, limit: int) -> tuple[str, Plain]:
    """Give a file's text, and what it says as JSON.

    Raises:
        InputError: where it is no JSON, with the place; for a file that was cut off; for a file over `limit`.
    """
    from pydantic_core import from_json

    from gpupool.yamlio.decoding import UnreadableError, as_text

    try:
        written = as_text(raw, name, Code.PLAN_FILE, limit)
    except UnreadableError as problem:
        raise InputError([each._replace(fix=_FIX) for each in problem.findings]) from None
    try:
        found: Plain = from_json(written, allow_inf_nan=False)
    except ValueError as problem:
        raise InputError([_no_json(written, name, str(problem))]) from None
    _ensure_distinct(written, name)
    return written, found


def _ensure_distinct(written: str, name: str) -> None:
    """Refuse a key that is in one map twice: which of the two counts, readers of JSON disagree on."""
    import json

    twice: list[str] = []

    def checked(pairs: list[tuple[str, object]]) -> None:
        twice.extend(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)

    json.loads(written, object_pairs_hook=checked, parse_int=str, parse_float=str)
    if twice:
        said = ", ".join(f"`{key}`" for key in twice[:_MOST])
        raise InputError(
            [Finding(Code.PLAN_FILE, f"duplicate keys in one map: {said}", Location(name), _FIX)]
        )


def mistakes(
    document: dict[str, Plain], written: str, name: str, *, allow_unknown: bool
) -> tuple[Plan | None, list[Finding]]:
    """Give the plan, or None and why the document is none; unknown keys are passed over where allowed."""
    plan, wrong = _validated(document)
    if allow_unknown and any(each["type"] == _UNKNOWN for each in wrong):
        for each in wrong:
            if each["type"] == _UNKNOWN:
                document = _without(document, each["loc"])
        plan, wrong = _validated(document)
    if not wrong:
        return plan, []
    root = _located(written, name)
    found = [_finding(each, root, name) for each in wrong[:_MOST]]
    if more := len(wrong) - len(found):
        found.append(Finding(Code.PLAN_FILE, f"{more} more mistake{'s' * (more != 1)}", Location(name), _FIX))
    return None, found


def contradictions(plan: Plan, written: str, name: str) -> list[Finding]:
    """Return what a plan states that does not follow from the rest of it."""
    from gpupool.planning import agreement
    from gpupool.shapes.words import dotted, locate

    wrong = list(islice(agreement.mistakes(plan), _MOST + 1))
    if not wrong:
        return []
    root = _located(written, name)
    found = [
        Finding(
            Code.PLAN_FILE,
            f"`{dotted(path)}`: {message}",
            Location(name) if root is None else locate(root, path)[0].at,
            _FIX,
            path=dotted(path),
        )
        for path, message in wrong[:_MOST]
    ]
    if len(wrong) > _MOST:
        found.append(Finding(Code.PLAN_FILE, "more mistakes, which are not listed", Location(name), _FIX))
    return found


def place_of(written: str, name: str, path: Sequence[str]) -> Location:
    """Give the place of the value at a path of maps, or the file as a whole."""
    from gpupool.yamlio.nodes import find

    root = _located(written, name)
    node = root and find(root, *path)
    return node.at if node else Location(name)


def _validated(document: dict[str, Plain]) -> tuple[Plan | None, list[ErrorDetails]]:
    from pydantic_core import ValidationError, to_json

    try:
        # As JSON, a list is a tuple and a map is a class; a text is no number there, whatever it says.
        return _adapter().validate_json(to_json(document), strict=True), []
    except ValidationError as problem:
        return None, problem.errors(include_url=False)


@cache
def _adapter() -> TypeAdapter[Plan]:
    from pydantic import TypeAdapter

    return TypeAdapter(Plan)


def _without(document: Any, path: Sequence[str | int]) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Give a document without the key at a path; what is beside the path is shared."""
    first, *rest = path
    if isinstance(document, list):
        return [_without(item, rest) if at == first else item for at, item in enumerate(document)]
    if not rest:
        return {key: item for key, item in document.items() if key != first}
    return {key: _without(item, rest) if key == first else item for key, item in document.items()}


def _no_json(written: str, name: str, reason: str) -> Finding:
    from gpupool.yamlio.json_text import JsonReader, NotJsonError

    if not written.strip():
        return Finding(Code.PLAN_FILE, "the file is empty", Location(name), _FIX)
    reader = JsonReader(written, name)
    try:
        reader.value()
    except NotJsonError as problem:
        if written.startswith("{") and (reader.is_over() or not written.rstrip().endswith("}")):
            message = "the file ends in the middle of the plan"
            return Finding(Code.PLAN_FILE, message, problem.finding.at, _FIX)
        return problem.finding._replace(code=Code.PLAN_FILE, fix=_FIX)
    if reader.is_over():  # Python's reader refuses more than ours: half a surrogate pair
        return Finding(Code.PLAN_FILE, f"not JSON: {reason}", Location(name), _FIX)
    return Finding(Code.PLAN_FILE, "unexpected text after the plan", reader.at(), _FIX)


def _located(written: str, name: str) -> Node | None:
    """Read the JSON again for its places; None where it is too much for that."""
    from gpupool.yamlio.json_text import JsonReader, NotJsonError

    try:
        return JsonReader(written, name).value()
    except NotJsonError:
        return None


def _finding(details: ErrorDetails, root: Node | None, name: str) -> Finding:
    from gpupool.shapes.words import dotted, kind_of, locate

    loc = details["loc"]
    if root is None:
        return Finding(Code.PLAN_FILE, f"`{dotted(loc)}`: {details['msg']}", Location(name), _FIX)
    here, path, _ = locate(root, loc)
    at, said, kind = here.at, dotted(path), details["type"]
    if kind == _UNKNOWN:
        message, at = f"unknown key `{said}`", here.key or here.at
    elif kind == "missing":
        message = f"`{dotted((*path, str(loc[-1])))}` is missing"
    elif kind in _KINDS:
        message = f"`{said}` should be {_KINDS[kind]}, but this is {kind_of(here)}"
    elif kind == "literal_error":
        message = f"`{said}` should be {details['ctx']['expected']}, but this is {kind_of(here)}"
    else:
        message = f"`{said}`: {details['msg']}"
    return Finding(Code.PLAN_FILE, message, at, _FIX, path=dotted(loc))
