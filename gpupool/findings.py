"""One thing wrong at one place: what, where, how bad, and what to do about it."""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple


class Location(NamedTuple):
    """A place in a file; lines and columns count from 1, and line 0 means the file as a whole."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """Return `file:line:column`, or the file alone where no line is known."""
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


class Severity(StrEnum):
    """How bad a finding is: an error ends the command, the others are only said."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Finding(NamedTuple):
    """One thing wrong (or worth knowing) at one place.

    `code` is one of `gpupool.codes`; `message` says what and why in one
    sentence; `fix` says what to do and may be empty; `path` is the key path, as in
    `pools.chat.limits`; `object` is the Kubernetes object it is about, as in `NodePool/chat`, where there
    is one. `also` are the other places of the same finding, after the first, each a finding of its own.
    """

    code: str
    message: str
    at: Location
    fix: str = ""
    severity: Severity = Severity.ERROR
    path: str = ""
    object: str = ""
    also: tuple["Finding", ...] = ()

    @property
    def occurrences(self) -> "tuple[Finding, ...]":
        """Return one finding for each place."""
        return (self._replace(also=()), *self.also)


def in_file_order(findings: Iterable[Finding], files: Iterable[str] = ()) -> tuple[Finding, ...]:
    """Return findings once each, by file (in the order of `files`), line and column."""
    order: dict[str, int] = {}
    for file in files:
        order.setdefault(file, len(order))

    def place(finding: Finding) -> tuple[int, str, int, int]:
        at = finding.at
        return order.get(at.file, len(order)), at.file, at.line, at.column

    return tuple(sorted(dict.fromkeys(findings), key=place))


def merge_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings that say the same of several places as one, at the first of them."""
    places: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        same = (finding.code, finding.message, finding.fix, finding.severity, finding.at.file)
        places.setdefault(same, []).extend(finding.occurrences)
    return tuple(first._replace(also=tuple(others)) for first, *others in places.values())


def has_errors(findings: Iterable[Finding]) -> bool:
    """Return whether any of `findings` is an error."""
    return any(finding.severity is Severity.ERROR for finding in findings)
