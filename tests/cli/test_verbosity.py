"""How much is printed beside a result: one line for notes, all of them with `-v`, errors alone with `-q`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.cli.blueprints import TOP
from tests.cli.run import gpupool

if TYPE_CHECKING:
    from collections.abc import Sequence

EXAMPLES: Final = sorted((Path(__file__).parents[2] / "docs/examples").glob("*.yaml"))
PODS: Final = Path(__file__).parents[2] / "docs/examples/sources"

NOTED: Final = f"""\
{TOP}pools:
  soft: {{profile: training, accelerator: h100, limits: {{nodes: 2}}}}
  also: {{profile: training, accelerator: h100, limits: {{nodes: 3}}}}
"""
"""A correct blueprint with the same note for two pools."""

WARNED: Final = NOTED.replace("limits: {nodes: 3}", "limits: {gpus: 8}, nodeClass: {ami: al2023@latest}")
SOFT: Final = "info GP0048"
NOTES: Final = "1 note; to read it, run gpupool validate or add -v\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gpupool.yaml").write_text(NOTED, "utf-8")


@pytest.mark.parametrize("command", [["render"], ["render", "-d", "out"], ["explain"]], ids=" ".join)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_a_correct_blueprint_has_one_line_beside_the_result(
    example: Path, command: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    said = gpupool(capsys, *command, "-f", str(example))

    assert said.code == 0
    assert len([line for line in said.err.splitlines() if not line.startswith("wrote ")]) <= 1
    assert "info" not in said.err


def test_the_same_note_of_two_pools_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    said = gpupool(capsys, "render")

    assert (said.code, said.err) == (0, NOTES)


def test_verbose_prints_every_note(capsys: pytest.CaptureFixture[str]) -> None:
    said = gpupool(capsys, "render", "-v")

    assert said.code == 0
    assert said.err.count(SOFT) == 1
    assert "    also at: " in said.err
    assert NOTES not in said.err


def test_validate_prints_them_without_being_asked(capsys: pytest.CaptureFixture[str]) -> None:
    said = gpupool(capsys, "validate")

    assert (said.code, said.out.count(SOFT)) == (0, 1)
    assert said.out.endswith("(Blueprint 1): 1 info.\n")


@pytest.mark.parametrize("flags", [(), ("-v",), ("-q",)])
def test_what_is_printed_of_a_warning(flags: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    Path("gpupool.yaml").write_text(WARNED, "utf-8")

    said = gpupool(capsys, "render", *flags)

    assert said.code == 0
    assert ("warning GP0030" in said.err) == (flags != ("-q",))
    assert (SOFT in said.err) == (flags == ("-v",))
    assert (NOTES in said.err) == (flags == ())


def test_quiet_validate_prints_what_fails_it(capsys: pytest.CaptureFixture[str]) -> None:
    Path("gpupool.yaml").write_text(WARNED, "utf-8")

    quiet = gpupool(capsys, "validate", "-q")
    strict = gpupool(capsys, "validate", "-q", "--strict")

    assert (quiet.code, quiet.out) == (0, "Checked 1 object in 1 file (Blueprint 1): no problems found.\n")
    assert (strict.code, "warning GP0030" in strict.out, SOFT in strict.out) == (1, True, False)


def test_an_error_stands_alone(capsys: pytest.CaptureFixture[str]) -> None:
    Path("gpupool.yaml").write_text(NOTED.replace("limits: {nodes: 3}", "limit: {nodes: 3}"), "utf-8")

    said = gpupool(capsys, "render")

    assert (said.code, said.codes) == (1, ["GP0010"])
    assert "note" not in said.err


def test_both_at_once_contradict_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    said = gpupool(capsys, "render", "-v", "-q")

    assert (said.code, said.out) == (64, "")
    assert said.err == "error: -v conflicts with -q: remove one of them\n"
