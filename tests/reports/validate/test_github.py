"""A report as workflow commands, read back by the rules of the program that reads them."""

import re

import pytest
from hypothesis import given, settings

from gpupool.checking.report import Report
from gpupool.findings import Location, Severity
from gpupool.reports.escaping import one_line, visible
from gpupool.reports.validate.github import render_report
from tests.reports.examples import REPORT, REPORTS, UNKNOWN
from tests.tiers import examples

COMMAND = re.compile(r"::(?P<name>[a-z]+) (?P<properties>[^:]*)::(?P<message>.*)")
NAMES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def unescaped(text: str) -> str:
    for escape, character in (("%3A", ":"), ("%2C", ","), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        text = text.replace(escape, character)
    return text


def read(line: str) -> tuple[str, dict[str, str], str]:
    """Return a command's name, properties and message."""
    match = COMMAND.fullmatch(line)
    assert match, line
    pairs = [pair.split("=", 1) for pair in match["properties"].split(",")]
    return match["name"], {key: unescaped(value) for key, value in pairs}, unescaped(match["message"])


def test_one_command_for_each_finding() -> None:
    assert render_report(REPORT) == (
        "::error file=pools/chat.yaml,line=14,col=3,title=GP1010 [structural] NodePool/chat"
        "::unknown field `limit`%0Afix: did you mean `limits`?\n"
        "::warning file=pools/chat.yaml,line=15,col=11,title=GP1014 [structural] NodePool/chat"
        "::`weight` is null\n"
        "::notice file=gpupool.yaml,line=9,col=1,title=GP0050 [blueprint]::pool `chat` may hold 50\n"
        "::error file=secret.yaml,title=GP1001 [structural]::can't read it: Permission denied\n"
    )


@pytest.mark.parametrize(
    ("file", "written"),
    [
        ("a,b.yaml", "a%2Cb.yaml"),
        ("c:d.yaml", "c%3Ad.yaml"),
        ("100%.yaml", "100%25.yaml"),
        ("%2C.yaml", "%252C.yaml"),
        ("./pools/a.yaml", "pools/a.yaml"),
        ("a\nb.yaml", r"a\nb.yaml"),
    ],
)
def test_a_file_s_name_is_escaped(file: str, written: str) -> None:
    line = render_report(Report((UNKNOWN._replace(at=Location(file, 1, 1)),)))

    assert line.startswith(f"::error file={written},line=1,col=1,title=")


def test_a_message_keeps_colons_and_commas_and_stays_on_its_line() -> None:
    finding = UNKNOWN._replace(message="50%, a: b\r\n::error::x", fix="")

    assert render_report(Report((finding,))).endswith(r"::50%25, a: b\r\n::error::x" + "\n")


@settings(derandomize=True, max_examples=examples(300))
@given(REPORTS)
def test_any_report_is_read_back(report: Report) -> None:
    lines = render_report(report).split("\n")[:-1]

    assert len(lines) == len(report.findings)
    for line, finding in zip(lines, report.findings, strict=True):
        name, properties, message = read(line)
        assert name == NAMES[finding.severity]
        assert properties["file"] == visible(finding.at.file.removeprefix("./"))
        assert properties.get("line", "0") == str(finding.at.line)
        assert message.split("\nfix: ")[0].split("\nalso at: ")[0] == one_line(finding.message)
        assert ("\nalso at: " in message) == bool(finding.also)
        assert ("\nfix: " in message) == bool(finding.fix)
