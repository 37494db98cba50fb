"""Times, as options take them."""

import pytest

from gpupool.cli.cluster_options import parse_seconds
from gpupool.errors import UsageError


@pytest.mark.parametrize(
    ("said", "meant"), [("90", 90.0), ("90s", 90.0), ("1.5m", 90.0), ("10m", 600.0), ("1h", 3_600.0)]
)
def test_a_time(said: str, meant: float) -> None:
    assert parse_seconds("--timeout", said) == meant


@pytest.mark.parametrize("said", ["", "s", "0", "-1", "1d", "ten", "nan", "inf", "1m30s"])
def test_what_is_no_time(said: str) -> None:
    with pytest.raises(UsageError, match=rf"--timeout {said}: expected a duration such as 90s, 10m or 1h"):
        parse_seconds("--timeout", said)
