"""A report as SARIF 2.1.0, held to what its published schema and specification demand."""

import json
import re
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

import pytest
from hypothesis import given, settings

from gpupool.checking.report import Report
from gpupool.codes import Code
from gpupool.findings import Finding, Location
from gpupool.reports.validate.sarif import render_report
from tests.reports.examples import NULL, REPORT, REPORTS, UNKNOWN, WHOLE
from tests.tiers import examples


def run_of(report: Report) -> dict[str, Any]:
    log = json.loads(render_report(report).encode("utf-8"))
    assert log["version"] == "2.1.0"
    assert log.keys() <= {"$schema", "version", "runs", "inlineExternalProperties", "properties"}
    (run,) = log["runs"]
    made: dict[str, Any] = run
    return made


def require_a_valid_run(run: dict[str, Any]) -> None:
    """Demand what the schema demands of each part that is used here."""
    assert run.keys() <= {"tool", "results", "columnKind", "properties"}
    assert run["columnKind"] in {"utf16CodeUnits", "unicodeCodePoints"}
    driver = run["tool"]["driver"]
    assert isinstance(driver["name"], str)
    assert len({rule["id"] for rule in driver["rules"]}) == len(driver["rules"])
    for rule in driver["rules"]:
        assert rule.keys() <= {"id", "shortDescription", "properties"}
        assert isinstance(rule["shortDescription"]["text"], str)
    for result in run["results"]:
        require_a_valid_result(result, driver["rules"])


def require_a_valid_result(result: dict[str, Any], rules: list[dict[str, Any]]) -> None:
    assert result.keys() <= {"ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints"}
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert result["level"] in {"none", "note", "warning", "error"}
    assert isinstance(result["message"]["text"], str)
    assert all(isinstance(value, str) for value in result["partialFingerprints"].values())
    (location,) = result["locations"]
    assert location.keys() <= {"physicalLocation", "logicalLocations"}
    require_a_place(location["physicalLocation"])
    for logical in location.get("logicalLocations", []):
        assert logical.keys() == {"fullyQualifiedName"}
        assert isinstance(logical["fullyQualifiedName"], str)


def require_a_place(place: dict[str, Any]) -> None:
    assert place.keys() <= {"artifactLocation", "region"}
    # RFC 3986: a URI reference holds no other characters, and a relative one no colon in its first part.
    uri = place["artifactLocation"]["uri"]
    assert re.fullmatch(r"(file://)?(%[0-9A-F]{2}|[A-Za-z0-9._~/-])+", uri), uri
    region = place.get("region", {"startLine": 1})
    assert region.keys() <= {"startLine", "startColumn"}
    assert all(isinstance(value, int) and value >= 1 for value in region.values())
    assert "startLine" in region


def test_a_result_for_each_finding() -> None:
    run = run_of(REPORT)

    require_a_valid_run(run)
    assert [(each["ruleId"], each["level"], each["message"]["text"]) for each in run["results"]] == [
        ("GP1010", "error", "unknown field `limit`\nfix: did you mean `limits`?"),
        ("GP1014", "warning", "`weight` is null"),
        ("GP0050", "note", "pool `chat` may hold 50"),
        ("GP1001", "error", "can't read it: Permission denied"),
    ]
    assert run["results"][0]["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "pools/chat.yaml"},
                "region": {"startLine": 14, "startColumn": 3},
            },
            "logicalLocations": [{"fullyQualifiedName": "NodePool/chat.spec.limit"}],
        }
    ]
    assert run["results"][3]["locations"] == [
        {"physicalLocation": {"artifactLocation": {"uri": "secret.yaml"}}}
    ]


def test_the_rules_are_those_that_found_something() -> None:
    rules = run_of(REPORT)["tool"]["driver"]["rules"]

    assert [rule["id"] for rule in rules] == ["GP0050", "GP1001", "GP1010", "GP1014"]
    assert rules[2]["shortDescription"]["text"] == Code.UNKNOWN_FIELD.meaning
    assert rules[2]["properties"] == {"layer": "structural"}


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("a b.yaml", "a%20b.yaml"),
        ("./ü/100%.yaml", "%C3%BC/100%25.yaml"),
        ("../x#y?.yaml", "../x%23y%3F.yaml"),
        ("c:d.yaml", "c%3Ad.yaml"),
        ("/srv/x y.yaml", "file:///srv/x%20y.yaml"),
        ("\udcff.yaml", "%FF.yaml"),
        ("-", "-"),
    ],
)
def test_the_uri_of_a_file(file: str, uri: str) -> None:
    (result,) = run_of(Report((WHOLE._replace(at=Location(file)),)))["results"]

    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def fingerprints(*findings: Finding) -> list[str]:
    return [each["partialFingerprints"]["gpupoolFinding/v1"] for each in run_of(Report(findings))["results"]]


def test_a_fingerprint_stays_when_lines_move() -> None:
    moved = UNKNOWN._replace(at=Location("pools/chat.yaml", 99, 7), message="unknown field `limit` (line 99)")

    assert fingerprints(UNKNOWN) == fingerprints(moved)


@pytest.mark.parametrize(
    "other",
    [
        UNKNOWN._replace(path="spec.limits"),
        UNKNOWN._replace(object="NodePool/batch"),
        UNKNOWN._replace(code="GP1011"),
        UNKNOWN._replace(at=Location("pools/batch.yaml", 14, 3)),
    ],
)
def test_another_finding_has_another_fingerprint(other: Finding) -> None:
    assert fingerprints(UNKNOWN) != fingerprints(other)


def test_findings_that_are_alike_are_told_apart() -> None:
    first, second, other = fingerprints(UNKNOWN, UNKNOWN._replace(at=Location("pools/chat.yaml", 30)), NULL)

    assert len({first, second, other}) == 3
    assert first == fingerprints(UNKNOWN)[0]


def test_what_was_checked_is_said_too() -> None:
    assert run_of(REPORT)["properties"]["summary"]["objects"] == {"NodePool": 2, "Blueprint": 1}


@settings(derandomize=True, max_examples=examples(200))
@given(REPORTS)
def test_any_report_is_valid(report: Report) -> None:
    run = run_of(report)

    require_a_valid_run(run)
    places = [place for finding in report.findings for place in finding.occurrences]
    for result, finding in zip(run["results"], places, strict=True):
        assert result["message"]["text"].startswith(finding.message)
        assert result["ruleId"] == finding.code
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        if not finding.at.file.startswith("/") and "/" not in finding.at.file:
            assert unquote_to_bytes(urlsplit(uri).path).decode("utf-8", "surrogateescape") == finding.at.file
