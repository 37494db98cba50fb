"""How long a command may take, and whether the user wants it to end: one value that every wait looks at."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from gpupool.errors import StoppedError

if TYPE_CHECKING:
    from concurrent.futures import Future

_STEP: Final = 0.1
"""Seconds between two looks for a signal. Its handler runs in the midst of whatever the main thread does, so
it must not take a lock that somebody may hold, and wakes nobody."""


class Deadline:
    """The one deadline of a command, which a signal brings forward."""

    def __init__(self, seconds: float) -> None:
        """Begin to count; `seconds` is what the user allowed."""
        self.seconds = seconds
        self._end = time.monotonic() + seconds
        self._stopped_at: float | None = None
        self._signal = 0

    @property
    def left(self) -> float:
        """Return the seconds that are left; never less than 0."""
        return max(0.0, self._end - time.monotonic())

    @property
    def is_over(self) -> bool:
        """Return whether the time is up."""
        return self.left <= 0

    @property
    def is_stopped(self) -> bool:
        """Return whether a signal came."""
        return self._stopped_at is not None

    @property
    def signal(self) -> int:
        """Return the number of the signal that came; 0 for none."""
        return self._signal

    def stop(self, signal: int) -> None:
        """Let every wait end, and nothing new begin."""
        self._signal = signal
        self._stopped_at = time.monotonic()

    def ensure_wanted(self) -> None:
        """Raise where a signal came.

        Raises:
            StoppedError: with the signal's exit code.
        """
        if self.is_stopped:
            raise StoppedError(self._signal)

    def pause(self, seconds: float) -> None:
        """Wait, but no longer than the deadline, and no longer than until a signal comes.

        Raises:
            StoppedError: where a signal came.
        """
        until = time.monotonic() + min(seconds, self.left)
        while not self.is_stopped and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _STEP))
        self.ensure_wanted()

    def wait(self, future: Future[Any], grace: float) -> bool:
        """Wait for something, but no longer than the deadline, or so many seconds after a signal.

        False where it is not done by then.
        """
        while not future.done() and (left := self._left_for(grace)) > 0:
            with suppress(TimeoutError):
                future.exception(min(left, _STEP))
        return future.done()

    def _left_for(self, grace: float) -> float:
        if self._stopped_at is None:
            return self.left
        return min(self.left, self._stopped_at + grace - time.monotonic())
