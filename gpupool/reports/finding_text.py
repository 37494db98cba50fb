"""Findings as text for a terminal or a log."""

from collections.abc import Iterable

from gpupool.codes import Layer, layer
from gpupool.findings import Finding, Location
from gpupool.reports.escaping import one_line
from gpupool.reports.styles import FAINT, FIX, SEVERITIES, apply_style

_MAX_PLACES = 12
"""More places than these would hide the message."""


def render_findings(findings: Iterable[Finding], *, colour: bool = False) -> str:
    """Return each finding as `file:line:column: severity CODE [layer] message`, its fix on a second line.

    The layer is left out for the blueprint, the only one for objects that gpupool renders itself.
    """
    return "".join(_format_finding(finding, colour=colour) for finding in findings)


def _format_finding(finding: Finding, *, colour: bool) -> str:
    at = Location(one_line(finding.at.file), finding.at.line, finding.at.column)
    reporter = layer(finding.code)
    layer_mark = "" if reporter is Layer.BLUEPRINT else f" [{reporter}]"
    severity = apply_style(finding.severity, SEVERITIES[finding.severity], colour=colour)
    code = apply_style(f"{finding.code}{layer_mark}", FAINT, colour=colour)
    also = f"    also at: {join_places(finding)}\n" if finding.also else ""
    fix = f"    {apply_style('fix:', FIX, colour=colour)} {one_line(finding.fix)}\n" if finding.fix else ""
    return f"{at}: {severity} {code} {one_line(finding.message)}\n{also}{fix}"


def join_places(finding: Finding) -> str:
    """Return the other places of a finding as `12:7, 30:7`."""
    shown = ", ".join(f"{other.at.line}:{other.at.column}" for other in finding.also[:_MAX_PLACES])
    more = len(finding.also) - _MAX_PLACES
    return f"{shown} and {more} more" if more > 0 else shown
