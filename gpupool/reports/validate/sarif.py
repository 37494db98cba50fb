"""Report of `gpupool validate` as SARIF 2.1.0 for code scanning services."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from gpupool.checking.report import Report
from gpupool.codes import Code, layer
from gpupool.findings import Finding, Severity
from gpupool.reports.escaping import in_json
from gpupool.reports.validate.json_text import summary_to_json

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_MEANINGS: Mapping[str, str] = {code.value: code.meaning for code in Code}


def render_report(report: Report) -> str:
    """Return one run with a result for each finding, and the rules that have a result."""
    codes = sorted({str(finding.code) for finding in report.findings})
    run = {
        "tool": {"driver": {"name": "gpupool", "rules": [_rule(code) for code in codes]}},
        "columnKind": "unicodeCodePoints",
        "results": list(_results(report.findings, codes)),
        "properties": {"summary": summary_to_json(report)},
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return in_json(json.dumps(log, indent=2, ensure_ascii=False)) + "\n"


def _rule(code: str) -> dict[str, Any]:
    meaning = _MEANINGS.get(code, code).replace("`", "")
    return {"id": code, "shortDescription": {"text": meaning}, "properties": {"layer": layer(code)}}


def _results(findings: Sequence[Finding], codes: Sequence[str]) -> Iterator[dict[str, Any]]:
    indexes = {code: index for index, code in enumerate(codes)}
    seen: Counter[tuple[str, ...]] = Counter()
    # Code scanning shows a result at its first location only, so each place needs a result of its own.
    for finding in (place for reported in findings for place in reported.occurrences):
        subject = (str(finding.code), finding.at.file, finding.object, finding.path)
        seen[subject] += 1
        yield _result(finding, indexes[finding.code], _fingerprint(*subject, str(seen[subject])))


def _result(finding: Finding, index: int, fingerprint: str) -> dict[str, Any]:
    fix = f"\nfix: {finding.fix}" if finding.fix else ""
    return {
        "ruleId": str(finding.code),
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.message + fix},
        "locations": [_location(finding)],
        "partialFingerprints": {"gpupoolFinding/v1": fingerprint},
    }


def _location(finding: Finding) -> dict[str, Any]:
    at = finding.at
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(at.file)}}
    if at.line:
        column = {"startColumn": at.column} if at.column else {}
        physical["region"] = {"startLine": at.line, **column}
    name = ".".join(filter(None, (finding.object, finding.path)))
    logical = {"logicalLocations": [{"fullyQualifiedName": name}]} if name else {}
    return {"physicalLocation": physical, **logical}


def _uri(file: str) -> str:
    """Return a file's name as a URI reference, relative where the name is."""
    path = PurePath(file)
    quoted = quote(path.as_posix().encode("utf-8", "surrogateescape"))
    return f"file://{quoted}" if path.is_absolute() else quoted


def _fingerprint(*parts: str) -> str:
    """Return a digest that stays the same when lines move: of the rule, the object and the field."""
    return sha256(json.dumps(parts).encode("ascii")).hexdigest()[:32]
