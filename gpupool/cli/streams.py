"""Encoding and error handling of standard output and standard error.

A result that cannot be written to standard output in full is an error. A message that cannot be written to
standard error is dropped: the exit code is enough, and a closed terminal must not stop an apply midway.
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
    """Standard error that drops what it cannot write."""

    def __init__(self, stream: TextIO) -> None:
        """Wrap a stream."""
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a message; drop it if the terminal is closed, the disk is full, or the reader ended."""
        with suppress(OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the stream; drop what cannot be written."""
        with suppress(OSError, ValueError):
            self._stream.flush()

    def __getattr__(self, name: str) -> object:
        """Return any other attribute of the stream."""
        return getattr(self._stream, name)


class _ClosedOutput(io.TextIOBase):
    """Standard output that was closed before the program started; writing fails."""

    def write(self, _text: str) -> int:
        raise OSError(errno.EBADF, "standard output is closed")


@contextmanager
def prepare_streams() -> Iterator[None]:
    """Replace the standard streams in the block: UTF-8 everywhere, and a lost result is an error."""
    previous = sys.stdout, sys.stderr
    _reserve_standard_numbers()
    sys.stdout = _prepare_output(previous[0])
    sys.stderr = cast("TextIO", LossyStream(previous[1] or io.StringIO()))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = previous


def _prepare_output(stream: TextIO | None) -> TextIO:
    if stream is None:
        return cast("TextIO", _ClosedOutput())
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    encoding = {"encoding": "utf-8", "errors": "backslashreplace", "newline": "\n"}
    if isinstance(cast("object", stream.buffer), io.RawIOBase):
        # With PYTHONUNBUFFERED, Python does not report that a full disk stored only a part of the text.
        return open(stream.fileno(), "w", closefd=False, **encoding)  # type: ignore[call-overload, no-any-return]
    stream.reconfigure(**encoding)  # type: ignore[arg-type]
    return stream


def _reserve_standard_numbers() -> None:
    """Open the numbers of closed standard streams, so that no file or connection gets one."""
    while (number := os.open(os.devnull, os.O_RDWR)) < _STANDARD:
        pass
    os.close(number)
