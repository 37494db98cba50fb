"""Report of `gpupool validate` as GitHub workflow commands, which annotate the lines of a pull request."""

from gpupool.checking.report import Report
from gpupool.codes import layer
from gpupool.findings import Finding, Severity
from gpupool.reports.escaping import one_line, visible
from gpupool.reports.finding_text import join_places

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render_report(report: Report) -> str:
    """Return one command for each finding; GitHub shows the first ten of each severity in a step."""
    return "".join(f"{_command(finding)}\n" for finding in report.findings)


def _command(finding: Finding) -> str:
    at = finding.at
    title = f"{finding.code} [{layer(finding.code)}]" + (f" {finding.object}" if finding.object else "")
    # GitHub matches annotations with files by name, as git writes it: without `./`.
    places = {
        "file": visible(at.file.removeprefix("./")),
        "line": at.line,
        "col": at.column,
        "title": one_line(title),
    }
    properties = ",".join(f"{name}={_escape_property(str(value))}" for name, value in places.items() if value)
    also = f"\nalso at: {join_places(finding)}" if finding.also else ""
    fix = f"\nfix: {one_line(finding.fix)}" if finding.fix else ""
    return f"::{_COMMANDS[finding.severity]} {properties}::{_escape(one_line(finding.message) + also + fix)}"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")
