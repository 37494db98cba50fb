"""Lint rules about requirements with an unexpected meaning."""

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


def find_contradictions(subject: TrapSubject) -> Iterator[Trap]:
    """Find labels without a possible value, which Karpenter reads as types without the label."""
    keys = dict.fromkeys(entry.key for entry in subject.entries)
    for key in keys:
        conditions = [entry for entry in subject.entries if entry.key == key]
        is_empty = subject.explained.requirements[key].operator == "DoesNotExist"
        if is_empty and all(entry.operator != "DoesNotExist" for entry in conditions):
            launchable = subject.explained.match.launchable.bit_count()
            message = f"requirements on `{key}` conflict, which Karpenter reads as DoesNotExist"
            launches = (
                f": it launches {format_count(launchable, 'type')} without that label" if launchable else ""
            )
            fix = "change the requirements so that one value meets all of them"
            yield warning(Code.CONTRADICTION, message + launches, subject.path(key), fix)


def find_types_without_accelerator(subject: TrapSubject) -> Iterator[Trap]:
    """Find types without an accelerator in a pool that is meant for accelerators."""
    plain = [
        candidate
        for candidate in subject.launchable
        if not count_accelerators(candidate) and not candidate.kind.gpus
    ]
    if not plain or not subject.is_for_accelerators:
        return
    key = next((key for key in ACCELERATOR_LABELS if _matches_absence(subject, key)), "")
    types = format_count(len(plain), "type")
    message = f"the pool also matches {types} without a GPU or Neuron device: {list_names(plain)}"
    if key:
        requirement = subject.explained.requirements[key]
        is_bounded = requirement.gte is not None or requirement.lte is not None
        operator = "NotIn beside a bound" if is_bounded else "NotIn"
        message += f"; `{key}` with {operator} also matches instance types without the label"
    fix_values = "list the values with In"
    fix = f"{fix_values}; Exists or a bound beside NotIn does not exclude such types" if key else fix_values
    yield warning(Code.CPU_TYPES, message, subject.path(key), fix)


def find_dead_values(subject: TrapSubject) -> Iterator[Trap]:
    """Find values that no type of the pool has, such as a family whose sizes are all excluded."""
    market, launchable = subject.explained.market, subject.explained.match.launchable
    for entry in subject.entries:
        if entry.is_complement or not launchable or not market.masks.has_label(entry.key):
            continue
        if (
            entry.key == labels.CAPACITY_TYPE
            or subject.explained.requirements[entry.key].operator == "DoesNotExist"
        ):
            continue
        for value in sorted(entry.values):
            types_with_value = market.find_types(Requirement(entry.key, False, frozenset((value,))))
            if not types_with_value & launchable:
                cause = _describe_cause(subject, entry.key, value, types_with_value)
                message = f"`{value}` matches no instance type of the pool: {cause}"
                fix = "remove it, or change what excludes it"
                yield warning(Code.DEAD_VALUE, message, subject.path(entry.key, value), fix)


def _describe_cause(subject: TrapSubject, key: str, value: str, types_with_value: Mask) -> str:
    explained = subject.explained
    if not types_with_value:
        return f"no instance type has `{key}` {value}"
    if not types_with_value & explained.match.candidates:
        excluding = sorted(
            other
            for other, requirement in explained.requirements.items()
            if other != key and not explained.market.find_types(requirement) & types_with_value
        )
        cause = f"`{'`, `'.join(excluding)}`" if excluding else "the other requirements together"
        excluded = format_count(types_with_value.bit_count(), "type")
        return f"{cause} exclude{'s' * (len(excluding) == 1)} its {excluded}"
    find_position = explained.market.catalogue.position
    candidate = next(
        candidate
        for candidate in explained.candidates
        if types_with_value >> (find_position(candidate.kind.name) or 0) & 1
    )
    return (
        f"{candidate.kind.name} is {candidate.reason}"
        if candidate.reason.startswith(("not", "offered"))
        else candidate.reason
    )


def _matches_absence(subject: TrapSubject, key: str) -> bool:
    requirement = subject.explained.requirements.get(key)
    return requirement is not None and requirement.operator == "NotIn"
