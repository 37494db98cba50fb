"""What a look at a cluster found: one value for each check."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class CheckState(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    UNKNOWN = "not checked"
    """It could not be looked at."""


class Check(NamedTuple):
    """One check."""

    name: str
    state: CheckState
    message: str
    fix: str = ""
    """What to do about it; empty where there is nothing to do."""

    items: tuple[str, ...] = ()
    """Each of the things that the message is about, where there are several."""


class Diagnosis(NamedTuple):
    """All checks, and what they were about."""

    checks: tuple[Check, ...]
    context: str = ""
    server: str = ""
    uid: str = ""
    """Of the cluster's kube-system namespace; empty where it can't be read."""

    blueprint: str = ""
    """Its name; empty where there is none."""

    karpenter: tuple[str, ...] = ()
    """The minors whose CRDs are installed; several where their CRDs are the same."""

    @property
    def failed(self) -> bool:
        """Return whether any check failed."""
        return any(check.state is CheckState.FAILED for check in self.checks)
