"""A report as JSON, key by key."""

import json

from hypothesis import given, settings

from gpupool.checking.report import Report
from gpupool.codes import layer
from gpupool.reports.validate.json_text import render_report
from tests.reports.examples import REPORT, REPORTS, UNKNOWN, several
from tests.tiers import examples

KEYS = ["rule", "layer", "severity", "message", "fix", "file", "line", "column", "path", "object", "also"]


def test_the_whole_shape() -> None:
    assert json.loads(render_report(REPORT)) == {
        "findings": [
            {
                "rule": "GP1010",
                "layer": "structural",
                "severity": "error",
                "message": "unknown field `limit`",
                "fix": "did you mean `limits`?",
                "file": "pools/chat.yaml",
                "line": 14,
                "column": 3,
                "path": "spec.limit",
                "object": "NodePool/chat",
                "also": [],
            },
            {
                "rule": "GP1014",
                "layer": "structural",
                "severity": "warning",
                "message": "`weight` is null",
                "fix": "",
                "file": "pools/chat.yaml",
                "line": 15,
                "column": 11,
                "path": "spec.weight",
                "object": "NodePool/chat",
                "also": [],
            },
            {
                "rule": "GP0050",
                "layer": "blueprint",
                "severity": "info",
                "message": "pool `chat` may hold 50",
                "fix": "",
                "file": "gpupool.yaml",
                "line": 9,
                "column": 1,
                "path": "pools.chat",
                "object": "",
                "also": [],
            },
            {
                "rule": "GP1001",
                "layer": "structural",
                "severity": "error",
                "message": "can't read it: Permission denied",
                "fix": "",
                "file": "secret.yaml",
                "line": None,
                "column": None,
                "path": "",
                "object": "",
                "also": [],
            },
        ],
        "summary": {
            "files": 2,
            "documents": 4,
            "objects": {"NodePool": 2, "Blueprint": 1},
            "passedOver": {"Deployment": 2, "Service": 1},
            "skipped": [{"file": "README.md", "line": None, "reason": "no .yaml, .yml or .json"}],
            "errors": 2,
            "warnings": 1,
            "infos": 1,
        },
    }


def test_the_other_places_of_a_finding() -> None:
    (said,) = json.loads(render_report(Report((several(UNKNOWN, [(20, 3)]),))))["findings"]

    assert (said["line"], said["column"]) == (14, 3)
    assert said["also"] == [
        {"file": "pools/chat.yaml", "line": 20, "column": 3, "path": "spec.limit", "object": "NodePool/chat"}
    ]


def test_nothing_found() -> None:
    made = json.loads(render_report(Report(())))

    assert made["findings"] == []
    assert (made["summary"]["files"], made["summary"]["errors"], made["summary"]["skipped"]) == (0, 0, [])


@settings(derandomize=True, max_examples=examples(200))
@given(REPORTS)
def test_any_report_is_read_back(report: Report) -> None:
    written = json.loads(render_report(report).encode("utf-8"))["findings"]

    assert [list(each) for each in written] == [KEYS] * len(report.findings)
    assert [
        (each["rule"], each["layer"], each["severity"], each["message"], each["fix"]) for each in written
    ] == [(each.code, layer(each.code), each.severity, each.message, each.fix) for each in report.findings]
    assert [
        (each["file"], each["line"], each["column"], each["path"], each["object"]) for each in written
    ] == [
        (each.at.file, each.at.line or None, each.at.column or None, each.path, each.object)
        for each in report.findings
    ]
