"""`gpupool show`: a saved plan in any format, offline, however old it is."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gpupool.cli.github import append_for_steps
from gpupool.planning.file import parse_plan, read_contents, render_plan, seal
from gpupool.planning.plan import FORMAT_VERSION, Plan
from gpupool.reports.plan.formats import FORMATS
from gpupool.reports.plan.github import render_step_outputs, render_step_summary
from tests.cli.guard import GUARD
from tests.cli.run import SECONDS, gpupool, process
from tests.planning.plans import EXAMPLES


def timed(plan: Plan, year: int) -> Plan:
    """Return a plan that was good for a day of a year."""
    return seal(replace(plan, created_at=f"{year}-02-02T04:05:06Z", expires_at=f"{year}-02-03T04:05:06Z"))


FRESH = timed(EXAMPLES["update"], 2999)
EXPIRED = "note: this plan expired at 2001-02-03T04:05:06Z; `gpupool apply` does not accept it\n"


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plan file in a folder that is the current one; no variables of GitHub's."""
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "plan.json"
    path.write_text(render_plan(FRESH), "utf-8")
    return path


@pytest.mark.parametrize("format_name", FORMATS)
def test_shows_a_plan_in_each_format(
    format_name: str, saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = gpupool(capsys, "show", saved, "-o", format_name)

    assert (said.code, said.err) == (0, "")
    assert said.out == FORMATS[format_name](FRESH)


def test_text_is_the_default_and_words_only_are_shown_when_asked(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    textual = timed(EXAMPLES["textual"], 2999)
    saved.write_text(render_plan(textual), "utf-8")

    assert gpupool(capsys, "show", saved).out == FORMATS["text"](textual)
    assert gpupool(capsys, "show", saved, "--show-textual").out == FORMATS["text"](textual, show_textual=True)


def test_several_formats_at_once(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = gpupool(capsys, "show", saved, "-o", "github", "-o", "markdown=comment.md", "-o", "patch=a.patch")

    assert said.out == FORMATS["github"](FRESH)
    assert Path("comment.md").read_text("utf-8") == FORMATS["markdown"](FRESH)
    assert Path("a.patch").read_text("utf-8") == FORMATS["patch"](FRESH)


def test_a_plan_that_has_expired_is_shown_all_the_same(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved.write_text(render_plan(timed(FRESH, 2001)), "utf-8")

    said = gpupool(capsys, "show", saved)

    assert (said.code, said.err) == (0, EXPIRED)
    assert "good until 2001-02-03T04:05:06Z" in said.out


@pytest.mark.parametrize("expires_at", ["", "tomorrow", "2999-01-01T00:00:00", "2999-01-01T00:00:00+01:00"])
def test_a_time_that_cannot_be_read_is_refused(
    expires_at: str, saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved.write_text(render_plan(seal(replace(FRESH, expires_at=expires_at))), "utf-8")

    said = gpupool(capsys, "show", saved)

    assert (said.code, said.out) == (1, "")
    assert (
        "error GP0100 invalid plan file (`expiresAt`: this is not a time such as `2026-11-21T08:00:00Z`"
        in said.err
    )


def test_json_is_the_file_itself_even_of_a_later_version(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(render_plan(replace(FRESH, format_version="1.7"))) | {"impact": {"nodes": 4}}
    from tests.planning.test_file import sealed

    saved.write_text(sealed(document), "utf-8")

    said = gpupool(capsys, "show", saved, "-o", "json")

    assert (said.code, said.err, said.out) == (0, "", sealed(document))


def test_standard_input(saved: Path) -> None:
    said = process("show", "-", folder=saved.parent, stdin=saved.read_bytes())

    assert (said.code, said.err, said.out) == (0, "", FORMATS["text"](FRESH))


REFUSED: dict[str, tuple[Callable[[str], str], int, str]] = {
    "changed by hand": (
        lambda raw: raw.replace("ml-platform", "ml-platfirm"),
        1,
        "changed by hand or damaged",
    ),
    "cut off": (lambda raw: raw[:2000], 1, "error GP0100 invalid plan file (the file ends too early)"),
    "of another major version": (
        lambda raw: raw.replace(f'"formatVersion": "{FORMAT_VERSION}"', '"formatVersion": "2.0"'),
        5,
        "unsupported plan format 2.0",
    ),
    "no plan": (lambda _: "{}", 1, "plan.json: error GP0100 this is not a plan of gpupool"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_that_is_refused(case: str, saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change, code, words = REFUSED[case]
    saved.write_text(change(saved.read_text("utf-8")), "utf-8")

    said = gpupool(capsys, "show", "plan.json")

    assert (said.code, said.out) == (code, "")
    assert words in said.err


@pytest.mark.usefixtures("saved")
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["none.json"], 1, "none.json: error GP0100 can't read it: No such file or directory"),
        (["plan.json", "-o", "sarif"], 64, "-o: unknown format `sarif`; use one of text, patch, json, markdown, github"),
        (["plan.json", "-o", "text", "-o", "json"], 64, "-o sends 2 results to standard output"),
        ([], 64, "Missing argument"),
        (["plan.json", "--context", "x"], 64, "No such option: --context"),
    ],
)  # fmt: skip
def test_a_command_line_that_cannot_be_done(
    arguments: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = gpupool(capsys, "show", *arguments)

    assert (said.code, said.out) == (code, "")
    assert words in said.err


def test_colours_are_for_a_terminal_only(saved: Path) -> None:
    ours, theirs = os.openpty()
    subprocess.run(
        [sys.executable, "-m", "gpupool", "show", saved.name], cwd=saved.parent, stdout=theirs, check=True, timeout=SECONDS
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    while chunk := _read(ours):
        seen += chunk
    os.close(ours)

    assert seen.decode().replace("\r\n", "\n") == FORMATS["text"](FRESH, colour=True)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how a terminal says that nobody holds its other end
        return b""


def test_reads_no_cluster(saved: Path) -> None:
    code = f"{GUARD}main(sys.argv[1:]); sys.stderr.write(repr(sorted(sys.modules)))"

    ended = subprocess.run(
        [sys.executable, "-c", code, "show", saved.name, "-o", "github", "-o", "markdown=a", "-o", "json=b", "-o", "text=c"],
        cwd=saved.parent, capture_output=True, text=True, check=True, timeout=SECONDS,
    )  # fmt: skip

    assert "FORBIDDEN" not in ended.stderr
    modules = set(re.findall(r"'([\w.]+)'", ended.stderr))
    assert "gpupool.planning.file" in modules
    assert {name.partition(".")[0] for name in modules} & {"kubernetes", "urllib3", "yaml", "jinja2"} == set()
    assert "gpupool.cluster.kube" not in modules


class TestSteps:
    """What is left for the later steps of a job."""

    def test_both_files_are_appended_to(
        self, saved: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for name in ("summary", "output"):
            (saved.parent / name).write_text("before\n", "utf-8")
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(saved.parent / "summary"))
        monkeypatch.setenv("GITHUB_OUTPUT", str(saved.parent / "output"))

        gpupool(capsys, "show", saved, "-o", "github=commands")

        assert (saved.parent / "summary").read_text("utf-8") == "before\n" + render_step_summary(FRESH)
        assert (saved.parent / "output").read_text("utf-8") == "before\n" + render_step_outputs(FRESH, 0)

    def test_other_formats_leave_nothing(
        self, saved: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("GITHUB_OUTPUT", str(saved.parent / "output"))

        gpupool(capsys, "show", saved, "-o", "markdown")

        assert not (saved.parent / "output").exists()

    def test_the_exit_code_of_the_command_is_said(self, saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GITHUB_OUTPUT", str(saved.parent / "output"))
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", "")

        append_for_steps(FRESH, 4)

        assert (saved.parent / "output").read_text("utf-8").endswith("\nexit_code=4\n")

    def test_a_place_that_cannot_be_written_is_an_error(
        self, saved: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("GITHUB_OUTPUT", str(saved.parent / "none" / "output"))

        said = gpupool(capsys, "show", saved, "-o", "github")

        assert said.code == 1
        assert said.err.endswith("none/output: No such file or directory\n")


def test_no_format_shows_what_cannot_be_seen(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A plan holds values of the cluster, which anybody may have written; its file reads as the same plan."""
    unseen = "\u202e\u200b\u2066\ufeff\U000e0061\u3164"
    value = f"a{unseen}b"
    fields = tuple(replace(each, after=value, owner=value) for each in FRESH.changes[0].fields)
    change = replace(
        FRESH.changes[0],
        after={"spec": {"tags": {value: value}}},
        before={"spec": {}},
        fields=fields,
        blocked=value,
    )
    plan = seal(replace(FRESH, changes=(change,), warnings=(value,), orphans=(value,)))
    for name, made in FORMATS.items():
        document = made(plan, show_textual=True, colour=False)
        assert [each for each in unseen if each in document] == [], name
    honest = seal(replace(FRESH, warnings=(value,)))
    saved.write_text(render_plan(honest), "utf-8")
    for name in FORMATS:
        said = gpupool(capsys, "show", saved, "-o", name)
        assert (said.code, [each for each in unseen if each in said.out]) == (0, []), name
    gpupool(capsys, "show", saved, "-o", "json=again.json")
    assert parse_plan(read_contents("again.json"), "again.json") == honest


def test_files_are_their_owner_s_alone(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in FORMATS:
        assert gpupool(capsys, "show", saved, "-o", f"{name}=out.{name}").code == 0
        assert Path(f"out.{name}").stat().st_mode & 0o777 == 0o600
