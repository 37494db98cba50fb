"""Results on a terminal: tables of its width, and `--pager`; in a pipe neither."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.cli.blueprints import SMALL

if TYPE_CHECKING:
    from collections.abc import Sequence

ENVIRONMENT: Final = {"TERM": "xterm-256color", "NO_COLOR": "1"}
WIDTH: Final = 80


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gpupool.yaml").write_text(SMALL, "utf-8")


def on_terminal(command: Sequence[str], pager: str = "cat") -> tuple[int, str]:
    """Return the exit code of a command, and what it prints on a terminal."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, WIDTH, 0, 0))
    with subprocess.Popen(
        [sys.executable, "-m", "gpupool", *command],
        stdin=subprocess.DEVNULL,
        stdout=its,
        stderr=its,
        env={**os.environ, **ENVIRONMENT, "PAGER": pager},
    ) as child:
        os.close(its)
        found = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    return child.returncode, found.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the last process that wrote to it has ended
        return b""


def in_pipe(command: Sequence[str]) -> tuple[int, str]:
    environment = {**os.environ, **ENVIRONMENT, "PAGER": "sed s/^/paged:/"}
    words = [sys.executable, "-m", "gpupool", *command]
    found = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    return found.returncode, found.stdout


@pytest.mark.parametrize("command", [["explain", "train"], ["profiles"], ["profiles", "training"]])
def test_a_table_is_as_wide_as_the_terminal(command: Sequence[str]) -> None:
    _, piped = in_pipe(command)
    _, shown = on_terminal(command)

    table = shown.partition("\nnot shown")[0].partition("accelerator:")[0].splitlines()
    assert max(map(len, piped.splitlines())) > WIDTH
    assert max(map(len, table)) <= WIDTH
    if command[0] == "explain":
        assert "EFA" in piped
        assert "not shown, as the terminal is too narrow: " in shown


def test_the_pager_gets_the_result_and_the_exit_code_stays() -> None:
    code, shown = on_terminal(["explain", "train", "--pager"], "sed s/^/paged:/")

    assert code == 0
    assert "paged:NodePool train" in shown
    assert "\nNodePool train" not in shown
    Path("gpupool.yaml").write_text(
        SMALL.replace("accelerator: h100", "instances: {types: [p5e.48xlarge]}"), "utf-8"
    )
    code, shown = on_terminal(["explain", "train", "--pager"], "sed s/^/paged:/")
    assert code == in_pipe(["explain", "train"])[0] != 0


@pytest.mark.parametrize("pager", ["no-such-pager-here", "sed 's"])
def test_a_result_is_shown_without_a_pager(pager: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LESS", "-FX")
    assert "NodePool train" in on_terminal(["explain", "train", "--pager"], pager)[1]


def test_no_pager_in_a_pipe_and_none_unless_asked() -> None:
    assert in_pipe(["explain", "train", "--pager"]) == in_pipe(["explain", "train"])
    assert "paged:" not in in_pipe(["explain", "train", "--pager"])[1]
    assert "paged:" not in on_terminal(["explain", "train"], "sed s/^/paged:/")[1]
