"""Plan files: JSON in one canonical form, sealed with a digest of itself.

A digest is no signature: it tells a file that was cut off or edited. Of one that somebody sealed anew, all
that follows from the rest of the plan is worked out again (`agreement`); only a signature tells who made it.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal

from gpupool.codes import Code
from gpupool.errors import InputError, OutdatedError
from gpupool.findings import Finding, Location
from gpupool.planning.plan import FORMAT_VERSION, Plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import TypeAdapter

    from gpupool.yamlio.located import Plain

MAX_BYTES: Final = 64 << 20
"""Several thousand objects; what is longer is no plan."""

STDIN: Final = "-"
_ANEW: Final = "make a new one with `gpupool plan -o json=FILE`"
_JSON_PLACE = re.compile(r".* at line (?P<line>[0-9]+) column (?P<column>[0-9]+)")
_VERSION = re.compile(r"([1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})")


def render_plan(plan: Plan) -> str:
    """Write a plan as JSON: keys in the order of the classes, two blanks for each level, a final newline."""
    return _canonical(_document(plan))


def calculate_id(plan: Plan) -> str:
    """Return the digest of a plan's text with an empty `id`."""
    return _digest(_document(plan))


def seal(plan: Plan) -> Plan:
    """Return the plan with its own digest as `id`."""
    return replace(plan, id=calculate_id(plan))


def read_contents(path: str) -> bytes:
    """Return what a plan file holds, and of one that is too large enough to refuse it; `-` is standard input.

    Raises:
        InputError: where it can't be read.
    """
    import sys
    from pathlib import Path

    try:
        if path == STDIN:
            return sys.stdin.buffer.read(MAX_BYTES + 1)
        with Path(path).open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as problem:  # a ValueError is a name that no file can have
        reason = getattr(problem, "strerror", None) or str(problem)
        raise _refused(path, f"can't read it: {reason}", "check the path and its permissions") from None


def parse_plan(raw: bytes, name: str) -> Plan:
    """Read a plan that `text` wrote, from the file of that name.

    A later minor version of the format may have keys that this gpupool does not know: they are passed over.

    Raises:
        InputError: with the first thing that is wrong: no JSON, no plan, cut off, changed since it was
            written, or one that contradicts itself.
        OutdatedError: for another major version of the format.
    """
    from pydantic import ValidationError

    from gpupool.planning import agreement
    from gpupool.shapes.error_messages import dotted

    document = _checked(_parsed(raw, name), name)
    if document.get("id") != _digest(document):
        reason = "changed by hand or damaged: `id` does not match the contents"
        raise _invalid(reason, Location(name), "id")
    is_newer = _minor(str(document["formatVersion"])) > _minor(FORMAT_VERSION)
    try:
        plan = validate_document(document, extra="ignore" if is_newer else "forbid")
    except ValidationError as problem:
        path = dotted(problem.errors(include_url=False)[0]["loc"])
        reason = f"`{path}`"
        raise _invalid(reason, Location(name), path) from None
    for where, message in agreement.find_mistakes(plan):
        path = dotted(where)
        reason = f"`{path}`: {message}"
        raise _invalid(reason, Location(name), path)
    return plan


def validate_document(document: Mapping[str, Plain], extra: Literal["ignore", "forbid"] = "forbid") -> Plan:
    """Return the plan that a document holds, whether or not it agrees with itself.

    Raises:
        ValidationError: where it is none.
    """
    from pydantic_core import to_json

    # As JSON, a list is a tuple and a map is a class; a text is no number there, whatever it says.
    return _adapter().validate_json(to_json(document), strict=True, extra=extra)


@cache
def _adapter() -> TypeAdapter[Plan]:
    from pydantic import TypeAdapter

    return TypeAdapter(Plan)


def _parsed(raw: bytes, name: str) -> Plain:
    """Parse a file as JSON."""
    from pydantic_core import from_json

    from gpupool.yamlio.decoding import UnreadableError, as_text

    try:
        written = as_text(raw, name, Code.PLAN_FILE, MAX_BYTES)
    except UnreadableError as problem:
        raise _invalid(problem.findings[0].message, problem.findings[0].at) from None
    try:
        found: Plain = from_json(written, allow_inf_nan=False)
    except ValueError as problem:
        raise _not_json(str(problem), name) from None
    _ensure_distinct(written, name)
    return found


def _not_json(reason: str, name: str) -> InputError:
    place = _JSON_PLACE.fullmatch(reason)
    at = Location(name, int(place["line"]), max(int(place["column"]), 1)) if place else Location(name)
    return _invalid("the file ends too early" if reason.startswith("EOF") else "not JSON", at)


def _ensure_distinct(written: str, name: str) -> None:
    """Refuse a key that is in one map twice: which of the two counts, readers of JSON disagree on."""
    import json
    from collections import Counter

    def checked(pairs: list[tuple[str, object]]) -> None:
        key, count = Counter(key for key, _ in pairs).most_common(1)[0] if pairs else ("", 1)
        if count > 1:
            reason = f"duplicate key `{key}`"
            raise _invalid(reason, Location(name))

    json.loads(written, object_pairs_hook=checked, parse_int=str, parse_float=str)


def _invalid(reason: str, at: Location, path: str = "") -> InputError:
    return InputError([Finding(Code.PLAN_FILE, f"invalid plan file ({reason})", at, _ANEW, path=path)])


def _checked(found: Plain, name: str) -> dict[str, Plain]:
    """Return what is a plan by its looks, in a format that can be read."""
    version = found.get("formatVersion") if isinstance(found, dict) else None
    said = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if not isinstance(found, dict) or said is None or not isinstance(found.get("gpupool"), str):
        message = "this is not a plan of gpupool: it does not start with `formatVersion` and `gpupool`"
        raise _refused(name, message, "pass a file that `gpupool plan -o json=FILE` wrote")
    ours = FORMAT_VERSION.partition(".")[0]
    if said[1] != ours:
        message = (
            f"{name}: unsupported plan format {said[0]}, written by gpupool {found['gpupool']}; this version"
            f" reads format {ours}. Use that version, or {_ANEW}"
        )
        raise OutdatedError(message)
    return found


def _refused(name: str, message: str, fix: str) -> InputError:
    return InputError([Finding(Code.PLAN_FILE, message, Location(name), fix)])


def _minor(version: str) -> int:
    return int(version.partition(".")[2])


def _digest(document: Mapping[str, Any]) -> str:
    # Format 1.1 had no signature. Where there is the key, it is empty in what the id is a digest of.
    unsigned = {**document, "signature": ""} if "signature" in document else document
    return hashlib.sha256(_canonical({**unsigned, "id": ""}).encode()).hexdigest()


def _canonical(document: Mapping[str, Any]) -> str:
    from pydantic_core import PydanticSerializationError, to_json

    try:
        return f"{to_json(document, indent=2).decode()}\n"
    except PydanticSerializationError:
        # A file's name may hold bytes that are no UTF-8; nothing else in a plan can.
        return f"{to_json(_encodable(document), indent=2).decode()}\n"


def _encodable(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(item) for item in value]
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _document(value: Any) -> Any:  # noqa: ANN401 - whatever a plan holds
    """Return classes as maps; what the API server said stays as it is."""
    if is_dataclass(value) and not isinstance(value, type):
        return {key: _document(getattr(value, name)) for name, key in _keys(value.__class__)}
    return [_document(item) for item in value] if isinstance(value, tuple) else value


@cache
def _keys(kind: type[Any]) -> tuple[tuple[str, str], ...]:
    written = kind.__pydantic_config__["alias_generator"]
    return tuple((field.name, written(field.name)) for field in fields(kind))
