"""What one run of `validate` checked and found: the value that every format is made from."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from gpupool.findings import Finding, Location, Severity


class CheckedObject(NamedTuple):
    """An object that was checked, whether or not anything was found."""

    kind: str
    name: str
    """Name in the cluster; empty where the object has none."""

    at: Location
    """Where the object begins."""

    @property
    def object(self) -> str:
        """Return it as findings name it: `NodePool/chat`."""
        return f"{self.kind}/{self.name}"


class Skipped(NamedTuple):
    """A file, or a document in one, that was not looked into."""

    at: Location
    reason: str


class Report(NamedTuple):
    """The findings of one run, and what they are about."""

    findings: tuple[Finding, ...]
    """In the order of files, then by line and column; what is the same at several places is one finding."""

    files: tuple[str, ...] = ()
    """Every file that was read, in the order of reading."""

    checked: tuple[CheckedObject, ...] = ()
    """Every object that was checked, blueprints among them."""

    documents: int = 0
    """How many YAML or JSON documents the files hold."""

    other_kinds: Mapping[str, int] = {}
    """How many objects of each other kind there were, by kind."""

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
        """Count the checked objects by kind, in the order in which the kinds came first."""
        return dict(Counter(each.kind for each in self.checked))
