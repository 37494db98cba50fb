"""Progress on standard error: a live line for each object on a terminal, a line for each change elsewhere."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from gpupool.reports.apply.progress import address, line, live_line
from gpupool.reports.escaping import encodable, one_line

if TYPE_CHECKING:
    from gpupool.rollout.watch.waiting import Progress

_USUAL = (80, 24)
_HIDE, _SHOW, _CLEAR = "\x1b[?25l", "\x1b[?25h", "\x1b[J"


class Live:
    """Where progress is told; safe to be used by several threads."""

    def __init__(self, stream: TextIO, *, is_terminal: bool) -> None:
        """Tell it on a stream."""
        self._stream = stream
        self._is_terminal = is_terminal
        self._shown: dict[tuple[str, str], Progress] = {}
        self._height = 0
        self._lock = threading.Lock()

    def __call__(self, progress: "Progress") -> None:
        """Tell how an object is."""
        with self._lock:
            if not self._is_terminal:
                self._write(f"{line(progress)}\n")
                return
            self._shown[progress.kind, progress.name] = progress
            self._write(self._above() + self._block())

    def say(self, text: str) -> None:
        """Write a line that stays, above those that change."""
        with self._lock:
            before, after = (self._above(), self._block()) if self._height else ("", "")
            self._write(f"{before}{one_line(text)}\n{after}")

    def _above(self) -> str:
        """Go back to where the block begins, and clear it."""
        up = f"\x1b[{self._height}F" if self._height else ""
        return f"{up}{_CLEAR}"

    def _block(self) -> str:
        """Return the lines, as many as the terminal holds: first those that are waited for."""
        width, height = self._size()
        room = max(1, height - 2)
        shown = list(self._shown.values())
        if len(shown) > room:
            shown.sort(key=lambda each: each.readiness.is_ready)
        column = max(len(address(each)) for each in shown[:room])
        lines = [live_line(each, column, width - 1) for each in shown[:room]]
        if len(shown) > room:
            lines.append(f"… and {len(shown) - room} more")
        self._height = len(lines)
        return "".join(f"{each}\n" for each in lines)

    def _size(self) -> tuple[int, int]:
        """Return the terminal's columns and lines; the usual ones where it does not know them."""
        try:
            found = os.get_terminal_size(self._stream.fileno())
        except OSError:
            return _USUAL
        return (found.columns or _USUAL[0], found.lines or _USUAL[1])

    def _write(self, text: str) -> None:
        self._stream.write(encodable(text))
        self._stream.flush()


@contextmanager
def live(stream: TextIO | None = None) -> Iterator[Live]:
    """Tell progress while the block runs; the cursor is back whatever ends it."""
    to = stream or sys.stderr
    is_terminal = to.isatty() and os.environ.get("TERM") != "dumb"
    found = Live(to, is_terminal=is_terminal)
    if is_terminal:
        to.write(_HIDE)
    try:
        yield found
    finally:
        if is_terminal:
            to.write(_SHOW)
            to.flush()
