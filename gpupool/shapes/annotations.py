"""What fields are annotated with, in our own words when it refuses; to import it takes no pydantic.

The checks in here are all that a kept validator calls (`shapes.compiled`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticCustomError, core_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema


@dataclass(frozen=True, slots=True)
class Since:
    """The first Karpenter minor that knows a field, as in `Annotated[int | None, Since("1.11")]`."""

    minor: str
    gate: str = ""
    """The feature gate that has to be on as well, where there is one."""


_KIND = "wanted"
_BLANK = r"[\t\n\f\r ]"


def is_match(pattern: str, text: str) -> bool:
    """Search as Go's RE2 does: ASCII classes, blanks without the vertical tab, `$` only at the very end."""
    return _compiled(pattern).search(text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace("$", r"\Z").replace(r"\s", _BLANK), re.ASCII)


@dataclass(frozen=True, slots=True)
class Matching:
    """A text that has to match a pattern, and the words that say so when it does not.

    The pattern means what it means in Go's RE2: searched unless anchored, ASCII classes, `$` only at
    the very end.
    """

    pattern: str
    wanted: str
    """What the text should be, with an example: `a duration such as 30m or 12h`."""

    mend: Callable[[str], str] | None = None
    """Gives the fix for a text that does not match; the empty text where it knows none."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), "pattern": self.pattern}

    def _check(self, text: object) -> object:
        if not isinstance(text, str) or not is_match(self.pattern, text):
            is_said = isinstance(text, str | int | float) and not isinstance(text, bool)
            fix = self.mend(str(text)) if self.mend and is_said else ""
            context = {"wanted": self.wanted, "pattern": self.pattern, "fix": fix}
            raise PydanticCustomError(_KIND, "{wanted}", context)
        return text


def form(value: object) -> str:
    """Tell a map, a list and a single value apart, as the tag of a union's branch.

    The tags stand in brackets, so that none is ever a key in a file.
    """
    if isinstance(value, dict):
        return "<map>"
    return "<list>" if isinstance(value, list) else "<one>"


def number_or_text(value: object) -> str:
    """Tell a number from a text, as the tag of a union's branch."""
    return "<number>" if isinstance(value, int | float) else "<text>"


def tag_json_type(value: object) -> str:
    """Name the kind of a JSON value, as pydantic tags the branches of its own type for them."""
    return type(value).__name__
