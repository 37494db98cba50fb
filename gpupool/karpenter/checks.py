"""Field checks that a pattern can't express; importing this module does not import pydantic."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from pydantic_core import PydanticCustomError, core_schema

from gpupool.karpenter.instants import is_date_time, is_rfc3339
from gpupool.karpenter.labels import find_syntax_problem
from gpupool.shapes.annotations import is_match

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema

QUANTITY_PATTERN = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
QUANTITY_HINT = "a quantity such as 16, 500m or 64Gi"
DNS = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"

_KIND = "wanted"
_HOURS = {"d": 24, "w": 7 * 24}
_LONGEST_PREFIX = 253
_MOST_ANNOTATIONS = 256 * 1024


@dataclass(frozen=True, slots=True)
class Distinct:
    """A list without duplicates."""

    expected: str
    """What the list should be: `a list of different reasons`."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Check after pydantic has read the list."""
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return the same check as JSON Schema."""
        return {**handler(schema), "uniqueItems": True}

    def _check(self, items: list[str]) -> list[str]:
        for index, item in enumerate(items):
            if item in items[:index]:
                raise _build_error(self.expected, "remove it", item=index)
        return items


@dataclass(frozen=True, slots=True)
class IntOrString:
    """A whole number or a quantity, with a single error for everything else."""

    def __get_pydantic_core_schema__(self, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        """Replace pydantic's union, which reports each branch on its own."""
        return core_schema.no_info_plain_validator_function(_check_amount)

    def __get_pydantic_json_schema__(
        self, _schema: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return the same check as JSON Schema."""
        return {"anyOf": [{"type": "integer"}, {"type": "string"}], "pattern": QUANTITY_PATTERN}


@dataclass(frozen=True, slots=True)
class DateTime:
    """A check for the API server's date and time format, which also accepts any list."""

    def __get_pydantic_core_schema__(self, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        """Replace pydantic's check for a text."""
        return core_schema.no_info_plain_validator_function(_check_date_time)

    def __get_pydantic_json_schema__(
        self, _schema: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return the intended format as JSON Schema."""
        return {"type": "string", "format": "date-time"}


def _check_date_time(value: object) -> object:
    if isinstance(value, list):
        return value
    expected = "a date and time such as 2026-08-20T12:00:00Z"
    if not isinstance(value, str):
        raise _build_error(expected)
    if not is_date_time(value):
        kind = "date_time"
        raise PydanticCustomError(kind, "{wanted}", {"wanted": expected})
    return value


def suggest_hours(text: str) -> str:
    """Return a fix that writes a number of days or weeks in hours; empty for any other text."""
    match = re.fullmatch(r"([0-9]{1,5})([dw])", text, re.ASCII)
    return f"write `{int(match[1]) * _HOURS[match[2]]}h`" if match else ""


def _build_error(expected: str, fix: str = "", **context: int) -> PydanticCustomError:
    return PydanticCustomError(_KIND, "{wanted}", {"wanted": expected, "fix": fix, **context})


def _check_amount(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(QUANTITY_PATTERN, value, re.ASCII):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    fix = f'put it in quotes: `"{value}"`' if isinstance(value, float) else ""
    raise _build_error(QUANTITY_HINT, fix)


def _reject(expected: str) -> NoReturn:
    raise PydanticCustomError(_KIND, "{wanted}", {"wanted": expected})


def check_name_prefix(text: str) -> str:
    """Check the prefix of a generated name; the API server ignores its last dash."""
    is_cut = len(text) > 1 and text.endswith("-")
    if text and not is_match(f"^{DNS}$", f"{text[:-2]}a" if is_cut else text):
        _reject("a name prefix of lower-case letters, digits, - and .")
    return text


def check_rfc3339(text: str) -> str:
    """Check that Go can parse a time."""
    if not is_rfc3339(text):
        _reject("a date and time such as 2026-08-20T12:00:00Z")
    return text


def check_finalizer(name: str) -> str:
    """Check the name of a finalizer."""
    if problem := find_syntax_problem(name):
        _reject(f"a valid finalizer name: it {problem}")
    return name


def check_finalizers(finalizers: list[str]) -> list[str]:
    """Check that finalizers do not exclude each other."""
    if {"orphan", "foregroundDeletion"} <= set(finalizers):
        kind = "two_ways_to_go"
        raise PydanticCustomError(kind, "`orphan` and `foregroundDeletion` exclude each other")
    return finalizers


def check_prefix_length(key: str) -> str:
    """Check the length of the part before the slash of a key."""
    if len(key.rpartition("/")[0]) > _LONGEST_PREFIX:
        _reject(f"a key with at most {_LONGEST_PREFIX} characters before the `/`")
    return key


def check_annotations_size(annotations: dict[str, str]) -> dict[str, str]:
    """Check the size of all annotations together."""
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    if size > _MOST_ANNOTATIONS:
        kind = "too_large"
        raise PydanticCustomError(kind, f"{size:,} bytes exceed the maximum of 262,144")
    return annotations
