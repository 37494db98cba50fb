"""Acceptance: each golden case renders to exactly the files and the findings that its folder holds.

`pytest tests/test_golden.py --update-golden` writes them; read the difference before it is committed.
"""

import difflib
import shutil
from collections import Counter
from pathlib import Path

import pytest

from gpupool.cli.app import main
from tests.goldencases import FINDINGS, FOLDER, Case, cases, files_in

CASES = cases()
ROWS = {
    *range(1, 21), *range(22, 25), *range(40, 64), *range(65, 69), *range(70, 79), 105, 106,
    *range(109, 114), 115, 116, *range(118, 127), 143, *range(147, 154), 158, 159,
}  # fmt: skip
"""The acceptance rows that a blueprint answers by what it renders or says."""

in_each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@in_each_case
def test_a_case_renders_what_its_folder_holds(
    case: Case,
    update_golden: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(case.folder)
    code = main(
        ["render", "-v", *(part for name in case.blueprints for part in ("-f", name)), "-d", str(tmp_path)]
    )
    said = capsys.readouterr()
    if update_golden:
        _write(case, tmp_path, _findings(said.err), code)

    expected = case.expected_files
    wrote = "" if expected is None else f"wrote {len(expected)}, removed 0, unchanged 0\n"
    assert (said.out, said.err.endswith(wrote)) == ("", True)
    assert not (changes := _changes({FINDINGS: case.expected_findings}, {FINDINGS: _findings(said.err)})), (
        changes
    )
    assert code == (1 if expected is None else 0)
    assert not (changes := _changes(expected or {}, files_in(tmp_path))), changes


def test_every_row_has_a_case() -> None:
    covered = {row for case in CASES for row in case.rows}
    assert sorted(ROWS - covered) == []


@in_each_case
def test_a_case_says_what_it_shows(case: Case) -> None:
    assert case.first_line, (
        "the first line says what it shows: `# R4: …` with its rows, or `# profile training: …`"
    )
    assert case.is_named_well, (
        "the folder is named after what it shows, as in disk-root-volume or profile-training"
    )
    assert case.blueprints
    assert case.expected_files or case.expected_findings


def test_no_two_cases_show_the_same() -> None:
    assert [text for text, count in Counter(case.shows for case in CASES).items() if count > 1] == []


@pytest.mark.parametrize(
    "line",
    [
        "# size, type and encryption of the root volume.", "# R4: ", "# R4: .", "# R4: size", "#R4: size.",
        "# R4 T1: size.", "# T1: size.", "# Profile training: two machines.", "apiVersion: gpupool.dev/v1alpha1",
    ],
)  # fmt: skip
def test_a_case_that_does_not_say_what_it_shows_is_noticed(line: str, tmp_path: Path) -> None:
    (tmp_path / "blueprint.yaml").write_text(f"{line}\n", "utf-8")

    assert Case(tmp_path).first_line is None


@pytest.mark.parametrize("name", ["R04-os-volume", "Disk", "disk_root", "profile-other", "training", "-disk"])
def test_a_case_with_another_name_is_noticed(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "blueprint.yaml").write_text("# profile training: two machines.\n", "utf-8")

    assert not Case(tmp_path / name).is_named_well


def test_the_comparison_shows_what_differs() -> None:
    changes = _changes({"a": "1\n", "b": "2\n"}, {"a": "1\n", "b": "3\n", "c": "4\n"})
    assert changes.splitlines() == [
        "--- expected/b", "+++ rendered/b", "@@ -1 +1 @@", "-2", "+3",
        "--- expected/c", "+++ rendered/c", "@@ -0,0 +1 @@", "+4",
    ]  # fmt: skip
    assert _changes({"a": ""}, {}) == "only in expected: a\n"


def _findings(printed: str) -> str:
    """Return what is printed beside the count of the files."""
    return "".join(line for line in printed.splitlines(keepends=True) if not line.startswith("wrote "))


def _write(case: Case, rendered: Path, findings: str, code: int) -> None:
    shutil.rmtree(case.folder / FOLDER, ignore_errors=True)
    if code == 0:
        shutil.copytree(rendered, case.folder / FOLDER)
    (case.folder / FINDINGS).unlink(missing_ok=True)
    if findings:
        (case.folder / FINDINGS).write_bytes(findings.encode())


def _changes(expected: dict[str, str], rendered: dict[str, str]) -> str:
    """Return a unified diff of the texts, and the paths that only one side has."""
    shown = []
    for path in sorted(expected.keys() | rendered.keys()):
        old, new = expected.get(path, ""), rendered.get(path, "")
        diff = difflib.unified_diff(
            old.splitlines(keepends=True),
            new.splitlines(keepends=True),
            f"expected/{path}",
            f"rendered/{path}",
        )
        shown.append("".join(diff))
        if old == new and (path in expected) != (path in rendered):
            shown.append(f"only in {'expected' if path in expected else 'rendered'}: {path}\n")
    return "".join(shown)
