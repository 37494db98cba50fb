"""A result that is not written whole is never taken for one, and messages that nobody reads change no exit code."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from gpupool.cli.cluster_options import _find_stop_signals
from tests.cli.blueprints import SMALL
from tests.cli.run import SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

FULL: Final = Path("/dev/full")
NO_SPACE: Final = "error: No space left on device\n"
BUFFERED: Final = {"yes": "", "no": "1"}
"""By the value of PYTHONUNBUFFERED, which is set in many images."""

RESULTS: Final = {
    "render": ["render"],
    "explain": ["explain"],
    "validate as json": ["validate", "gpupool.yaml", "-o", "json"],
    "schema": ["schema"],
    "profiles": ["profiles"],
    "version": ["--version"],
}
LIMIT: Final = 1_000
"""Bytes that fit on a disk which is nearly full."""

pytestmark = pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")


@pytest.fixture
def blueprint(tmp_path: Path) -> Path:
    """Write a blueprint under the default name, into a folder of its own."""
    path = tmp_path / "gpupool.yaml"
    path.write_text(SMALL, "utf-8")
    return path


def nearly_full() -> None:
    """Let files of this process hold few bytes: the last write is cut, as on a disk that becomes full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))


def run(
    folder: Path, words: Sequence[str], redirect: str = "", unbuffered: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run gpupool in a shell, its streams led elsewhere."""
    line = f'exec "{sys.executable}" -m gpupool "$@" {redirect}'
    # Nothing is compiled beside it, which would need room as well.
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        ["sh", "-c", line, "sh", *words],  # noqa: S607 - the shell of the system
        cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS,
    )  # fmt: skip


@pytest.mark.parametrize("words", RESULTS.values(), ids=RESULTS)
@pytest.mark.parametrize("unbuffered", BUFFERED.values(), ids=BUFFERED)
def test_a_full_disk_is_an_error(blueprint: Path, words: list[str], unbuffered: str) -> None:
    said = run(blueprint.parent, words, f"> {FULL}", unbuffered)

    assert (said.returncode, said.stderr.endswith(NO_SPACE)) == (1, True)


@pytest.mark.parametrize("unbuffered", BUFFERED.values(), ids=BUFFERED)
def test_so_is_a_disk_that_takes_a_part(blueprint: Path, unbuffered: str) -> None:
    part = blueprint.parent / "part.yaml"
    with part.open("wb") as file:
        ended = subprocess.run(
            [sys.executable, "-m", "gpupool", "render"], cwd=blueprint.parent, stdout=file, stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered, "PYTHONDONTWRITEBYTECODE": "1"},
            preexec_fn=nearly_full, text=True, check=False, timeout=SECONDS,
        )  # fmt: skip

    assert (ended.returncode, ended.stderr) == (1, "error: File too large\n")
    assert part.stat().st_size == LIMIT


@pytest.mark.parametrize("words", RESULTS.values(), ids=RESULTS)
def test_so_is_a_closed_standard_output(blueprint: Path, words: list[str]) -> None:
    said = run(blueprint.parent, words, ">&-")

    assert (said.returncode, said.stderr.endswith("error: standard output is closed\n")) == (1, True)


@pytest.mark.parametrize("unbuffered", BUFFERED.values(), ids=BUFFERED)
@pytest.mark.parametrize("redirect", [f"2> {FULL}", "2>&-"], ids=["full", "closed"])
def test_messages_that_find_no_place_change_nothing(blueprint: Path, redirect: str, unbuffered: str) -> None:
    expected = run(blueprint.parent, ["render"])
    assert expected.returncode == 0

    said = run(blueprint.parent, ["render"], redirect, unbuffered)

    assert (said.returncode, said.stdout) == (0, expected.stdout)
    assert run(blueprint.parent, ["render", "-f", "nowhere.yaml"], redirect, unbuffered).returncode == 1
    assert run(blueprint.parent, ["render", "--no-such-option"], redirect, unbuffered).returncode == 64


@pytest.mark.parametrize("redirect", [">&- 2>&-", f"> {FULL} 2> {FULL}", "<&- >&- 2>&-"])
def test_without_any_stream_the_exit_code_is_left(blueprint: Path, redirect: str) -> None:
    assert run(blueprint.parent, ["render"], redirect).returncode == 1
    assert run(blueprint.parent, ["render", "-d", "out"], redirect).returncode == 0
    assert any((blueprint.parent / "out").iterdir())


OPENS: Final = """\
import sys
from gpupool.cli import streams
with streams.prepare_streams(), open(sys.argv[1], "w") as file:
    file.write(str(file.fileno()))
"""


@pytest.mark.parametrize("redirect", ["", "<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_no_file_gets_the_number_of_a_stream_that_was_closed(tmp_path: Path, redirect: str) -> None:
    """What is written for a stream would end up in it."""
    line = f'exec "{sys.executable}" -c "$0" "$1" {redirect}'

    subprocess.run(["sh", "-c", line, OPENS, str(tmp_path / "number")], check=True, timeout=SECONDS)  # noqa: S607

    assert int((tmp_path / "number").read_text("ascii")) > 2


def test_a_terminal_that_is_closed_ends_a_command_unless_nohup_was_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(signal, "getsignal", lambda _: signal.SIG_DFL)
    assert _find_stop_signals() == [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    monkeypatch.setattr(signal, "getsignal", lambda _: signal.SIG_IGN)
    assert _find_stop_signals() == [signal.SIGINT, signal.SIGTERM]
