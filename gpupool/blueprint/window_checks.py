"""Checks of disruption windows: their days, hours and time zones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpupool.blueprint.timezones import find_similar_timezones, timezone_names
from gpupool.blueprint.windows import WindowValueError, parse_days, parse_hours
from gpupool.codes import Code
from gpupool.findings import Finding
from gpupool.yamlio.located import find, items, mapping, place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.yamlio.located import Located

KINDS: Final = ("protect", "maintenance")


def check_blueprint_windows(blueprint: Located) -> Iterator[Finding]:
    """Yield errors in the windows of a blueprint file, and in its cluster's time zone."""
    yield from _check_timezone(find(blueprint, "cluster", "timezone"), "cluster.timezone")
    yield from check_pool_windows(find(blueprint, "defaults", "pool"), "defaults.pool")
    for name, pool in mapping(find(blueprint, "pools")).items():
        yield from check_pool_windows(pool, f"pools.{name}")


def check_pool_windows(pool: Located | None, path: str) -> Iterator[Finding]:
    """Yield errors in the windows of a pool and its tiers."""
    yield from _check_windows(pool, path)
    for name, tier in mapping(find(pool, "tiers")).items():
        yield from _check_windows(tier, f"{path}.tiers.{name}")


def _check_windows(pool: Located | None, path: str) -> Iterator[Finding]:
    for kind in KINDS:
        setting = find(pool, "disruption", kind)
        for window in items(setting) or ([] if setting is None else [setting]):
            at = f"{path}.disruption.{kind}"
            yield from _check_days(find(window, "days"), f"{at}.days")
            yield from _check_hours(find(window, "hours"), f"{at}.hours")
            yield from _check_timezone(find(window, "timezone"), f"{at}.timezone")


def _check_days(node: Located | None, path: str) -> Iterator[Finding]:
    values = [item.value for item in items(node)] or ([] if node is None else [node.value])
    if node is not None and values and all(isinstance(value, str) for value in values):
        try:
            parse_days([str(value) for value in values])
        except WindowValueError as problem:
            yield Finding(Code.DAYS_OR_HOURS, str(problem), place(node), problem.fix, path=path)


def _check_hours(node: Located | None, path: str) -> Iterator[Finding]:
    if node is not None and isinstance(node.value, str):
        try:
            parse_hours(node.value)
        except WindowValueError as problem:
            yield Finding(Code.DAYS_OR_HOURS, str(problem), place(node), problem.fix, path=path)


def _check_timezone(node: Located | None, path: str) -> Iterator[Finding]:
    if node is None or not isinstance(node.value, str) or node.value in timezone_names():
        return
    nearest = " or ".join(f"`{name}`" for name in find_similar_timezones(node.value))
    fix = f"did you mean {nearest}?" if nearest else "write an IANA name such as `America/New_York` or `UTC`"
    yield Finding(Code.TIMEZONE, f"unknown time zone `{node.value}`", place(node), fix, path=path)
