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

from gpupool.cli.progress import Live, live
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

    with live(log) as say:
        say(progress)
        say.say("a\nb")

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
        """Return what somebody sees in the end, on a terminal that is long enough."""
        shown: list[str] = []
        for up, text in re.findall(r"(?:\x1b\[(\d+)F)?(?:\x1b\[(?:J|\?25[lh]))*([^\x1b]*)", self.said):
            del shown[len(shown) - int(up or 0) :]
            shown += text.splitlines()
        return shown

    def close(self) -> None:
        if not self.stream.closed:
            self.stream.close()
            self._reader.join()
            os.close(self._ours)


def test_a_line_for_each_object_on_a_terminal(terminal: Terminal) -> None:
    with live(terminal.stream) as say:
        say(told("a", "no status yet"))
        say(told("b", "no status yet"))
        say.say("wrote something")
        say(told("a"))
        say(told("b", Readiness(is_ready=False, reason="is gone", is_hopeless=True)))

    assert [" ".join(line.split()) for line in terminal.screen] == [
        "wrote something",
        "Ready NodePool/a",
        "- NodePool/b is gone",
    ]
    assert terminal.said.startswith("\x1b[?25l")
    assert terminal.said.endswith("\x1b[?25h")


def test_no_line_is_wider_than_the_terminal(terminal: Terminal) -> None:
    with live(terminal.stream) as say:
        say(told("a", "no " * 50))

    (line,) = terminal.screen
    assert len(line) == WIDTH - 1
    assert line.endswith("…")


def test_more_objects_than_lines_shows_those_that_are_waited_for(terminal: Terminal) -> None:
    with live(terminal.stream) as say:
        for name in "abcd":
            say(told(name))
        say(told("e", "no subnets"))

    assert [" ".join(line.split()) for line in terminal.screen] == [
        "waiting NodePool/e no subnets",
        "Ready NodePool/a",
        "Ready NodePool/b",
        "… and 2 more",
    ]


def test_the_cursor_is_back_after_an_error(terminal: Terminal) -> None:
    with pytest.raises(KeyboardInterrupt), live(terminal.stream):
        raise KeyboardInterrupt

    assert terminal.said == "\x1b[?25l\x1b[?25h"


def test_a_terminal_that_can_do_nothing_gets_a_log(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")

    with live(terminal.stream) as say:
        say(told("a"))

    assert terminal.said == "NodePool/a: Ready\n"


def test_one_that_does_not_know_its_size() -> None:
    stream = io.StringIO()

    Live(stream, is_terminal=True)(told("a", "no " * 50))

    assert len(stream.getvalue()) == len("\x1b[J") + 79 + len("\n")
