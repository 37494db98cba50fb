"""Report of `validate`: the findings and the checked objects that every output format shows."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from gpupool.findings import Finding, Location, Severity


class CheckedObject(NamedTuple):
    """An object that was checked, with or without findings."""

    kind: str
    name: str
    """The name in the cluster; empty where the object has none."""

    at: Location
    """The location where the object begins."""

    @property
    def object(self) -> str:
        """Return the object as in findings: `NodePool/chat`."""
        return f"{self.kind}/{self.name}"


class Skipped(NamedTuple):
    """A file or a document that was not checked."""

    at: Location
    reason: str


class Report(NamedTuple):
    """The findings of one run, with the checked files and objects."""

    findings: tuple[Finding, ...]
    """In the order of files, lines and columns; equal findings at several locations are one."""

    files: tuple[str, ...] = ()
    """All files that were read, in order."""

    checked: tuple[CheckedObject, ...] = ()
    """All objects that were checked, including blueprints."""

    documents: int = 0
    """The number of YAML and JSON documents in the files."""

    other_kinds: Mapping[str, int] = {}
    """The number of objects of other kinds, which were skipped, by kind."""

    skipped: tuple[Skipped, ...] = ()

    strict: bool = False
    """Whether a warning fails the run as an error does."""

    def fails(self, finding: Finding) -> bool:
        """Return whether a finding fails the run."""
        return finding.severity is Severity.ERROR or (self.strict and finding.severity is Severity.WARNING)

    @property
    def has_failed(self) -> bool:
        """Return whether any finding fails the run."""
        return any(self.fails(finding) for finding in self.findings)

    def count(self, severity: Severity) -> int:
        """Count the findings of a severity."""
        return sum(finding.severity is severity for finding in self.findings)

    def count_kinds(self) -> dict[str, int]:
        """Count the checked objects by kind, in the order of the first object of each kind."""
        return dict(Counter(item.kind for item in self.checked))
