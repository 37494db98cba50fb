"""Lint rules about pools without types, limits, and checks that are not possible."""

from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import Final

from gpupool.codes import Code
from gpupool.findings import Severity
from gpupool.scheduling.limits import NODES, find_exceeded_limits, format_limit
from gpupool.scheduling.traps.trap import (
    REQUIREMENTS,
    Trap,
    TrapSubject,
    format_count,
    info,
    list_first,
    warning,
)
from gpupool.scheduling.types.typemasks import positions

_TYPO: Final = 0.9


def find_no_types(subject: TrapSubject) -> Iterator[Trap]:
    """Find that a pool can't launch any type."""
    explained = subject.explained
    if explained.match.launchable or not explained.market.is_judged or explained.can_use_reservations:
        return
    too_few = describe_too_few_values(explained.match.too_few)
    first = next(iter(explained.candidates), None)
    reason = too_few or (
        f"{first.kind.name} is excluded ({first.reason})"
        if first
        else "no instance type meets all requirements"
    )
    message = f"the pool can't launch a node: {reason}"
    yield Trap(
        Code.NOTHING_LEFT,
        Severity.ERROR,
        message,
        f"run `gpupool explain {explained.pool.name} --why TYPE` for a type that should match",
    )


def describe_too_few_values(too_few: Mapping[str, tuple[int, int]]) -> str:
    """Describe the labels with too few values."""
    return "; ".join(
        f"`{key}` has {format_count(value_count, 'different value')}, and minValues requires {least}"
        for key, (value_count, least) in too_few.items()
    )


def find_limit_problems(subject: TrapSubject) -> Iterator[Trap]:
    """Find limits below a single node, limits that are never reached, and limits on `nodes` alone."""
    explained = subject.explained
    types = list(positions(explained.match.launchable))
    exceeded_by_type = {
        position: find_exceeded_limits(explained.market.capacity(position), explained.pool.limits)
        for position in types
    }
    for name in explained.pool.limits:
        below_node = [
            explained.market.kind(position).name
            for position, which in exceeded_by_type.items()
            if name in which
        ]
        if below_node:
            which = (
                f"{len(below_node)} of {len(types)} types" if len(below_node) < len(types) else "every type"
            )
            value = subject.at(("spec", "limits", name))
            summary = f"limit `{name}: {value}` excludes {which}, because one node has more"
            message = f"{summary}: {list_first(below_node)}"
            fix = "raise the limit, or exclude these types"
            yield warning(Code.LIMIT_BELOW_NODE, message, ("spec", "limits", name), fix)
    for name, usable in explained.usable_limits.items():
        if 0 < usable.amount < explained.pool.limits[name]:
            value = subject.at(("spec", "limits", name))
            usable_text = format_limit(name, int(usable.amount))
            message = f"limit `{name}: {value}` is never reached: the pool can use {usable_text} at most"
            yield info(Code.LIMIT_NOT_REACHED, message, ("spec", "limits", name))
    if explained.too_few_in_limits and len(exceeded_by_type) > sum(map(bool, exceeded_by_type.values())):
        too_few = describe_too_few_values(explained.too_few_in_limits)
        message = f"the limits leave too few instance types, so the pool can't launch a node: {too_few}"
        yield Trap(Code.NOTHING_LEFT, Severity.ERROR, message, "raise the limits", ("spec", "limits"))
    if [*explained.pool.limits] == [NODES]:
        message = "a limit on `nodes` alone can be exceeded when many pods arrive at once"
        yield info(Code.SOFT_NODES, message, ("spec", "limits", NODES), "also limit accelerators or cpu")


def find_open_questions(subject: TrapSubject) -> Iterator[Trap]:
    """Find what can't be checked offline."""
    market = subject.explained.market
    if not market.is_judged:
        region = f"region {market.region} is not in the catalogue" if market.region else "no region is set"
        message = f"{region}: zones, prices and offerings are not checked"
        yield info(
            Code.NOT_JUDGED, message, REQUIREMENTS, _region_fix(market.region, market.catalogue.regions)
        )
    if subject.explained.can_use_reservations:
        message = "capacity reservations are not checked: only AWS knows their instance types"
        yield info(Code.NOT_JUDGED, message, REQUIREMENTS)
    if market.node_class.has_placement_group:
        message = "the placement group is not checked: only AWS knows its strategy"
        yield info(Code.NOT_JUDGED, message, REQUIREMENTS)
    yield from _find_overlay_problems(subject)


def _region_fix(region: str | None, regions: Collection[str]) -> str:
    if not region:
        return "set `cluster.region` or `--region`"
    refresh = f"run `gpupool catalogue refresh --region {region}`"
    matches = sorted(get_close_matches(region, regions, n=2, cutoff=_TYPO))
    listed = " or ".join(f"`{match}`" for match in matches)
    return f"did you mean {listed}? If not, {refresh}" if matches else refresh


def _find_overlay_problems(subject: TrapSubject) -> Iterator[Trap]:
    """Find NodeOverlays that are ignored, or apply only to some offerings."""
    overlaid, types = subject.explained.market.overlaid, subject.explained.match.launchable
    for name in overlaid.ignored:
        message = f"NodeOverlay `{name}` is ignored: it conflicts with another one of the same weight"
        yield warning(
            Code.OVERLAY_NOT_COUNTED, message, REQUIREMENTS, "set a different weight in one of them"
        )
    for name in sorted(name for name, mask in overlaid.partly.items() if mask & types):
        summary = f"NodeOverlay `{name}` sets a price for some zones or capacity types only"
        message = f"{summary}: it is used for types whose on-demand price is the same in all zones"
        yield info(Code.OVERLAY_NOT_COUNTED, message, REQUIREMENTS)
