"""Mistakes in disruption windows, all of them at once: days, hours and time zones, each at its own place."""

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
    """Yield what is wrong with the windows of a blueprint file, and with its cluster's time zone."""
    yield from _timezone(find(blueprint, "cluster", "timezone"), "cluster.timezone")
    yield from check_windows(find(blueprint, "defaults"), "defaults")
    for name, pool in mapping(find(blueprint, "pools")).items():
        yield from check_windows(pool, f"pools.{name}")
        for tier, words in mapping(find(pool, "tiers")).items():
            yield from check_windows(words, f"pools.{name}.tiers.{tier}")


def check_windows(pool: Located | None, path: str) -> Iterator[Finding]:
    """Yield what is wrong with the windows of one pool, tier or profile."""
    for kind in KINDS:
        said = find(pool, "disruption", kind)
        listed = items(said) or ([] if said is None else [said])
        for window in listed:
            at = f"{path}.disruption.{kind}"
            yield from _days(find(window, "days"), f"{at}.days")
            yield from _hours(find(window, "hours"), f"{at}.hours")
            yield from _timezone(find(window, "timezone"), f"{at}.timezone")


def _days(said: Located | None, path: str) -> Iterator[Finding]:
    words = [each.value for each in items(said)] or ([] if said is None else [said.value])
    if said is not None and words and all(isinstance(word, str) for word in words):
        try:
            parse_days([str(word) for word in words])
        except WindowValueError as problem:
            yield Finding(Code.DAYS_OR_HOURS, str(problem), place(said), problem.fix, path=path)


def _hours(said: Located | None, path: str) -> Iterator[Finding]:
    if said is not None and isinstance(said.value, str):
        try:
            parse_hours(said.value)
        except WindowValueError as problem:
            yield Finding(Code.DAYS_OR_HOURS, str(problem), place(said), problem.fix, path=path)


def _timezone(said: Located | None, path: str) -> Iterator[Finding]:
    if said is None or not isinstance(said.value, str) or said.value in timezone_names():
        return
    nearest = " or ".join(f"`{name}`" for name in find_similar_timezones(said.value))
    fix = f"did you mean {nearest}?" if nearest else "write an IANA name such as `America/New_York` or `UTC`"
    yield Finding(Code.TIMEZONE, f"unknown time zone `{said.value}`", place(said), fix, path=path)
