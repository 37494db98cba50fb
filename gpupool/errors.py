"""Errors that end a command, with their exit codes.

GpupoolError
├── InputError    1   the blueprint, a profile or an output folder is invalid
├── StaleError    2   rendered files are out of date
├── KeyFileError  1   a key that signs or verifies a plan can't be used
├── AccountError  1   the AWS account can't be reached, or returns an error
├── ClusterError  1   the API server can't be reached, or returns an error
├── GuardError    3   blocked by a guard: deletions, a lock, another cluster
├── ConflictError 4   fields are managed by another field manager, or objects by another owner
├── OutdatedError 5   a saved plan is stale or expired
│   └── StalePlanError 5   the same, with the current changes (in gpupool.rollout.planning.verify)
├── NotReadyError 6   everything was applied, but not all of it is Ready in time
├── PartialError  7   a part was applied, the rest was not
├── UsageError   64   invalid options on the command line
└── StoppedError      a signal ended it: 130 for SIGINT, 143 for SIGTERM
"""

from collections.abc import Sequence
from typing import ClassVar

from gpupool.findings import Finding, Severity, merge_findings


class GpupoolError(Exception):
    """An error that a user can fix; any other exception that ends a command is a bug (exit code 70)."""

    exit_code: ClassVar[int] = 1


class InputError(GpupoolError):
    """Invalid input; `findings` holds every error, in file order."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        """Store the findings; the message counts the errors."""
        self.findings = tuple(findings)
        errors = sum(finding.severity is Severity.ERROR for finding in merge_findings(findings))
        super().__init__(f"{errors} error{'s' * (errors != 1)}")


class StaleError(GpupoolError):
    """Rendered files are out of date; `names` lists them."""

    exit_code = 2

    def __init__(self, names: Sequence[str]) -> None:
        """Store the names of the files that differ, are missing or are left over."""
        self.names = tuple(names)
        super().__init__(f"{len(names)} rendered file{'s' * (len(names) != 1)} out of date")


class KeyFileError(GpupoolError):
    """A key that signs or verifies a plan can't be used; the message quotes no part of it."""


class AccountError(GpupoolError):
    """The AWS account can't be reached, or returns an error."""


class ClusterError(GpupoolError):
    """The API server can't be reached, or returns an error."""


class GuardError(GpupoolError):
    """Blocked by a guard; nothing was applied."""

    exit_code = 3


class ConflictError(GpupoolError):
    """Fields or objects are managed by another owner; nothing was applied."""

    exit_code = 4


class OutdatedError(GpupoolError):
    """A saved plan is stale, expired or for another cluster; nothing was applied."""

    exit_code = 5


class NotReadyError(GpupoolError):
    """Everything was applied, but not all of it is Ready in time."""

    exit_code = 6


class PartialError(GpupoolError):
    """A part was applied, and the rest was not."""

    exit_code = 7


class StoppedError(GpupoolError):
    """The command was ended by a signal; the changes so far are recorded."""

    def __init__(self, signal: int, done: str = "") -> None:
        """Set the exit code that shells use for a signal; `done` describes the completed work."""
        self.signal = signal
        self.exit_code = 128 + signal  # type: ignore[misc] # the only error whose code depends on the instance
        super().__init__(f"stopped by a signal{': ' * bool(done)}{done}")


class UsageError(GpupoolError):
    """Invalid options, or options that conflict with each other."""

    exit_code = 64
