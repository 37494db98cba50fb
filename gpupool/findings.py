"""One thing wrong at one place: what, where, how bad, and what to do about it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Location(NamedTuple):
    """A place in a file; lines and columns count from 1, and line 0 means the file as a whole."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """Give `file:line:column`, or the file alone where no line is known."""
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


class Severity(StrEnum):
    """How bad a finding is: an error ends the command, a warning does so with `--strict`."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong (or worth knowing) at one place.

    `code` is `GP` and four digits and never changes its meaning; `message` says what and why in one
    sentence; `fix` says what to do and may be empty; `path` is the key path in the file, as in
    `pools.chat.limits`.
    """

    code: str
    message: str
    at: Location
    fix: str = ""
    severity: Severity = Severity.ERROR
    path: str = ""
