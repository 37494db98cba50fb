"""Errors that end a command, with their exit codes.

GpupoolError
├── InputError    1   a blueprint, a profile or an output folder is invalid
├── StaleError    2   rendered files are out of date
├── KeyFileError  1   a key that signs or verifies a plan can't be used
├── AccountError  1   the AWS account can't be reached, or rejects a request
├── ClusterError  1   the API server can't be reached, or rejects a request
├── GuardError    3   blocked by a guard: deletions, a lock, another cluster
├── ConflictError 4   fields or objects have another owner
├── OutdatedError 5   a saved plan is stale
│   └── StalePlanError 5   the same, with the changes as they are now (in gpupool.rollout.planning.verify)
├── NotReadyError 6   applied, but not Ready in time
├── PartialError  7   some changes were applied, others failed
├── UsageError   64   the command line is invalid
└── StoppedError      a signal ended it: 130 for SIGINT, 143 for SIGTERM
"""

from collections.abc import Sequence
from typing import ClassVar

from gpupool.findings import Finding, Severity, merge_findings


class GpupoolError(Exception):
    """An error that a user can fix; any other exception is a bug (exit code 70)."""

    exit_code: ClassVar[int] = 1


class InputError(GpupoolError):
    """Invalid input; `findings` has every mistake, in file order."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        """Store the findings; the message counts the errors."""
        self.findings = tuple(findings)
        errors = sum(finding.severity is Severity.ERROR for finding in merge_findings(findings))
        super().__init__(f"{errors} error{'s' * (errors != 1)}")


class StaleError(GpupoolError):
    """Rendered files are out of date; `names` are these files."""

    exit_code = 2

    def __init__(self, names: Sequence[str]) -> None:
        """Store the names of the files that differ, are missing or are left over."""
        self.names = tuple(names)
        super().__init__(f"{len(names)} rendered file{'s' * (len(names) != 1)} out of date")


class KeyFileError(GpupoolError):
    """A key that signs or verifies a plan can't be used; the message quotes no part of it."""


class AccountError(GpupoolError):
    """The AWS account can't be reached, or rejects a request."""


class ClusterError(GpupoolError):
    """The API server can't be reached, or rejects a request."""


class GuardError(GpupoolError):
    """Blocked by a guard; nothing was applied."""

    exit_code = 3


class ConflictError(GpupoolError):
    """Fields or objects have another owner; nothing was applied."""

    exit_code = 4


class OutdatedError(GpupoolError):
    """A saved plan is stale, or is for another cluster; nothing was applied."""

    exit_code = 5


class NotReadyError(GpupoolError):
    """Applied, but not Ready in time."""

    exit_code = 6


class PartialError(GpupoolError):
    """Some changes were applied, others failed."""

    exit_code = 7


class StoppedError(GpupoolError):
    """A signal ended the command; finished changes are recorded."""

    def __init__(self, signal: int, done: str = "") -> None:
        """Set the exit code that shells use for a signal; `done` describes the completed work."""
        self.signal = signal
        self.exit_code = 128 + signal  # type: ignore[misc] # the only error whose code depends on the instance
        super().__init__(f"stopped by a signal{': ' * bool(done)}{done}")


class UsageError(GpupoolError):
    """Invalid or conflicting options."""

    exit_code = 64
