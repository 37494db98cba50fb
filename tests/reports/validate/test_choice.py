"""Every format by its name, and how long many findings take."""

import time

import pytest

from gpupool.checking.report import CheckedObject, Report
from gpupool.findings import Location
from gpupool.reports.validate.choice import FORMATS, render_report
from tests.reports.examples import REPORT, UNKNOWN


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_names_every_rule_and_says_the_same_twice(name: str) -> None:
    made = render_report(REPORT, name)

    assert [finding.code for finding in REPORT.findings if finding.code not in made] == []
    assert made == render_report(REPORT, name)
    assert made.endswith("\n")


def test_the_formats_are_known() -> None:
    assert list(FORMATS) == ["text", "json", "github", "sarif", "junit"]


@pytest.mark.parametrize("name", FORMATS)
def test_ten_times_the_findings_take_about_ten_times_as_long(name: str) -> None:
    few, many = (_seconds(name, count) for count in (1_000, 10_000))

    assert many < 40 * few + 0.5


def _seconds(name: str, count: int) -> float:
    findings = tuple(UNKNOWN._replace(at=Location("a.yaml", line, 3)) for line in range(1, count + 1))
    checked = tuple(
        CheckedObject("NodePool", "chat", Location("a.yaml", line, 1)) for line in range(1, count + 1, 10)
    )
    # The processor's time and not the clock's: what else the machine does is no matter, and only the ratio counts.
    began = time.process_time()
    render_report(Report(findings, ("a.yaml",), checked), name)
    return time.process_time() - began
