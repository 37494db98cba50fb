"""Report of `gpupool validate` as JSON: `{"findings": […], "summary": {…}}`."""

import json
from typing import Any

from gpupool.checking.report import Report
from gpupool.codes import layer
from gpupool.findings import Finding, Severity
from gpupool.reports.escaping import in_json


def render_report(report: Report) -> str:
    """Return every finding with all of its keys, and the summary; `line` is null for a file as a whole."""
    values = {
        "findings": [finding_to_json(finding) for finding in report.findings],
        "summary": summary_to_json(report),
    }
    return in_json(json.dumps(values, indent=2, ensure_ascii=False)) + "\n"


def summary_to_json(report: Report) -> dict[str, Any]:
    """Return the counts of checked and skipped files and objects as values of JSON."""
    return {
        "files": len(report.files),
        "documents": report.documents,
        "objects": report.count_kinds(),
        "passedOver": dict(report.other_kinds),
        "skipped": [
            {"file": skipped.at.file, "line": skipped.at.line or None, "reason": skipped.reason}
            for skipped in report.skipped
        ],
        **{f"{severity}s": report.count(severity) for severity in Severity},
    }


def finding_to_json(finding: Finding) -> dict[str, Any]:
    """Return one finding with all of its keys; `also` has the other places of the same finding."""
    return {
        "rule": str(finding.code),
        "layer": layer(finding.code),
        "severity": finding.severity,
        "message": finding.message,
        "fix": finding.fix,
        **_place(finding),
        "also": [_place(other) for other in finding.also],
    }


def _place(finding: Finding) -> dict[str, str | int | None]:
    at = finding.at
    return {
        "file": at.file,
        "line": at.line or None,
        "column": at.column or None,
        "path": finding.path,
        "object": finding.object,
    }
