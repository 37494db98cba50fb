"""Findings of expansion at a location of the blueprint."""

from collections.abc import Callable

from gpupool.codes import Code
from gpupool.findings import Finding, Severity
from gpupool.yamlio.located import Located, place


class Problem(Exception):  # noqa: N818 - it carries a finding, and no user meets it as an exception
    """A field that cannot be expanded; the caller collects the finding and continues."""

    def __init__(self, code: Code, message: str, node: Located, fix: str = "") -> None:
        """Build the error at a location."""
        super().__init__(message)
        self.finding = error(code, message, node, fix)


def collect_problem(findings: list[Finding], build: Callable[[], list[Located]]) -> list[Located]:
    """Call `build` and return its result; a problem is added to `findings` and the result is empty."""
    try:
        return build()
    except Problem as problem:
        findings.append(problem.finding)
        return []


def error(code: Code, message: str, node: Located, fix: str = "") -> Finding:
    """Build an error at a location."""
    return Finding(code, message, place(node), fix)


def warning(code: Code, message: str, node: Located, fix: str = "") -> Finding:
    """Build a warning at a location."""
    return Finding(code, message, place(node), fix, Severity.WARNING)


def info(code: Code, message: str, node: Located, fix: str = "") -> Finding:
    """Build a note at a location."""
    return Finding(code, message, place(node), fix, Severity.INFO)
