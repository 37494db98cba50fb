"""A report for people: the findings, and then what was checked."""

from collections.abc import Iterator, Mapping

from gpupool.checking.report import Report
from gpupool.findings import Severity
from gpupool.reports import finding_text
from gpupool.reports.escaping import one_line

_MOST_SKIPPED = 20
"""More lines than these would hide the findings above them."""


def document(report: Report, *, colour: bool = False) -> str:
    """Return the findings, a line or two for each, and the summary."""
    return finding_text.findings(report.findings, colour=colour) + summary(report)


def summary(report: Report) -> str:
    """Return what was checked and what was skipped."""
    return "".join(f"{line}\n" for line in _lines(report))


def _lines(report: Report) -> Iterator[str]:
    checked = _counted(len(report.checked), "object")
    kinds = f" ({_checked(report.count_kinds())})" if report.checked else ""
    yield f"Checked {checked} in {_counted(len(report.files), 'file')}{kinds}: {_findings(report)}."
    if report.other_kinds:
        yield f"Skipped: {_by_kind(report.other_kinds)}."
    for each in report.skipped[:_MOST_SKIPPED]:
        yield f"Skipped {one_line(str(each.at))}: {one_line(each.reason)}"
    if more := len(report.skipped[_MOST_SKIPPED:]):
        yield f"Skipped {more} more; `-o json` lists all of them."


def _findings(report: Report) -> str:
    counted = [_counted(report.count(severity), severity) for severity in Severity if report.count(severity)]
    return ", ".join(counted) or "no problems found"


def _checked(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{one_line(kind)} {count}" for kind, count in counts.items())


def _by_kind(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{one_line(kind)} ({count})" for kind, count in counts.items())


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"
