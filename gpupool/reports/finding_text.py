"""Findings as text for a terminal or a log."""

from collections.abc import Iterable

from gpupool.codes import Layer, layer
from gpupool.findings import Finding, Location
from gpupool.reports.escaping import one_line
from gpupool.reports.styles import FAINT, FIX, SEVERITIES, styled

_MOST_PLACES = 12
"""More places than these would hide what is the matter with them."""


def findings(found: Iterable[Finding], *, colour: bool = False) -> str:
    """Return each as `file:line:column: severity CODE [layer] message`, its fix on a second line.

    The layer is left out where it is the blueprint: there is no other for what gpupool renders itself.
    """
    return "".join(_finding(finding, colour=colour) for finding in found)


def _finding(finding: Finding, *, colour: bool) -> str:
    at = Location(one_line(finding.at.file), finding.at.line, finding.at.column)
    said_by = layer(finding.code)
    where = "" if said_by is Layer.BLUEPRINT else f" [{said_by}]"
    severity = styled(finding.severity, SEVERITIES[finding.severity], colour=colour)
    code = styled(f"{finding.code}{where}", FAINT, colour=colour)
    also = f"    also at: {places_of(finding)}\n" if finding.also else ""
    fix = f"    {styled('fix:', FIX, colour=colour)} {one_line(finding.fix)}\n" if finding.fix else ""
    return f"{at}: {severity} {code} {one_line(finding.message)}\n{also}{fix}"


def places_of(finding: Finding) -> str:
    """Return where else the same is found, as `12:7, 30:7`."""
    shown = ", ".join(f"{each.at.line}:{each.at.column}" for each in finding.also[:_MOST_PLACES])
    more = len(finding.also) - _MOST_PLACES
    return f"{shown} and {more} more" if more > 0 else shown
