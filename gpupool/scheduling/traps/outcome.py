"""What comes of the whole: nothing at all, limits that admit nothing, and what can't be judged."""

from collections.abc import Iterator, Mapping

from gpupool.codes import Code
from gpupool.findings import Severity
from gpupool.scheduling.limits import NODES, exceeded, written
from gpupool.scheduling.traps.trap import REQUIREMENTS, Asked, Trap, count, info, listed, warning
from gpupool.scheduling.types.typemasks import positions


def nothing(asked: Asked) -> Iterator[Trap]:
    """Find that a pool launches nothing."""
    found = asked.found
    if found.match.launchable or not found.market.judged or found.reserved:
        return
    few = values_left(found.match.too_few)
    first = next(iter(found.candidates), None)
    why = few or (f"{first.kind.name}: {first.reason}" if first else "no type meets all of its conditions")
    message = f"the pool launches nothing: {why}"
    yield Trap(Code.NOTHING_LEFT, Severity.ERROR, message, "ask `--why TYPE` about a type that is meant")


def values_left(too_few: Mapping[str, tuple[int, int]]) -> str:
    """Say of which labels there are too few values."""
    return "; ".join(
        f"`{key}` has {count(left, 'different value')}, and minValues asks for {least}"
        for key, (left, least) in too_few.items()
    )


def limits(asked: Asked) -> Iterator[Trap]:
    """Find limits below a single node, and the one that Karpenter may overrun."""
    found = asked.found
    types = list(positions(found.match.launchable))
    over = {place: exceeded(found.market.capacity(place), found.pool.limits) for place in types}
    for name in found.pool.limits:
        kept = [found.market.kind(place).name for place, which in over.items() if name in which]
        if kept:
            which = f"{len(kept)} of {len(types)} types" if len(kept) < len(types) else "every type"
            said = asked.at(("spec", "limits", name))
            below = f"the limit `{name}: {said}` is below a single node of {which}"
            message = f"{below}, which never launch{'es' * (len(kept) == 1)}: {listed(kept)}"
            fix = "raise it, or leave them out"
            yield warning(Code.LIMIT_BELOW_NODE, message, ("spec", "limits", name), fix)
    for name, most in found.reaches.items():
        if 0 < most.amount < found.pool.limits[name]:
            said = asked.at(("spec", "limits", name))
            used = written(name, int(most.amount))
            message = f"the limit `{name}: {said}` is never used up: {used} of it at most"
            yield info(Code.LIMIT_NOT_REACHED, message, ("spec", "limits", name))
    if found.too_few_in_limits and len(over) > sum(map(bool, over.values())):
        few = values_left(found.too_few_in_limits)
        message = f"the limits leave too few types, so that the pool launches nothing: {few}"
        yield Trap(Code.NOTHING_LEFT, Severity.ERROR, message, "raise the limits", ("spec", "limits"))
    if [*found.pool.limits] == [NODES]:
        message = "`nodes` alone is soft: pods that come together may get more nodes than that"
        yield info(Code.SOFT_NODES, message, ("spec", "limits", NODES), "limit accelerators or cpu as well")


def open_questions(asked: Asked) -> Iterator[Trap]:
    """Say what is left open."""
    market = asked.found.market
    if not market.judged:
        region = f"the catalogue does not know {market.region}" if market.region else "no region is named"
        message = f"{region}: zones, prices and what is offered are not judged"
        yield info(Code.NOT_JUDGED, message, REQUIREMENTS, "say `cluster.region` or --region")
    if asked.found.reserved:
        message = "what capacity reservations offer is not judged: only AWS knows which types they are for"
        yield info(Code.NOT_JUDGED, message, REQUIREMENTS)
    if market.node_class.placement_group:
        message = "whether types can be in the placement group is not judged: only AWS knows its strategy"
        yield info(Code.NOT_JUDGED, message, REQUIREMENTS)
    yield from _overlays(asked)


def _overlays(asked: Asked) -> Iterator[Trap]:
    """Say which NodeOverlays don't count, or not everywhere."""
    overlaid, types = asked.found.market.overlaid, asked.found.match.launchable
    for name in overlaid.refused:
        message = f"NodeOverlay `{name}` counts for nothing: it contradicts another one of its weight"
        yield warning(Code.OVERLAY_NOT_COUNTED, message, REQUIREMENTS, "give one of them another weight")
    for name in sorted(name for name, mask in overlaid.partly.items() if mask & types):
        some = f"NodeOverlay `{name}` has a price for some zones or capacity types only"
        message = f"{some}: it counts for types whose on-demand price is the same in all zones"
        yield info(Code.OVERLAY_NOT_COUNTED, message, REQUIREMENTS)
