"""Annotations of model fields, with gpupool's own error messages.

Importing this module does not import pydantic: its checks are all that a cached validator calls
(`shapes.compiled`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from pydantic_core import PydanticCustomError, core_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema

_KIND = "wanted"
_BLANK = r"[\t\n\f\r ]"


@dataclass(frozen=True, slots=True)
class Since:
    """The first Karpenter minor version with a field, as in `Annotated[int | None, Since("1.11")]`."""

    minor: str
    gate: str = ""
    """The feature gate that has to be enabled as well, if any."""


@dataclass(frozen=True, slots=True)
class Compared:
    """How two values of a type are compared where they are written differently.

    `set` is a list whose order has no meaning, `named` one whose items are told apart by `keys`; a `quantity`
    and a `duration` are compared by their amounts.
    """

    by: Literal["set", "named", "quantity", "duration"]
    keys: tuple[str, ...] = ()


def is_match(pattern: str, text: str) -> bool:
    """Return whether a pattern matches somewhere in a text, as in Go's RE2.

    Classes are ASCII, blanks do not include the vertical tab, and `$` matches only at the very end.
    """
    return _compile(pattern).search(text) is not None


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace("$", r"\Z").replace(r"\s", _BLANK), re.ASCII)


@dataclass(frozen=True, slots=True)
class Matching:
    """A string that has to match a pattern, with the error message where it does not.

    The pattern has the meaning of Go's RE2: searched unless anchored, ASCII classes, `$` only at the very
    end.
    """

    pattern: str
    expected: str
    """The expected value with an example: `a duration such as 30m or 12h`."""

    suggest: Callable[[str], str] | None = None
    """Returns the fix for a text that does not match; an empty string where it has none."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), "pattern": self.pattern}

    def _check(self, text: object) -> object:
        if not isinstance(text, str) or not is_match(self.pattern, text):
            is_scalar = isinstance(text, str | int | float) and not isinstance(text, bool)
            fix = self.suggest(str(text)) if self.suggest and is_scalar else ""
            context = {"wanted": self.expected, "pattern": self.pattern, "fix": fix}
            raise PydanticCustomError(_KIND, "{wanted}", context)
        return text


def form(value: object) -> str:
    """Return the tag of a union's branch for a map, a list or a single value.

    The tags have brackets so that none of them is a key in a file.
    """
    if isinstance(value, dict):
        return "<map>"
    return "<list>" if isinstance(value, list) else "<one>"


def number_or_text(value: object) -> str:
    """Return the tag of a union's branch for a number or a string."""
    return "<number>" if isinstance(value, int | float) else "<text>"


def tag_json_type(value: object) -> str:
    """Return the type name of a JSON value, as pydantic tags the branches of its own type for them."""
    return type(value).__name__
