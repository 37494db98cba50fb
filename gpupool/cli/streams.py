"""Standard output and standard error, as a tool needs them that works while nobody looks on.

A result that does not reach standard output whole is an error. A message that does not reach standard error
is none: the exit code tells what came of the work, and a terminal that was closed ends no apply midway.
"""

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO, cast

_STANDARD = 3


class LossyStream:
    """Standard error, which takes whatever is written and keeps silent about what it can't pass on."""

    def __init__(self, to: TextIO) -> None:
        """Pass messages on."""
        self._to = to

    def write(self, text: str) -> int:
        """Write a message, or lose it: a closed terminal, a full disk, a reader that went away."""
        with suppress(OSError, ValueError):
            self._to.write(text)
        return len(text)

    def flush(self) -> None:
        """Write what is held back, or lose it."""
        with suppress(OSError, ValueError):
            self._to.flush()

    def __getattr__(self, name: str) -> object:
        """Return anything else of the stream itself."""
        return getattr(self._to, name)


class _ClosedOutput(io.TextIOBase):
    """Standard output where it was closed before the program began."""

    def write(self, _text: str) -> int:
        raise OSError(errno.EBADF, "standard output is closed")


@contextmanager
def prepare_streams() -> Iterator[None]:
    """Run a command with streams that say what they could not write, and write the same bytes everywhere."""
    before = sys.stdout, sys.stderr
    _reserve_standard_numbers()
    sys.stdout = _prepare_output(before[0])
    sys.stderr = cast("TextIO", LossyStream(before[1] or io.StringIO()))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _prepare_output(stream: TextIO | None) -> TextIO:
    if stream is None:
        return cast("TextIO", _ClosedOutput())
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    form = {"encoding": "utf-8", "errors": "backslashreplace", "newline": "\n"}
    if isinstance(cast("object", stream.buffer), io.RawIOBase):
        # With PYTHONUNBUFFERED a full disk takes a part of the text, and Python says nothing.
        return open(stream.fileno(), "w", closefd=False, **form)  # type: ignore[call-overload, no-any-return]
    stream.reconfigure(**form)  # type: ignore[arg-type]
    return stream


def _reserve_standard_numbers() -> None:
    """Let no file or connection get the number of a standard stream that was closed."""
    while (number := os.open(os.devnull, os.O_RDWR)) < _STANDARD:
        pass
    os.close(number)
