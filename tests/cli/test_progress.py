"""Progress while waiting: lines in a log, and lines that change on a terminal."""

import fcntl
import io
import os
import pty
import re
import struct
import termios
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from gpupool.cli.progress import show_progress
from gpupool.rollout.watch.waiting import Progress, Readiness

READY = Readiness(is_ready=True)
WIDTH = 60


def told(name: str, readiness: Readiness | str = READY, *, is_news: bool = True) -> Progress:
    """Return what is told of a pool after 12 seconds."""
    said = Readiness(is_ready=False, reason=readiness) if isinstance(readiness, str) else readiness
    return Progress("NodePool", name, said, 12.3, is_news)


LINES = {
    "Ready": (told("a"), "NodePool/a: Ready"),
    "Ready in other words": (told("a", Readiness(is_ready=True, reason="replaced")), "NodePool/a: replaced"),
    "not Ready": (told("a", "no subnets"), "NodePool/a: no subnets"),
    "not Ready still": (
        told("a", "no subnets", is_news=False),
        "still waiting for NodePool/a after 12 s: no subnets",
    ),
    "hopeless": (
        told("a", Readiness(is_ready=False, reason="is gone", is_hopeless=True)),
        "NodePool/a: not waited for: is gone",
    ),
    "words that would steer a terminal": (told("a", "\x1b[2J\nbad"), "NodePool/a: \\x1b[2J\\nbad"),
}


@pytest.mark.parametrize(("progress", "line"), LINES.values(), ids=LINES)
def test_a_line_for_each_change_in_a_log(progress: Progress, line: str) -> None:
    log = io.StringIO()

    with show_progress(log) as say:
        say(progress)
        say.print_line("a\nb")

    assert log.getvalue() == f"{line}\na\\nb\n"


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator["Terminal"]:
    """A terminal of five lines."""
    monkeypatch.setenv("TERM", "xterm")
    found = Terminal()
    yield found
    found.close()


class Terminal:
    """One end of a terminal, and what was written to the other."""

    def __init__(self, lines: int = 5) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, WIDTH, 0, 0))
        self.stream = os.fdopen(theirs, "w", encoding="utf-8")
        self._said = b""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        with suppress(OSError):  # what reads a terminal is told by an error that nobody writes any more
            while piece := os.read(self._ours, 4096):
                self._said += piece

    @property
    def said(self) -> str:
        """Return all that was written, once the other end is closed."""
        self.close()
        return self._said.decode().replace("\r\n", "\n")

    @property
    def screen(self) -> list[str]:
        """Return the lines that are left in the end, on a terminal that is long enough."""
        lines, row = [""], 0
        for up, clear, end, text in re.findall(
            r"\x1b\[(\d*)A|(\x1b\[2K)|(\n)|(?:\x1b\[[?\d;]*[a-zA-Z]|\r)|([^\x1b\r\n]+)", self.said
        ):
            if up or clear:
                row -= int(up or 0)
                lines[row] = ""
            elif end:
                row += 1
                lines[row:] = lines[row:] or [""]
            lines[row] += text
        return [line for line in lines if line.strip()]

    def close(self) -> None:
        if not self.stream.closed:
            self.stream.close()
            self._reader.join()
            os.close(self._ours)


def test_a_terminal_shows_what_is_waited_for_and_keeps_what_ended(terminal: Terminal) -> None:
    with show_progress(terminal.stream) as say:
        say(told("a", "no status yet"))
        say(told("b", "no status yet"))
        say.print_line("wrote :warning: [red]")
        say(told("c", "no subnets"))
        say(told("a"))
        say(told("a"))
        say(told("b", Readiness(is_ready=False, reason="is gone", is_hopeless=True)))

    assert terminal.screen == [
        "wrote :warning: [red]",
        "NodePool/a: Ready",
        "NodePool/b: not waited for: is gone",
    ]
    shown = re.sub(r"\x1b\[[?\d;]*[a-zA-Z]", "", terminal.said)
    assert re.search(r"[-\\|/] +0:00:00 +NodePool/c: no subnets", shown)
    assert terminal.said.rindex("\x1b[?25h") > terminal.said.rindex("\x1b[?25l")


def test_no_line_is_wider_than_the_terminal(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))

    with show_progress(terminal.stream) as say:
        say(told("a", "no " * 50))

    shown = re.sub(r"\x1b\[[?\d;]*[a-zA-Z]", "", terminal.said)
    lines = re.split(r"[\r\n]", shown)
    assert max(map(len, lines)) <= WIDTH
    assert any(re.match(r"[-\\|/] 0:00:00 NodePool/a: no no", line) for line in lines)


def test_the_cursor_is_back_after_an_error(terminal: Terminal) -> None:
    with pytest.raises(KeyboardInterrupt), show_progress(terminal.stream):
        raise KeyboardInterrupt

    assert terminal.said.rindex("\x1b[?25h") > terminal.said.rindex("\x1b[?25l")
    assert terminal.screen == []


def test_a_terminal_that_can_do_nothing_gets_a_log(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")

    with show_progress(terminal.stream) as say:
        say(told("a"))

    assert terminal.said == "NodePool/a: Ready\n"
