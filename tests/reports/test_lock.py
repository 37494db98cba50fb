"""How long ago a lock was renewed, in words."""

from datetime import UTC, datetime, timedelta

import pytest

from gpupool.cluster.lease import Lease
from gpupool.reports.lock import held

AGES = {
    0: "0 s ago", 60: "60 s ago", 119: "119 s ago", 120: "2 min ago", 119 * 60: "119 min ago", 2 * 3_600: "2 h ago",
}  # fmt: skip


def lease(seconds: float) -> Lease:
    then = (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat()
    return Lease("kube-system", "gpupool-a", "ann@host/7/1f8a77c2", 60, then, then, 0)


@pytest.mark.parametrize(("seconds", "words"), AGES.items())
def test_it_was_renewed_so_long_ago(seconds: int, words: str) -> None:
    (renewed,) = [line for line in held(lease(seconds)).splitlines() if line.startswith("renewed")]

    alive = "it holds for 60 s" if seconds < 60 else "which is too long: that run seems dead"
    assert renewed.endswith(f", {words}; {alive}")


def test_a_clock_that_is_behind() -> None:
    assert ", 0 s ago; it holds for 60 s" in held(lease(-500))
