"""How long a command may take, and whether the user wants it to end: one value that every wait looks at."""

from __future__ import annotations

import threading
import time

from gpupool.errors import StoppedError


class Deadline:
    """The one deadline of a command, which a signal brings forward."""

    def __init__(self, seconds: float) -> None:
        """Begin to count; `seconds` is what the user allowed."""
        self.seconds = seconds
        self._end = time.monotonic() + seconds
        self._stopped = threading.Event()
        self._signal = 0

    @property
    def left(self) -> float:
        """Give the seconds that are left; never less than 0."""
        return max(0.0, self._end - time.monotonic())

    @property
    def is_over(self) -> bool:
        """Say whether the time is up."""
        return self.left <= 0

    @property
    def is_stopped(self) -> bool:
        """Say whether a signal came."""
        return self._stopped.is_set()

    @property
    def signal(self) -> int:
        """Give the number of the signal that came; 0 for none."""
        return self._signal

    def stop(self, signal: int) -> None:
        """Let every wait end, and nothing new begin."""
        self._signal = signal
        self._stopped.set()

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
        self._stopped.wait(min(seconds, self.left))
        self.ensure_wanted()
