"""The errors that end a command, each with its exit code.

GpupoolError
├── InputError    1   the blueprint, a profile or an output folder is not as it has to be
├── StaleError    2   what was rendered before is not what would be rendered now
├── KeyFileError  1   a key that signs or verifies a plan can't be used
├── AccountError  1   the AWS account can't be reached, or refuses to answer
├── ClusterError  1   the API server can't be reached, or refuses to answer
├── GuardError    3   a guard holds it back: deletions, a lock, another cluster
├── ConflictError 4   somebody else owns what would be written
├── OutdatedError 5   a saved plan is no longer true
│   └── StalePlanError 5   the same, with what would be done now (in gpupool.rollout.planning.verify)
├── NotReadyError 6   all is written, and not all of it is Ready in time
├── PartialError  7   a part is written, the rest is not
├── UsageError   64   the command line itself makes no sense
└── StoppedError      a signal ended it: 130 for SIGINT, 143 for SIGTERM
"""

from collections.abc import Sequence
from typing import ClassVar

from gpupool.findings import Finding, Severity, merge_findings


class GpupoolError(Exception):
    """Something that a user can mend; anything else that escapes is a bug (exit code 70)."""

    exit_code: ClassVar[int] = 1


class InputError(GpupoolError):
    """The input is wrong in one or more places, all of them in `findings`, in file order."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        """Keep every finding; the text names how many are errors."""
        self.findings = tuple(findings)
        errors = sum(finding.severity is Severity.ERROR for finding in merge_findings(findings))
        super().__init__(f"{errors} error{'s' * (errors != 1)}")


class StaleError(GpupoolError):
    """Rendered files differ from what would be rendered now; `names` are those that do."""

    exit_code = 2

    def __init__(self, names: Sequence[str]) -> None:
        """Keep the names of the files that differ, are missing or are left over."""
        self.names = tuple(names)
        super().__init__(f"{len(names)} rendered file{'s' * (len(names) != 1)} out of date")


class KeyFileError(GpupoolError):
    """A key that signs or verifies a plan can't be used; the text quotes nothing of it."""


class AccountError(GpupoolError):
    """The AWS account can't be reached, or refuses to answer."""


class ClusterError(GpupoolError):
    """The API server can't be reached, or refuses to answer."""


class GuardError(GpupoolError):
    """A guard holds back what was asked for; nothing was written."""

    exit_code = 3


class ConflictError(GpupoolError):
    """Somebody else owns what would be written; nothing was written."""

    exit_code = 4


class OutdatedError(GpupoolError):
    """A saved plan is no longer true, or is for another cluster; nothing was written."""

    exit_code = 5


class NotReadyError(GpupoolError):
    """Everything was written, and not all of it is Ready in time."""

    exit_code = 6


class PartialError(GpupoolError):
    """A part was written, and the rest was not."""

    exit_code = 7


class StoppedError(GpupoolError):
    """A signal ended the command; what was done is recorded."""

    def __init__(self, signal: int, done: str = "") -> None:
        """Take the exit code that shells use for a signal; `done` says how far it came."""
        self.signal = signal
        self.exit_code = 128 + signal  # type: ignore[misc] # the one error whose code is not of its class
        super().__init__(f"stopped by a signal{': ' * bool(done)}{done}")


class UsageError(GpupoolError):
    """Options that do not go together."""

    exit_code = 64
