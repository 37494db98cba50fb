"""What is wrong, doubtful or worth knowing at a node of the blueprint."""

from collections.abc import Callable

from gpupool.codes import Code
from gpupool.findings import Finding, Severity
from gpupool.yamlio.located import Located, place


class Problem(Exception):  # noqa: N818 - it carries a finding, and no user meets it as an exception
    """One word that can't be expanded; the caller collects it and goes on with the next."""

    def __init__(self, code: Code, message: str, node: Located, fix: str = "") -> None:
        """Make the finding at the node's own place."""
        super().__init__(message)
        self.finding = error(code, message, node, fix)


def collect_problem(found: list[Finding], make: Callable[[], list[Located]]) -> list[Located]:
    """Return what `make` makes, or nothing where it meets a problem; the problem goes to `found`."""
    try:
        return make()
    except Problem as problem:
        found.append(problem.finding)
        return []


def error(code: Code, message: str, node: Located, fix: str = "") -> Finding:
    """Make an error at a node."""
    return Finding(code, message, place(node), fix)


def warning(code: Code, message: str, node: Located, fix: str = "") -> Finding:
    """Make a warning at a node."""
    return Finding(code, message, place(node), fix, Severity.WARNING)


def info(code: Code, message: str, node: Located, fix: str = "") -> Finding:
    """Make a piece of information at a node."""
    return Finding(code, message, place(node), fix, Severity.INFO)
