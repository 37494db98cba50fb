"""A report for people, word for word."""

import json

import pytest
from hypothesis import given, settings

from gpupool.checking.report import Report, Skipped
from gpupool.findings import Location
from gpupool.reports.validate import choice
from gpupool.reports.validate.text import render_report, render_summary
from tests.reports.examples import NOTE, REPORT, REPORTS, UNKNOWN, several
from tests.tiers import examples


def test_findings_and_what_was_checked() -> None:
    assert render_report(REPORT) == (
        "pools/chat.yaml:14:3: error GP1010 [structural] unknown field `limit`\n"
        "    fix: did you mean `limits`?\n"
        "pools/chat.yaml:15:11: warning GP1014 [structural] `weight` is null\n"
        "gpupool.yaml:9:1: info GP0050 pool `chat` may hold 50\n"
        "secret.yaml: error GP1001 [structural] can't read it: Permission denied\n"
        "Checked 3 objects in 2 files (NodePool 2, Blueprint 1): 2 errors, 1 warning, 1 info.\n"
        "Skipped: Deployment (2), Service (1).\n"
        "Skipped README.md: no .yaml, .yml or .json\n"
    )


def test_nothing_found() -> None:
    assert (
        render_summary(Report((), files=("a.yaml",))) == "Checked 0 objects in 1 file: no problems found.\n"
    )


def test_many_skipped_files_do_not_hide_the_findings() -> None:
    skipped = tuple(Skipped(Location(f"{number}.md"), "no") for number in range(25))

    lines = render_summary(Report((), skipped=skipped)).splitlines()

    assert lines[20:] == ["Skipped 19.md: no", "Skipped 5 more; `-o json` lists all of them."]


def test_what_is_the_same_at_several_places_is_one_finding() -> None:
    places = [(line, 3) for line in range(20, 34)]

    assert render_report(Report((several(UNKNOWN, places[:2]),))).startswith(
        "pools/chat.yaml:14:3: error GP1010 [structural] unknown field `limit`\n"
        "    also at: 20:3, 21:3\n"
        "    fix: did you mean `limits`?\n"
    )
    assert "    also at: 20:3, 21:3, " in render_report(Report((several(UNKNOWN, places),)))
    assert "31:3 and 2 more\n" in render_report(Report((several(UNKNOWN, places),)))


def test_a_value_can_not_steer_a_terminal() -> None:
    finding = UNKNOWN._replace(message="a\x1b[2Jb\nc", at=Location("x\n\u202e.yaml", 1, 2))

    (line, _fix) = render_report(Report((finding,))).splitlines()[:2]

    assert line == r"x\n\u202e.yaml:1:2: error GP1010 [structural] a\x1b[2Jb\nc"


def test_an_endless_value_is_cut() -> None:
    assert "x" * 1_000 + "…\n" in render_report(Report((NOTE._replace(message="x" * 1_001),)))


@settings(derandomize=True, max_examples=examples(200))
@given(REPORTS)
def test_any_report_has_a_line_or_two_for_each_finding(report: Report) -> None:
    lines = render_report(report).splitlines()

    more = sum(bool(finding.fix) + bool(finding.also) for finding in report.findings)
    assert len(lines) == len(report.findings) + more + 1 + bool(report.other_kinds) + len(report.skipped)
    assert all(line.isprintable() or not line.isascii() for line in lines)


UNSEEN = (
    "\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069"
    "\u206a\u206f\u061c\u00ad\u034f\u115f\u1160\u17b4\u180b\u180e\u3164\ufe00\ufe0f\ufeff\uffa0\ufff9\U000e0001\U000e0020"
    "\U000e0061\U000e007f\U000e0100\U0001d173\u2028\u2029\x00\x1b\x7f\x85\x9b"
)
"""What has no width, turns the direction of writing, or is a control."""


@pytest.mark.parametrize("character", UNSEEN, ids=lambda each: f"U+{ord(each):04X}")
@pytest.mark.parametrize("format_name", ["text", "json", "github", "sarif", "junit"])
def test_what_cannot_be_seen_is_shown_by_its_number(character: str, format_name: str) -> None:
    """Two names that look the same would be taken for one, in each format that people read."""
    finding = UNKNOWN._replace(message=f"a{character}b", at=Location(f"x{character}.yaml", 1, 2))

    said = choice.render_report(Report((finding,)), format_name)

    assert character not in said
    # In JSON, what is beyond its sixteen bits has two numbers.
    numbers = {f"{ord(character):02x}", json.dumps(character)[-5:-1]}
    assert [each for each in numbers if each in said.lower()]


@pytest.mark.parametrize("character", UNSEEN, ids=lambda each: f"U+{ord(each):04X}")
def test_a_reader_of_json_gets_the_same_value(character: str) -> None:
    finding = UNKNOWN._replace(message=f'a\\{character}b"')

    said = choice.render_report(Report((finding,)), "json")

    assert json.loads(said)["findings"][0]["message"] == finding.message


def test_letters_and_marks_of_any_script_stay() -> None:
    said = "né ñ Ωμέγα 中文 हिन्दी العربية עברית 🚀 e\u0301"
    assert said in render_report(Report((UNKNOWN._replace(message=said),)))
