"""Errors in the days, hours and time zones of windows, wherever a blueprint or a profile sets them."""

import pytest

from gpupool.blueprint.model import Blueprint
from gpupool.blueprint.pool import TieredPoolFields
from gpupool.blueprint.window_checks import check_blueprint_windows, check_pool_windows
from gpupool.yamlio.located import Located
from gpupool.yamlio.read import read

WRONG = "{disruption: {maintenance: {days: mon-fr, hours: 9-17, timezone: Europe/Berlni}}}"


def located(text: str) -> Located:
    node = read(text.encode(), "file.yaml").node
    assert node is not None
    return node


@pytest.mark.parametrize(
    ("timezone", "fix"),
    [
        ("america/new_york", "did you mean `America/New_York`?"),
        ("Europe/Berln", "did you mean `Europe/Berlin`"),
        ("New York", "did you mean `America/New_York`?"),
        ("Berlin", "did you mean `Europe/Berlin`?"),
        ("../etc/passwd", "write an IANA name such as `America/New_York` or `UTC`"),
        ("", "write an IANA name such as `America/New_York` or `UTC`"),
    ],
)
def test_an_unknown_time_zone_names_its_window_and_the_nearest(timezone: str, fix: str) -> None:
    pool = located(f'disruption: {{maintenance: [{{days: sat, timezone: UTC}}, {{timezone: "{timezone}"}}]}}')
    (finding,) = check_pool_windows(TieredPoolFields(pool), "pools.a")
    assert finding.message == f"unknown time zone `{timezone}`"
    assert finding.path == "pools.a.disruption.maintenance.timezone"
    assert finding.at.column > 60
    assert finding.fix.startswith(fix)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (f"{{pools: {{a: {WRONG}}}}}", "pools.a"),
        (f"{{pools: {{a: {{tiers: {{b: {WRONG}}}}}}}}}", "pools.a.tiers.b"),
        (f"{{defaults: {{pool: {WRONG}}}}}", "defaults.pool"),
    ],
)
def test_windows_are_checked_wherever_a_blueprint_sets_them(text: str, path: str) -> None:
    paths = [finding.path for finding in check_blueprint_windows(Blueprint(located(text)))]
    assert paths == [f"{path}.disruption.maintenance.{field}" for field in ("days", "hours", "timezone")]


def test_windows_of_a_profile_and_of_its_tiers_are_checked() -> None:
    fields = TieredPoolFields(located(f"tiers: {{b: {WRONG}}}"))
    paths = [finding.path for finding in check_pool_windows(fields, "pool")]
    assert [path.rpartition(".")[2] for path in paths] == ["days", "hours", "timezone"]
