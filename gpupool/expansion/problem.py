"""An error at a node of the blueprint, raised where expansion can't go on with one word."""

from gpupool.findings import Finding, Severity
from gpupool.yamlio.nodes import Node


class Problem(Exception):  # noqa: N818 - it carries a finding and never reaches the user as an exception
    """One word that can't be expanded; the caller collects it and goes on with the next."""

    def __init__(self, code: str, message: str, node: Node, fix: str = "") -> None:
        """Make the finding at the node's own place."""
        super().__init__(message)
        self.finding = Finding(code, message, node.at, fix)


def warning(code: str, message: str, node: Node, fix: str = "") -> Finding:
    """Make a warning at a node."""
    return Finding(code, message, node.at, fix, Severity.WARNING)


def info(code: str, message: str, node: Node, fix: str = "") -> Finding:
    """Make a piece of information at a node."""
    return Finding(code, message, node.at, fix, Severity.INFO)
