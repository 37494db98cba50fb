"""A report for people: the findings, and then what was checked."""

from collections.abc import Iterator, Mapping

from gpupool.findings import Severity
from gpupool.reports import text
from gpupool.reports.escaping import one_line
from gpupool.reports.report import Report

_MOST_SKIPPED = 20
"""More lines than these would hide the findings above them."""


def document(report: Report) -> str:
    """Give the findings, two lines for each at most, and the summary."""
    return text.findings(report.findings) + summary(report)


def summary(report: Report) -> str:
    """Give what was checked, what was passed over and what was skipped."""
    return "".join(f"{line}\n" for line in _lines(report))


def _lines(report: Report) -> Iterator[str]:
    checked = _counted(len(report.checked), "object")
    kinds = f" ({_by_kind(report.kinds())})" if report.checked else ""
    yield f"checked {checked} in {_counted(len(report.files), 'file')}{kinds}: {_findings(report)}"
    if report.passed_over:
        yield f"passed over what is not Karpenter's: {_by_kind(report.passed_over)}"
    for each in report.skipped[:_MOST_SKIPPED]:
        yield f"skipped {one_line(str(each.at))}: {one_line(each.reason)}"
    if more := len(report.skipped[_MOST_SKIPPED:]):
        yield f"skipped {more} more; `-o json` names them all"


def _findings(report: Report) -> str:
    counted = [_counted(report.count(severity), severity) for severity in Severity if report.count(severity)]
    return ", ".join(counted) or "nothing found"


def _by_kind(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{one_line(kind)} {count}" for kind, count in counts.items())


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"
