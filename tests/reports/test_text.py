"""A report for people, word for word."""

from hypothesis import given, settings

from gpupool.findings import Location
from gpupool.reports.formats.text import document, summary
from gpupool.reports.report import Report, Skipped
from tests.reports.examples import NOTE, REPORT, REPORTS, UNKNOWN
from tests.tiers import examples


def test_findings_and_what_was_checked() -> None:
    assert document(REPORT) == (
        "pools/chat.yaml:14:3: error GP1010 [structural] unknown field `limit`\n"
        "    fix: did you mean `limits`?\n"
        "pools/chat.yaml:15:11: warning GP1014 [structural] `weight` is null\n"
        "gpupool.yaml:9:1: info GP0050 pool `chat` may hold 50\n"
        "secret.yaml: error GP1001 [structural] can't read it: Permission denied\n"
        "checked 3 objects in 2 files (NodePool 2, Blueprint 1): 2 errors, 1 warning, 1 info\n"
        "passed over what is not Karpenter's: Deployment 2, Service 1\n"
        "skipped README.md: no .yaml, .yml or .json\n"
    )


def test_nothing_found() -> None:
    assert summary(Report((), files=("a.yaml",))) == "checked 0 objects in 1 file: nothing found\n"


def test_many_skipped_files_do_not_hide_the_findings() -> None:
    skipped = tuple(Skipped(Location(f"{number}.md"), "no") for number in range(25))

    lines = summary(Report((), skipped=skipped)).splitlines()

    assert lines[20:] == ["skipped 19.md: no", "skipped 5 more; `-o json` names them all"]


def test_a_value_can_not_steer_a_terminal() -> None:
    finding = UNKNOWN._replace(message="a\x1b[2Jb\nc", at=Location("x\n\u202e.yaml", 1, 2))

    (line, _fix) = document(Report((finding,))).splitlines()[:2]

    assert line == r"x\n\u202e.yaml:1:2: error GP1010 [structural] a\x1b[2Jb\nc"


def test_an_endless_value_is_cut() -> None:
    assert "x" * 1_000 + "…\n" in document(Report((NOTE._replace(message="x" * 1_001),)))


@settings(derandomize=True, max_examples=examples(200))
@given(REPORTS)
def test_any_report_has_a_line_or_two_for_each_finding(report: Report) -> None:
    lines = document(report).splitlines()

    fixes = sum(bool(finding.fix) for finding in report.findings)
    assert len(lines) == len(report.findings) + fixes + 1 + bool(report.passed_over) + len(report.skipped)
    assert all(line.isprintable() or not line.isascii() for line in lines)
