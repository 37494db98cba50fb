"""Findings as text for a terminal or a log."""

from collections.abc import Iterable

from gpupool.findings import Finding


def findings(found: Iterable[Finding]) -> str:
    """Give each finding as `file:line:column: severity CODE message`, with its fix on a second line."""
    return "".join(_finding(finding) for finding in found)


def _finding(finding: Finding) -> str:
    head = f"{finding.at}: {finding.severity} {finding.code} {finding.message}\n"
    return f"{head}    fix: {finding.fix}\n" if finding.fix else head
