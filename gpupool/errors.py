"""The errors that end a command, each with its exit code.

GpupoolError
├── InputError    1   the blueprint, a profile or an output folder is not as it has to be
├── StaleError    1   what was rendered before is not what would be rendered now
├── AccountError  1   the AWS account can't be reached, or refuses to answer
└── UsageError   64   the command line itself makes no sense
"""

from collections.abc import Sequence
from typing import ClassVar

from gpupool.findings import Finding, Severity


class GpupoolError(Exception):
    """Something that a user can mend; anything else that escapes is a bug (exit code 70)."""

    exit_code: ClassVar[int] = 1


class InputError(GpupoolError):
    """The input is wrong in one or more places, all of them in `findings`, in file order."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        """Keep every finding; the text names how many are errors."""
        self.findings = tuple(findings)
        errors = sum(finding.severity is Severity.ERROR for finding in findings)
        super().__init__(f"{errors} error{'s' * (errors != 1)}")


class StaleError(GpupoolError):
    """Rendered files differ from what would be rendered now; `names` are those that do."""

    def __init__(self, names: Sequence[str]) -> None:
        """Keep the names of the files that differ, are missing or are left over."""
        self.names = tuple(names)
        super().__init__(f"{len(names)} rendered file{'s' * (len(names) != 1)} out of date")


class AccountError(GpupoolError):
    """The AWS account can't be reached, or refuses to answer."""


class UsageError(GpupoolError):
    """Options that do not go together."""

    exit_code = 64
