"""Findings: errors, warnings and infos with their location, severity and fix."""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple


class Location(NamedTuple):
    """A location in a file; lines and columns count from 1, and line 0 means the whole file."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """Return `file:line:column`, or the file alone where no line is known."""
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


class Severity(StrEnum):
    """The severity of a finding: an error ends the command, the others are only printed."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Finding(NamedTuple):
    """An error, a warning or an info at one location.

    `code` is one of `gpupool.codes`; `message` describes the problem in one sentence; `fix` is the proposed
    change and may be empty; `path` is the key path, as in `pools.chat.limits`; `object` is the Kubernetes
    object, as in `NodePool/chat`, and may be empty. `also` holds the same finding at its other locations.
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
        """Return one finding for each location."""
        return (self._replace(also=()), *self.also)


def in_file_order(findings: Iterable[Finding], files: Iterable[str] = ()) -> tuple[Finding, ...]:
    """Return findings without duplicates, sorted by file (in the order of `files`), line and column."""
    order: dict[str, int] = {}
    for file in files:
        order.setdefault(file, len(order))

    def position(finding: Finding) -> tuple[int, str, int, int]:
        at = finding.at
        return order.get(at.file, len(order)), at.file, at.line, at.column

    return tuple(sorted(dict.fromkeys(findings), key=position))


def merge_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Merge equal findings at several locations of a file into one, at the first location."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        key = (finding.code, finding.message, finding.fix, finding.severity, finding.at.file)
        groups.setdefault(key, []).extend(finding.occurrences)
    return tuple(first._replace(also=tuple(others)) for first, *others in groups.values())


def has_errors(findings: Iterable[Finding]) -> bool:
    """Return whether any finding is an error."""
    return any(finding.severity is Severity.ERROR for finding in findings)
