"""gpupool on a terminal, with somebody who types."""

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.cli.run import SECONDS

_LOOKS, _PAUSE = 5, 0.01
_CONTROL: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
CTRL_C, CTRL_D = "\x03", "\x04"
"""What a terminal makes a signal, or the end of the input, of."""


_AS_ITS_OWN: Final = """
import os, runpy
os.close(os.open(os.ttyname(0), os.O_RDWR))
runpy.run_module("gpupool", run_name="__main__")
"""
"""A session without a terminal takes the first that it opens for its own: its keys become signals then."""


class Typed:
    """What came of a command: its exit code, and the screen as it was written."""

    def __init__(self, code: int, screen: str) -> None:
        self.code = code
        self.raw = screen
        self.lines = _CONTROL.sub("", screen).replace("\r\n", "\n").splitlines()


def typed(arguments: Sequence[str], *answers: tuple[str, str]) -> Typed:
    """Run a command on a terminal; each answer is typed once its question stands there."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", _AS_ITS_OWN, *arguments]
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    ) as child:
        os.close(theirs)
        try:
            screen = _talk(ours, child.pid, [*answers])
            return Typed(child.wait(SECONDS), screen)
        finally:
            child.kill()
            os.close(ours)


def _talk(terminal: int, process_id: int, answers: list[tuple[str, str]]) -> str:
    screen, answered = "", 0
    while piece := _read(terminal):
        screen += piece
        if answers and answers[0][0] in screen[answered:]:
            answered = len(screen)
            _until_it_waits(process_id)
            os.write(terminal, answers.pop(0)[1].encode())
    return screen


def _until_it_waits(process_id: int) -> None:
    """Wait until it reads: a signal that comes a moment before is heard only at the next key."""
    status = Path(f"/proc/{process_id}/status")
    asleep = 0
    while asleep < _LOOKS:
        asleep = asleep + 1 if "State:\tS" in status.read_text("ascii") else 0
        time.sleep(_PAUSE)


def _read(terminal: int) -> str:
    """Return what was written since; nothing once the other side has ended.

    Raises:
        TimeoutError: It waits for something that nobody types.
    """
    if not select.select([terminal], [], [], SECONDS)[0]:
        raise TimeoutError
    try:
        return os.read(terminal, 1 << 16).decode(errors="replace")
    except OSError:
        return ""
