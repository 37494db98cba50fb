"""The help of each command, word for word, and what asking for it wrongly says."""

from pathlib import Path

import pytest

from gpupool.cli.app import app
from tests.cli.run import gpupool

TEXTS = Path(__file__).parent / "help"
COMMANDS = [path.stem for path in sorted(TEXTS.glob("*.txt")) if path.stem != "gpupool"]


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_every_command_has_a_help_text() -> None:
    names = [
        command.name or command.callback.__name__ for command in app.registered_commands if command.callback
    ]

    assert sorted(names) == COMMANDS


@pytest.mark.parametrize("flag", ["-h", "--help"])
@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(command: str, flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = gpupool(capsys, command, flag)

    assert (said.code, said.err) == (0, "")
    assert said.out == (TEXTS / f"{command}.txt").read_text("utf-8")


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_of_gpupool(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = gpupool(capsys, flag)

    assert (said.code, said.err) == (0, "")
    assert said.out == (TEXTS / "gpupool.txt").read_text("utf-8")


def test_no_command_at_all_shows_the_help_as_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    said = gpupool(capsys)

    assert (said.code, said.out) == (64, "")
    assert said.err == (TEXTS / "gpupool.txt").read_text("utf-8")


def test_no_line_of_help_is_wider_than_a_terminal() -> None:
    wide = [
        line
        for path in TEXTS.glob("*.txt")
        for line in path.read_text("utf-8").splitlines()
        if len(line) > 80
    ]

    assert wide == []
