"""What comes of the whole: nothing at all, limits that admit nothing, and what can't be judged."""

from collections.abc import Iterator, Mapping

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


def find_no_types(asked: TrapSubject) -> Iterator[Trap]:
    """Find that a pool launches nothing."""
    found = asked.found
    if found.match.launchable or not found.market.judged or found.reserved:
        return
    few = describe_too_few_values(found.match.too_few)
    first = next(iter(found.candidates), None)
    why = few or (
        f"{first.kind.name}: {first.reason}" if first else "no instance type meets all requirements"
    )
    message = f"the pool can't launch a node: {why}"
    yield Trap(
        Code.NOTHING_LEFT,
        Severity.ERROR,
        message,
        f"run `gpupool explain {found.pool.name} --why TYPE` for a type that should match",
    )


def describe_too_few_values(too_few: Mapping[str, tuple[int, int]]) -> str:
    """Say of which labels there are too few values."""
    return "; ".join(
        f"`{key}` has {format_count(left, 'different value')}, and minValues requires {least}"
        for key, (left, least) in too_few.items()
    )


def find_limit_problems(asked: TrapSubject) -> Iterator[Trap]:
    """Find limits below a single node, and the one that Karpenter may overrun."""
    found = asked.found
    types = list(positions(found.match.launchable))
    over = {place: find_exceeded_limits(found.market.capacity(place), found.pool.limits) for place in types}
    for name in found.pool.limits:
        kept = [found.market.kind(place).name for place, which in over.items() if name in which]
        if kept:
            which = f"{len(kept)} of {len(types)} types" if len(kept) < len(types) else "every type"
            said = asked.at(("spec", "limits", name))
            below = f"limit `{name}: {said}` is below a single node of {which}"
            message = f"{below}, which never launch{'es' * (len(kept) == 1)}: {list_first(kept)}"
            fix = "raise the limit, or exclude these types"
            yield warning(Code.LIMIT_BELOW_NODE, message, ("spec", "limits", name), fix)
    for name, most in found.usable_limits.items():
        if 0 < most.amount < found.pool.limits[name]:
            said = asked.at(("spec", "limits", name))
            used = format_limit(name, int(most.amount))
            message = f"limit `{name}: {said}` is never reached: the pool can use {used} at most"
            yield info(Code.LIMIT_NOT_REACHED, message, ("spec", "limits", name))
    if found.too_few_in_limits and len(over) > sum(map(bool, over.values())):
        few = describe_too_few_values(found.too_few_in_limits)
        message = f"the limits leave too few instance types, so the pool can't launch a node: {few}"
        yield Trap(Code.NOTHING_LEFT, Severity.ERROR, message, "raise the limits", ("spec", "limits"))
    if [*found.pool.limits] == [NODES]:
        message = "a limit on `nodes` alone can be exceeded when many pods arrive at once"
        yield info(Code.SOFT_NODES, message, ("spec", "limits", NODES), "also limit accelerators or cpu")


def find_open_questions(asked: TrapSubject) -> Iterator[Trap]:
    """Yield what is left open."""
    market = asked.found.market
    if not market.judged:
        region = f"region {market.region} is not in the catalogue" if market.region else "no region is set"
        message = f"{region}: zones, prices and offerings are not checked"
        yield info(Code.NOT_JUDGED, message, REQUIREMENTS, "set `cluster.region` or `--region`")
    if asked.found.reserved:
        message = "capacity reservations are not checked: only AWS knows their instance types"
        yield info(Code.NOT_JUDGED, message, REQUIREMENTS)
    if market.node_class.placement_group:
        message = "the placement group is not checked: only AWS knows its strategy"
        yield info(Code.NOT_JUDGED, message, REQUIREMENTS)
    yield from _overlays(asked)


def _overlays(asked: TrapSubject) -> Iterator[Trap]:
    """Yield which NodeOverlays don't count, or not everywhere."""
    overlaid, types = asked.found.market.overlaid, asked.found.match.launchable
    for name in overlaid.refused:
        message = f"NodeOverlay `{name}` is ignored: it conflicts with another one of the same weight"
        yield warning(
            Code.OVERLAY_NOT_COUNTED, message, REQUIREMENTS, "set a different weight in one of them"
        )
    for name in sorted(name for name, mask in overlaid.partly.items() if mask & types):
        some = f"NodeOverlay `{name}` sets a price for some zones or capacity types only"
        message = f"{some}: it is used for types whose on-demand price is the same in all zones"
        yield info(Code.OVERLAY_NOT_COUNTED, message, REQUIREMENTS)
