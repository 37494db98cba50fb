"""Report of `gpupool validate` as text: the findings and a summary."""

from collections.abc import Iterator, Mapping

from gpupool.checking.report import Report
from gpupool.findings import Severity
from gpupool.reports import finding_text
from gpupool.reports.escaping import one_line

_MAX_SKIPPED = 20
"""More lines than these would hide the findings above them."""


def render_report(report: Report, *, colour: bool = False) -> str:
    """Return the findings, a line or two for each, and the summary."""
    return finding_text.render_findings(report.findings, colour=colour) + render_summary(report)


def render_summary(report: Report) -> str:
    """Return the counts of checked and skipped files and objects."""
    return "".join(f"{line}\n" for line in _lines(report))


def _lines(report: Report) -> Iterator[str]:
    checked = _count(len(report.checked), "object")
    kinds = f" ({_join_checked(report.count_kinds())})" if report.checked else ""
    yield f"Checked {checked} in {_count(len(report.files), 'file')}{kinds}: {_count_findings(report)}."
    if report.other_kinds:
        yield f"Skipped: {_join_skipped(report.other_kinds)}."
    for skipped in report.skipped[:_MAX_SKIPPED]:
        yield f"Skipped {one_line(str(skipped.at))}: {one_line(skipped.reason)}"
    if more := len(report.skipped[_MAX_SKIPPED:]):
        yield f"Skipped {more} more; `-o json` lists all of them."


def _count_findings(report: Report) -> str:
    counts = [_count(report.count(severity), severity) for severity in Severity if report.count(severity)]
    return ", ".join(counts) or "no problems found"


def _join_checked(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{one_line(kind)} {count}" for kind, count in counts.items())


def _join_skipped(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{one_line(kind)} ({count})" for kind, count in counts.items())


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"
