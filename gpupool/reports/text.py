"""Findings as text for a terminal or a log."""

from collections.abc import Iterable

from gpupool.codes import Layer, layer
from gpupool.findings import Finding, Location
from gpupool.reports.escaping import one_line


def findings(found: Iterable[Finding]) -> str:
    """Give each as `file:line:column: severity CODE [layer] message`, its fix on a second line.

    The layer is left out where it is the blueprint: there is no other for what gpupool renders itself.
    """
    return "".join(_finding(finding) for finding in found)


def _finding(finding: Finding) -> str:
    at = Location(one_line(finding.at.file), finding.at.line, finding.at.column)
    said_by = layer(finding.code)
    where = "" if said_by is Layer.BLUEPRINT else f" [{said_by}]"
    head = f"{at}: {finding.severity} {finding.code}{where} {one_line(finding.message)}\n"
    return f"{head}    fix: {one_line(finding.fix)}\n" if finding.fix else head
