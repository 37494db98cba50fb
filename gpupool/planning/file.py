"""Plan files: canonical JSON, sealed with a digest of its own contents.

The digest is not a signature: it detects a truncated or edited file. In a file that was edited and sealed
again, `agreement` checks all that follows from the rest of the plan; only a signature proves who made it.
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
"""The limit of a plan file; enough for several thousand objects."""

STDIN: Final = "-"
_NEW_PLAN: Final = "make a new one with `gpupool plan -o json=FILE`"
_JSON_POSITION = re.compile(r".* at line (?P<line>[0-9]+) column (?P<column>[0-9]+)")
_VERSION = re.compile(r"([1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})")


def render_plan(plan: Plan) -> str:
    """Render a plan as JSON: keys in the order of the classes, indented by two spaces, a final newline."""
    return _canonical(_document(plan))


def calculate_id(plan: Plan) -> str:
    """Return the digest of a plan's text with an empty `id`."""
    return _digest(_document(plan))


def seal(plan: Plan) -> Plan:
    """Return the plan with its own digest as `id`."""
    return replace(plan, id=calculate_id(plan))


def read_contents(path: str) -> bytes:
    """Read a plan file, at most one byte more than `MAX_BYTES`; `-` is standard input.

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
        raise _file_error(path, f"can't read it: {reason}", "check the path and its permissions") from None


def parse_plan(raw: bytes, name: str) -> Plan:
    """Parse a plan that `render_plan` wrote; `name` is the file's name for messages.

    Keys that a later minor version of the format adds are ignored.

    Raises:
        InputError: with the first problem: not JSON, not a plan, truncated, changed since it was written,
            or contradicting itself.
        OutdatedError: for another major version of the format.
    """
    from pydantic import ValidationError

    from gpupool.planning import agreement
    from gpupool.shapes.error_messages import format_path

    document = _check_format(_parse_json(raw, name), name)
    if document.get("id") != _digest(document):
        reason = "changed by hand or damaged: `id` does not match the contents"
        raise _invalid(reason, Location(name), "id")
    is_newer = _minor(str(document["formatVersion"])) > _minor(FORMAT_VERSION)
    try:
        plan = validate_document(document, extra="ignore" if is_newer else "forbid")
    except ValidationError as problem:
        path = format_path(problem.errors(include_url=False)[0]["loc"])
        reason = f"field `{path}`"
        raise _invalid(reason, Location(name), path) from None
    for where, message in agreement.find_mistakes(plan):
        path = format_path(where)
        reason = f"`{path}`: {message}"
        raise _invalid(reason, Location(name), path)
    return plan


def validate_document(document: Mapping[str, Plain], extra: Literal["ignore", "forbid"] = "forbid") -> Plan:
    """Build the plan of a document, without a check that its parts agree.

    Raises:
        ValidationError: where the document is not a plan.
    """
    from pydantic_core import to_json

    # Validated as JSON, a list becomes a tuple and a map a class, while a string never becomes a number.
    return _adapter().validate_json(to_json(document), strict=True, extra=extra)


@cache
def _adapter() -> TypeAdapter[Plan]:
    from pydantic import TypeAdapter

    return TypeAdapter(Plan)


def _parse_json(raw: bytes, name: str) -> Plain:
    """Parse a file as JSON."""
    from pydantic_core import from_json

    from gpupool.yamlio.decoding import UnreadableError, decode_text

    try:
        text = decode_text(raw, name, Code.PLAN_FILE, MAX_BYTES)
    except UnreadableError as problem:
        raise _invalid(problem.findings[0].message, problem.findings[0].at) from None
    try:
        document: Plain = from_json(text, allow_inf_nan=False)
    except ValueError as problem:
        raise _not_json(str(problem), name) from None
    _ensure_distinct_keys(text, name)
    return document


def _not_json(reason: str, name: str) -> InputError:
    position = _JSON_POSITION.fullmatch(reason)
    at = Location(name)
    if position:
        at = Location(name, int(position["line"]), max(int(position["column"]), 1))
    return _invalid("the file ends too early" if reason.startswith("EOF") else "not JSON", at)


def _ensure_distinct_keys(text: str, name: str) -> None:
    """Raise for a duplicate key: JSON parsers disagree on which of the two values counts."""
    import json
    from collections import Counter

    def check_pairs(pairs: list[tuple[str, object]]) -> None:
        key, count = Counter(key for key, _ in pairs).most_common(1)[0] if pairs else ("", 1)
        if count > 1:
            reason = f"duplicate key `{key}`"
            raise _invalid(reason, Location(name))

    json.loads(text, object_pairs_hook=check_pairs, parse_int=str, parse_float=str)


def _invalid(reason: str, at: Location, path: str = "") -> InputError:
    return InputError([Finding(Code.PLAN_FILE, f"invalid plan file ({reason})", at, _NEW_PLAN, path=path)])


def _check_format(document: Plain, name: str) -> dict[str, Plain]:
    """Return the document if it looks like a plan in a supported format; raise otherwise."""
    version = document.get("formatVersion") if isinstance(document, dict) else None
    match = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if not isinstance(document, dict) or match is None or not isinstance(document.get("gpupool"), str):
        message = "this is not a plan of gpupool: it does not start with `formatVersion` and `gpupool`"
        raise _file_error(name, message, "pass a file that `gpupool plan -o json=FILE` wrote")
    major = FORMAT_VERSION.partition(".")[0]
    if match[1] != major:
        message = (
            f"{name}: unsupported plan format {match[0]}, written by gpupool {document['gpupool']}; this"
            f" version reads format {major}. Use that version, or {_NEW_PLAN}"
        )
        raise OutdatedError(message)
    return document


def _file_error(name: str, message: str, fix: str) -> InputError:
    return InputError([Finding(Code.PLAN_FILE, message, Location(name), fix)])


def _minor(version: str) -> int:
    return int(version.partition(".")[2])


def _digest(document: Mapping[str, Any]) -> str:
    # Format 1.1 had no signature. Where the key exists, the id is calculated with an empty signature.
    unsigned = {**document, "signature": ""} if "signature" in document else document
    return hashlib.sha256(_canonical({**unsigned, "id": ""}).encode()).hexdigest()


def _canonical(document: Mapping[str, Any]) -> str:
    from pydantic_core import PydanticSerializationError, to_json

    try:
        return f"{to_json(document, indent=2).decode()}\n"
    except PydanticSerializationError:
        # A file's name may hold bytes that are not UTF-8; nothing else in a plan can.
        return f"{to_json(_encodable(document), indent=2).decode()}\n"


def _encodable(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(item) for item in value]
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _document(value: Any) -> Any:  # noqa: ANN401 - whatever a plan holds
    """Convert dataclasses to maps; objects of the API server are already plain values."""
    if is_dataclass(value) and not isinstance(value, type):
        return {key: _document(getattr(value, name)) for name, key in _keys(value.__class__)}
    return [_document(item) for item in value] if isinstance(value, tuple) else value


@cache
def _keys(kind: type[Any]) -> tuple[tuple[str, str], ...]:
    to_key = kind.__pydantic_config__["alias_generator"]
    return tuple((field.name, to_key(field.name)) for field in fields(kind))
