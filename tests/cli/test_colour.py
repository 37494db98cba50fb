"""Colour on a terminal, and none in a pipe, with NO_COLOR, or on a terminal that has none."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.cli.blueprints import SMALL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ESCAPE: Final = "\x1b["
PLAIN: Final = {"TERM": "xterm-256color", "NO_COLOR": ""}
WRONG: Final = SMALL.replace("accelerator:", "acelerator:")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gpupool.yaml").write_text(WRONG, "utf-8")


def on_terminal(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return what a command prints on a terminal, of both streams."""
    ours, its = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "gpupool", *command],
        stdin=subprocess.DEVNULL,
        stdout=its,
        stderr=its,
        env={**os.environ, **environment},
    ):
        os.close(its)
        found = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    return found.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the last process that wrote to it has ended
        return b""


@pytest.mark.parametrize("command", ["validate", "render"])
def test_a_terminal_shows_severity_code_and_fix(command: str) -> None:
    said = on_terminal([command], PLAIN)

    assert ": \x1b[1;31merror\x1b[0m \x1b[2mGP0010\x1b[0m unknown field" in said
    assert "    \x1b[32mfix:\x1b[0m did you mean" in said
    uncoloured = re.sub(r"\x1b\[[\d;]*m", "", said)
    piped = subprocess.run(
        [sys.executable, "-m", "gpupool", command],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert uncoloured == piped.stdout
    assert ESCAPE not in piped.stdout


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
@pytest.mark.parametrize("command", ["validate", "render"])
def test_none_where_it_is_not_wanted(command: str, environment: Mapping[str, str]) -> None:
    said = on_terminal([command], {**PLAIN, **environment})

    assert "error GP0010" in said
    assert ESCAPE not in said
