"""`gpupool completion`: a script for each shell, and what the scripts ask gpupool for."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.run import SECONDS, gpupool, process

COMMANDS = [
    "init", "validate", "render", "explain", "fit", "diff", "plan", "apply", "status", "show", "doctor", "rbac",
    "unlock", "profiles", "catalogue", "schema", "completion",
]  # fmt: skip


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_for_gpupool(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = gpupool(capsys, "completion", shell)

    assert (said.code, said.err) == (0, "")
    assert "gpupool" in said.out
    assert f"_GPUPOOL_COMPLETE=complete_{shell}" in said.out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_takes_the_script(shell: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "script"
    script.write_text(gpupool(capsys, "completion", shell).out, "utf-8")

    ended = subprocess.run([program, "-n", str(script)], capture_output=True, check=False, timeout=SECONDS)

    assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("gpupool ", COMMANDS),
        ("gpupool re", ["render"]),
        ("gpupool p", ["plan", "profiles"]),
        ("gpupool render --", ["--file", "--dir", "--check", "--values", "--help"]),
        ("gpupool schema ", ["blueprint", "profile", "karpenter", "plan"]),
        ("gpupool completion z", ["zsh"]),
        ("gpupool nothing", []),
    ],
)
def test_bash_asks_for_words(words: str, expected: list[str], tmp_path: Path) -> None:
    environment = {
        "_GPUPOOL_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }

    said = process(folder=tmp_path, environment=environment)

    assert (said.code, said.err) == (0, "")
    assert said.out.split() == expected


def test_zsh_and_fish_ask_for_words(tmp_path: Path) -> None:
    words = {"_TYPER_COMPLETE_ARGS": "gpupool re", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}

    zsh = process(folder=tmp_path, environment={**words, "_GPUPOOL_COMPLETE": "complete_zsh"})
    fish = process(folder=tmp_path, environment={**words, "_GPUPOOL_COMPLETE": "complete_fish"})

    assert (zsh.code, fish.code) == (0, 0)
    assert '"render":"Render a blueprint to Karpenter manifests' in zsh.out
    assert fish.out.startswith("render\tRender a blueprint to Karpenter manifests")
