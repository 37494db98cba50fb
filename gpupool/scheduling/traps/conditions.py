"""Conditions that mean something else than they seem to."""

from collections.abc import Iterator

from gpupool.codes import Code
from gpupool.karpenter import labels
from gpupool.karpenter.requirements import Requirement
from gpupool.scheduling.traps.trap import (
    ACCELERATOR_LABELS,
    Trap,
    TrapSubject,
    count_accelerators,
    format_count,
    list_names,
    warning,
)
from gpupool.scheduling.types.typemasks import Mask


def find_contradictions(asked: TrapSubject) -> Iterator[Trap]:
    """Find labels on which no value is left: Karpenter reads that as a machine without the label."""
    keys = dict.fromkeys(each.key for each in asked.entries)
    for key in keys:
        mine = [each for each in asked.entries if each.key == key]
        empty = asked.found.requirements[key].operator == "DoesNotExist"
        if empty and all(each.operator != "DoesNotExist" for each in mine):
            kept = asked.found.match.launchable.bit_count()
            message = f"requirements on `{key}` conflict, which Karpenter reads as DoesNotExist"
            launches = f": it launches {format_count(kept, 'type')} without that label" if kept else ""
            fix = "set requirements that some value meets"
            yield warning(Code.CONTRADICTION, message + launches, asked.path(key), fix)


def find_types_without_accelerator(asked: TrapSubject) -> Iterator[Trap]:
    """Find machines without an accelerator in a pool that is meant for them."""
    plain = [each for each in asked.launchable if not count_accelerators(each) and not each.kind.gpus]
    if not plain or not asked.for_accelerators:
        return
    key = next((key for key in ACCELERATOR_LABELS if _forgives(asked, key)), "")
    message = f"the pool also matches {format_count(len(plain), 'type')} without a GPU or Neuron device: {list_names(plain)}"
    if key:
        wanted = asked.found.requirements[key]
        bounded = wanted.gte is not None or wanted.lte is not None
        said = "NotIn beside a bound" if bounded else "NotIn"
        message += f"; `{key}` with {said} also matches instance types without the label"
    wanted_ones = "list the values with In"
    fix = f"{wanted_ones}; Exists or a bound beside NotIn does not exclude such types" if key else wanted_ones
    yield warning(Code.CPU_TYPES, message, asked.path(key), fix)


def find_dead_values(asked: TrapSubject) -> Iterator[Trap]:
    """Find values that no machine of the pool has: a family whose sizes are all left out, for example."""
    market, launchable = asked.found.market, asked.found.match.launchable
    for each in asked.entries:
        if each.complement or not launchable or not market.masks.knows(each.key):
            continue
        if each.key == labels.CAPACITY_TYPE or asked.found.requirements[each.key].operator == "DoesNotExist":
            continue
        for value in sorted(each.values):
            having = market.taken(Requirement(each.key, False, frozenset((value,))))
            if not having & launchable:
                cause = _why_dead(asked, each.key, value, having)
                message = f"`{value}` matches no instance type of the pool: {cause}"
                fix = "remove it, or change what excludes it"
                yield warning(Code.DEAD_VALUE, message, asked.path(each.key, value), fix)


def _why_dead(asked: TrapSubject, key: str, value: str, having: Mask) -> str:
    found = asked.found
    if not having:
        return f"no instance type has `{key}` {value}"
    if not having & found.match.candidates:
        guilty = sorted(
            other
            for other, wanted in found.requirements.items()
            if other != key and not found.market.taken(wanted) & having
        )
        which = f"`{'`, `'.join(guilty)}`" if guilty else "the other requirements together"
        return f"{which} exclude{'s' * (len(guilty) == 1)} its {format_count(having.bit_count(), 'type')}"
    place = found.market.catalogue.position
    kept = next(each for each in found.candidates if having >> (place(each.kind.name) or 0) & 1)
    return f"{kept.kind.name} is {kept.reason}" if kept.reason.startswith(("not", "offered")) else kept.reason


def _forgives(asked: TrapSubject, key: str) -> bool:
    said = asked.found.requirements.get(key)
    return said is not None and said.operator == "NotIn"
