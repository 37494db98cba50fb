"""`render --check --diff`: what differs between a committed folder and what would be rendered now."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.cli.blueprints import TOP
from tests.cli.run import gpupool

if TYPE_CHECKING:
    from tests.cli.run import Outcome

SCRIPT: Final = "#!/bin/bash\\nexport LICENSE=Xk29-ffp1-0z7q-TTr4\\n"
BLUEPRINT: Final = f"""\
{TOP}pools:
  train:
    profile: training
    accelerator: h100
    limits: {{gpus: 8}}
    nodeClass: {{userData: "{SCRIPT}"}}
"""
CHECK: Final = ("render", "-d", "out", "--check", "--diff")


@pytest.fixture(autouse=True)
def _rendered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gpupool.yaml").write_text(BLUEPRINT, "utf-8")
    assert gpupool(capsys, "render", "-d", "out").code == 0


def after(old: str, new: str, capsys: pytest.CaptureFixture[str]) -> Outcome:
    Path("gpupool.yaml").write_text(BLUEPRINT.replace(old, new), "utf-8")
    return gpupool(capsys, *CHECK)


def test_a_folder_that_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    said = gpupool(capsys, *CHECK)

    assert (said.code, said.out, said.err) == (0, "", "")


def test_the_lines_that_differ(capsys: pytest.CaptureFixture[str]) -> None:
    said = after("gpus: 8", "gpus: 16", capsys)

    assert said.code == 2
    assert said.out.startswith("--- a/nodepools/train.yaml\n+++ b/nodepools/train.yaml\n@@ ")
    assert [line for line in said.out.splitlines()[3:] if line[0] in "+-"] == [
        "-    nvidia.com/gpu: 8",
        "+    nvidia.com/gpu: 16",
    ]
    assert said.err == "nodepools/train.yaml\nerror: 1 rendered file out of date\n"


def test_files_that_come_and_go(capsys: pytest.CaptureFixture[str]) -> None:
    said = after("  train:", "  other:", capsys)

    heads = [line for line in said.out.splitlines() if line.startswith(("--- ", "+++ "))]
    assert heads[:4] == [
        "--- /dev/null",
        "+++ b/ec2nodeclasses/other.yaml",
        "--- a/ec2nodeclasses/train.yaml",
        "+++ /dev/null",
    ]


@pytest.mark.parametrize("new", ["Yk29-ffp1-0z7q-TTr4", "Xk29-ffp1-0z7q-TTr4; echo done"])
def test_no_secret_is_shown(new: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = after("Xk29-ffp1-0z7q-TTr4", new, capsys)

    assert said.code == 2
    assert "ffp1-0z7" not in said.out
    assert said.out.splitlines() == [
        "--- a/ec2nodeclasses/train.yaml",
        "+++ b/ec2nodeclasses/train.yaml",
        "  only comments, formatting or sensitive values differ",
    ]


def test_a_file_that_is_no_yaml(capsys: pytest.CaptureFixture[str]) -> None:
    file = Path("out/nodepools/train.yaml")
    file.write_text(file.read_text("utf-8").splitlines()[0] + "\n\tbroken: [\n", "utf-8")

    said = gpupool(capsys, *CHECK)

    assert said.code == 2
    assert "\n-(not readable as YAML)\n" in said.out


@pytest.mark.parametrize("flags", [("--diff",), ("-d", "out", "--diff")])
def test_it_belongs_to_check(flags: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    said = gpupool(capsys, "render", *flags)

    assert (said.code, said.err) == (64, "error: --diff requires --check\n")
