"""Report of `gpupool validate` as JUnit XML, with a suite for each file and a case for each object."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.etree import ElementTree as ET

from gpupool.checking.report import Report, Skipped
from gpupool.findings import Finding, Location
from gpupool.reports import finding_text
from gpupool.reports.escaping import one_line, visible

_FILE = "file"
"""Name of the case for findings that belong to no checked object."""


@dataclass(slots=True)
class _Case:
    name: str
    at: Location
    findings: list[Finding] = field(default_factory=list)


@dataclass(slots=True)
class _Suite:
    """The cases of one file: the file's own first, then its objects in their order."""

    cases: list[_Case]
    objects: dict[str, list[_Case]] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)


def render_report(report: Report) -> str:
    """Return one failure for each case with findings that fail the run; others are in `system-out`."""
    root = ET.Element("testsuites", name="gpupool")
    for file, suite in _suites(report).items():
        root.append(_suite_element(report, file, suite))
    for count in ("tests", "failures", "skipped"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suites(report: Report) -> dict[str, _Suite]:
    suites: dict[str, _Suite] = {}

    def suite(file: str) -> _Suite:
        return suites.setdefault(file, _Suite([_Case(_FILE, Location(file))]))

    for file in report.files:
        suite(file)
    for checked in report.checked:
        case = _Case(checked.object, checked.at)
        suite(checked.at.file).cases.append(case)
        suite(checked.at.file).objects.setdefault(checked.object, []).append(case)
    for skipped in report.skipped:
        suite(skipped.at.file).skipped.append(skipped)
    for finding in (place for reported in report.findings for place in reported.occurrences):
        _find_case(suite(finding.at.file), finding).findings.append(finding)
    return suites


def _find_case(suite: _Suite, finding: Finding) -> _Case:
    """Return the case of a finding: of several objects with one name, the last that begins before it."""
    named = suite.objects.get(finding.object, suite.cases[:1])
    above = bisect_right(named, finding.at, key=lambda case: case.at)
    return named[max(above - 1, 0)]


def _suite_element(report: Report, file: str, suite: _Suite) -> ET.Element:
    cases = [_case_element(report, file, case) for case in suite.cases]
    cases += [_skipped_element(file, skipped) for skipped in suite.skipped]
    element = ET.Element("testsuite", name=visible(file), tests=str(len(cases)))
    element.set("failures", str(_count_with(cases, "failure")))
    element.set("errors", "0")
    element.set("skipped", str(_count_with(cases, "skipped")))
    element.extend(cases)
    return element


def _case_element(report: Report, file: str, case: _Case) -> ET.Element:
    element = ET.Element("testcase", classname=visible(file), name=visible(case.name))
    failing = [finding for finding in case.findings if report.fails(finding)]
    others = [finding for finding in case.findings if not report.fails(finding)]
    if failing:
        first, more = failing[0], len(failing) - 1
        message = one_line(first.message) + (f" (and {more} more)" if more else "")
        failure = ET.SubElement(element, "failure", type=str(first.code), message=message)
        failure.text = finding_text.render_findings(failing)
    if others:
        ET.SubElement(element, "system-out").text = finding_text.render_findings(others)
    return element


def _skipped_element(file: str, skipped: Skipped) -> ET.Element:
    name = f"line {skipped.at.line}" if skipped.at.line else _FILE
    element = ET.Element("testcase", classname=visible(file), name=name)
    ET.SubElement(element, "skipped", message=one_line(skipped.reason))
    return element


def _count_with(cases: Sequence[ET.Element], tag: str) -> int:
    return sum(case.find(tag) is not None for case in cases)
