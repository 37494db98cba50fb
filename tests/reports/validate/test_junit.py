"""A report as JUnit's XML, parsed back."""

from xml.etree import ElementTree as ET

from hypothesis import given, settings

from gpupool.checking.report import CheckedObject, Report
from gpupool.findings import Finding, Location, Severity
from gpupool.reports.escaping import visible
from gpupool.reports.validate.junit import render_report
from tests.reports.examples import REPORT, REPORTS, UNKNOWN
from tests.tiers import examples


def parsed(report: Report) -> ET.Element:
    return ET.fromstring(render_report(report).encode("utf-8"))  # noqa: S314 - our own output


def cases(suite: ET.Element) -> list[tuple[str | None, list[str]]]:
    return [(case.get("name"), [part.tag for part in case]) for case in suite]


def test_a_suite_for_each_file_and_a_case_for_each_object() -> None:
    chat, blueprint, readme, secret = parsed(REPORT)

    assert (chat.get("name"), cases(chat)) == (
        "pools/chat.yaml",
        [("file", []), ("NodePool/chat", ["failure", "system-out"]), ("NodePool/idle", [])],
    )
    assert (blueprint.get("name"), cases(blueprint)) == (
        "gpupool.yaml",
        [("file", ["system-out"]), ("Blueprint/demo", [])],
    )
    assert (readme.get("name"), cases(readme)) == ("README.md", [("file", []), ("file", ["skipped"])])
    assert (secret.get("name"), cases(secret)) == ("secret.yaml", [("file", ["failure"])])


def test_counts() -> None:
    root = parsed(REPORT)

    assert {key: root.get(key) for key in ("tests", "failures", "skipped")} == {
        "tests": "8",
        "failures": "2",
        "skipped": "1",
    }
    assert [(suite.get("tests"), suite.get("failures"), suite.get("errors")) for suite in root] == [
        ("3", "1", "0"),
        ("2", "0", "0"),
        ("2", "0", "0"),
        ("1", "1", "0"),
    ]


def test_a_failure_holds_what_failed_and_nothing_else() -> None:
    (failure,) = parsed(REPORT).iterfind(".//testcase[@name='NodePool/chat']/failure")

    assert failure.attrib == {"type": "GP1010", "message": "unknown field `limit`"}
    assert failure.text == (
        "pools/chat.yaml:14:3: error GP1010 [structural] unknown field `limit`\n"
        "    fix: did you mean `limits`?\n"
    )


def test_a_warning_fails_a_strict_run() -> None:
    root = parsed(REPORT._replace(strict=True))
    (failure,) = root.iterfind(".//testcase[@name='NodePool/chat']/failure")

    assert failure.get("message") == "unknown field `limit` (and 1 more)"
    assert "warning GP1014" in (failure.text or "")
    assert root.find(".//testcase[@name='NodePool/chat']/system-out") is None


def test_of_two_objects_of_one_name_the_one_above_the_finding_has_it() -> None:
    twice = tuple(CheckedObject("NodePool", "chat", Location("a.yaml", line, 1)) for line in (1, 20))
    finding = UNKNOWN._replace(at=Location("a.yaml", 25, 3))

    (suite,) = parsed(Report((finding,), ("a.yaml",), twice))

    assert cases(suite) == [("file", []), ("NodePool/chat", []), ("NodePool/chat", ["failure"])]


def test_controls_are_escaped() -> None:
    finding = Finding("GP1002", "a\x00b\x1b\ufffe<&>\"'", Location("a\x01.yaml", 1, 1), "c\nd")

    (suite,) = parsed(Report((finding,)))

    assert suite.get("name") == r"a\x01.yaml"
    (failure,) = suite.iter("failure")
    assert failure.get("message") == r"""a\x00b\x1b\ufffe<&>"'"""
    assert (failure.text or "").endswith("    fix: c\\nd\n")


@settings(derandomize=True, max_examples=examples(300))
@given(REPORTS)
def test_any_report_is_read_back_with_right_counts(report: Report) -> None:
    root = parsed(report)

    assert {suite.get("name") for suite in root} >= {visible(each.at.file) for each in report.findings}
    for part in (root, *root):
        found = part.findall(".//testcase")
        assert part.get("tests") == str(len(found))
        assert part.get("failures") == str(sum(case.find("failure") is not None for case in found))
        assert part.get("skipped") == str(sum(case.find("skipped") is not None for case in found))
    said = "".join(part.text or "" for part in root.iter() if part.tag in {"failure", "system-out"})
    places = sum(len(each.occurrences) for each in report.findings)
    assert said.count(": error GP") + said.count(": warning GP") + said.count(": info GP") >= places


@settings(derandomize=True, max_examples=100)
@given(REPORTS)
def test_a_case_fails_when_the_run_does(report: Report) -> None:
    assert (parsed(report).get("failures") != "0") == report.has_failed
    errors = report.count(Severity.ERROR)
    assert report.has_failed == bool(errors or (report.strict and report.count(Severity.WARNING)))
