"""The deadline of a command, which a signal brings forward."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from gpupool.errors import StoppedError

if TYPE_CHECKING:
    from concurrent.futures import Future

_STEP: Final = 0.1
"""Seconds between two checks for a signal. A signal handler interrupts the main thread anywhere, so it takes
no lock and wakes no thread."""


class Deadline:
    """The deadline of a command."""

    def __init__(self, seconds: float) -> None:
        """Start the clock; `seconds` is the command's timeout."""
        self.seconds = seconds
        self._end = time.monotonic() + seconds
        self._stopped_at: float | None = None
        self._signal = 0

    @property
    def left(self) -> float:
        """Return the remaining seconds, at least 0."""
        return max(0.0, self._end - time.monotonic())

    @property
    def is_over(self) -> bool:
        """Return whether the time is up."""
        return self.left <= 0

    @property
    def is_stopped(self) -> bool:
        """Return whether a signal arrived."""
        return self._stopped_at is not None

    @property
    def signal(self) -> int:
        """Return the number of the signal that arrived; 0 for none."""
        return self._signal

    def stop(self, signal: int) -> None:
        """End every wait, and let no new request begin."""
        self._signal = signal
        self._stopped_at = time.monotonic()

    def ensure_not_stopped(self) -> None:
        """Raise an error after a signal.

        Raises:
            StoppedError: with the signal's exit code.
        """
        if self.is_stopped:
            raise StoppedError(self._signal)

    def pause(self, seconds: float) -> None:
        """Wait for so many seconds, or until the deadline or a signal.

        Raises:
            StoppedError: after a signal.
        """
        until = time.monotonic() + min(seconds, self.left)
        while not self.is_stopped and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _STEP))
        self.ensure_not_stopped()

    def wait(self, future: Future[Any], grace: float) -> bool:
        """Wait for a result until the deadline, or for so many seconds after a signal.

        Return whether it is done by then.
        """
        while not future.done() and (left := self._left_for(grace)) > 0:
            with suppress(TimeoutError):
                future.exception(min(left, _STEP))
        return future.done()

    def _left_for(self, grace: float) -> float:
        if self._stopped_at is None:
            return self.left
        return min(self.left, self._stopped_at + grace - time.monotonic())
