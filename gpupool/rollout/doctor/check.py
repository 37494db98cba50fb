"""Results of `gpupool doctor`: checks and their states."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class CheckState(StrEnum):
    """The result of a check."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    UNKNOWN = "not checked"
    """The check could not be made."""


class Check(NamedTuple):
    """A check with its result."""

    name: str
    state: CheckState
    message: str
    fix: str = ""
    """How to fix it; empty where there is nothing to fix."""

    items: tuple[str, ...] = ()
    """The objects or rights that the message is about, where there are several."""


class Diagnosis(NamedTuple):
    """All checks, with the cluster and the blueprint that they are about."""

    checks: tuple[Check, ...]
    context: str = ""
    server: str = ""
    uid: str = ""
    """Of the cluster's kube-system namespace; empty where it can't be read."""

    blueprint: str = ""
    """The blueprint's name; empty without a blueprint."""

    karpenter: tuple[str, ...] = ()
    """The Karpenter minors of the installed CRDs; several where their CRDs are equal."""

    @property
    def has_failed(self) -> bool:
        """Return whether any check failed."""
        return any(check.state is CheckState.FAILED for check in self.checks)
