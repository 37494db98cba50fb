"""How long ago a lock was renewed, in words."""

import pytest

from gpupool.cluster.lease import Lease
from gpupool.reports.lock import render_held

AGES = {
    0: "0 s ago", 60: "60 s ago", 119: "119 s ago", 120: "2 min ago", 119 * 60: "119 min ago", 2 * 3_600: "2 h ago",
}  # fmt: skip


RENEWED = "2026-11-22T08:00:00+00:00"
LEASE = Lease("kube-system", "gpupool-a", "ann@host/7/1f8a77c2", 60, RENEWED, RENEWED, 0)


def said_after(seconds: float, monkeypatch: pytest.MonkeyPatch) -> str:
    """What is said of the lock so long after its renewal, however long the test takes."""
    monkeypatch.setattr(Lease, "age", seconds)
    (renewed,) = [line for line in render_held(LEASE).splitlines() if line.startswith("renewed")]
    return renewed


@pytest.mark.parametrize(("seconds", "words"), AGES.items())
def test_it_was_renewed_so_long_ago(seconds: int, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    alive = "it holds for 60 s" if seconds < 60 else "which is too long: that run seems dead"
    assert said_after(seconds, monkeypatch).endswith(f", {words}; {alive}")


def test_a_clock_that_is_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said_after(-500, monkeypatch).endswith(", 0 s ago; it holds for 60 s")
