"""Checks of disruption windows: their days, hours and time zones.

They are made even where a value has another type than its field, which is reported elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpupool.blueprint.timezones import find_similar_timezones, timezone_names
from gpupool.blueprint.windows import WindowValueError, parse_days, parse_hours
from gpupool.codes import Code
from gpupool.findings import Finding
from gpupool.yamlio.located import place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.blueprint.model import Blueprint
    from gpupool.blueprint.pool import PoolFields, TieredPoolFields
    from gpupool.shapes.fields import LocatedItems
    from gpupool.yamlio.located import Located


def check_blueprint_windows(blueprint: Blueprint) -> Iterator[Finding]:
    """Yield errors in the windows of a blueprint file, and in its cluster's time zone."""
    yield from _check_timezone(blueprint.cluster.timezone, "cluster.timezone")
    yield from _check_windows(blueprint.defaults.pool, "defaults.pool")
    for name, pool in blueprint.pools.items():
        yield from check_pool_windows(pool, f"pools.{name}")


def check_pool_windows(pool: TieredPoolFields, path: str) -> Iterator[Finding]:
    """Yield errors in the windows of a pool and its tiers."""
    yield from _check_windows(pool, path)
    for name, tier in pool.tiers.items():
        yield from _check_windows(tier, f"{path}.tiers.{name}")


def _check_windows(pool: PoolFields, path: str) -> Iterator[Finding]:
    disruption = pool.disruption
    for kind, windows in (("protect", disruption.protect), ("maintenance", disruption.maintenance)):
        for window in windows:
            at = f"{path}.disruption.{kind}"
            yield from _check_days(window.days, f"{at}.days")
            yield from _check_hours(window.hours, f"{at}.hours")
            yield from _check_timezone(window.timezone, f"{at}.timezone")


def _check_days(days: LocatedItems[str], path: str) -> Iterator[Finding]:
    node, values = days.node, [item.value for item in days]
    if node is not None and values and all(isinstance(value, str) for value in values):
        try:
            parse_days(values)
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
