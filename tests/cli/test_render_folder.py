"""`gpupool render -d DIR`, with and without `--check`, as scripts and CI use it."""

from pathlib import Path

import pytest

from tests.cli.blueprints import SMALL
from tests.cli.run import gpupool, process


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A folder that is the current one, with a blueprint rendered into `out`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gpupool.yaml").write_text(SMALL, "utf-8")
    assert gpupool(capsys, "render", "-d", "out").code == 0
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_check_of_what_was_just_rendered(capsys: pytest.CaptureFixture[str]) -> None:
    said = gpupool(capsys, "render", "-d", "out", "--check")

    assert (said.code, said.out, said.err) == (0, "", "")


def test_check_names_each_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "gpupool.yaml").write_text(SMALL.replace("train:", "learn:"), "utf-8")

    said = gpupool(capsys, "render", "-d", "out", "--check")

    assert (said.code, said.out) == (2, "")
    assert said.err.splitlines() == [
        "ec2nodeclasses/learn.yaml",
        "ec2nodeclasses/train.yaml",
        "kustomization.yaml",
        "nodepools/learn.yaml",
        "nodepools/train.yaml",
        "values/nvidia-device-plugin.yaml",
        "error: 6 rendered files out of date",
    ]


def test_check_of_a_blueprint_that_is_wrong(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "gpupool.yaml").write_text(SMALL.replace("accelerator", "acelerator"), "utf-8")

    said = gpupool(capsys, "render", "-d", "out", "--check")

    assert (said.code, said.out, said.codes) == (1, "", ["GP0010"])


def test_a_blueprint_that_is_wrong_changes_no_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "gpupool.yaml").write_text(SMALL.replace("train:", "Learn:"), "utf-8")
    before = {path: path.stat().st_mtime_ns for path in (folder / "out").rglob("*")}

    said = gpupool(capsys, "render", "-d", "out")

    assert said.code == 1
    assert {path: path.stat().st_mtime_ns for path in (folder / "out").rglob("*")} == before


def test_a_folder_that_may_not_be_written(folder: Path) -> None:
    (folder / "gpupool.yaml").write_text(SMALL.replace("h100", "h200"), "utf-8")
    (folder / "out" / "nodepools").chmod(0o555)

    said = process("render", "-d", "out", folder=folder, powerless=True)

    assert (said.code, said.out) == (1, "")
    assert said.err == (
        "out/nodepools/train.yaml: error GP0081 can't write it: Permission denied\nerror: 1 error\n"
    )


def test_a_left_over_that_may_not_be_removed(folder: Path) -> None:
    (folder / "out" / "nodepools" / "old.yaml").write_text("# Rendered by gpupool from demo\n", "utf-8")
    (folder / "out" / "nodepools").chmod(0o555)

    said = process("render", "-d", "out", folder=folder, powerless=True)

    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("out/nodepools/old.yaml: error GP0081 can't remove it: Permission denied\n")


def test_a_file_that_may_not_be_read(folder: Path) -> None:
    (folder / "out" / "nodepools" / "train.yaml").chmod(0)

    check = process("render", "-d", "out", "--check", folder=folder, powerless=True)
    write = process("render", "-d", "out", folder=folder, powerless=True)

    assert check.err.startswith("out/nodepools/train.yaml: error GP0081 can't read it: Permission denied\n")
    assert (check.code, write.code) == (1, 1)
    assert write.codes == ["GP0080"]


def test_a_folder_that_may_not_be_looked_into(folder: Path) -> None:
    (folder / "out").chmod(0)

    check = process("render", "-d", "out", "--check", folder=folder, powerless=True)
    write = process("render", "-d", "out", folder=folder, powerless=True)

    assert (check.code, write.code) == (1, 1)
    assert check.err.startswith(
        "out/ec2nodeclasses/train.yaml: error GP0081 can't read it: Permission denied\n"
    )
    assert write.err == "error: out/ec2nodeclasses: Permission denied\n"
