"""Pauses between tries that take no time: each brings the deadline nearer by as much."""

import pytest

from gpupool.cluster.deadline import Deadline


def skip_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the time of a command go by as if its pauses had been waited for."""

    def pause(self: Deadline, seconds: float) -> None:
        self.ensure_not_stopped()
        self._end -= seconds

    monkeypatch.setattr(Deadline, "pause", pause)
