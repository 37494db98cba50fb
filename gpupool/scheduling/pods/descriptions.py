"""Text forms of resource amounts and requirements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpupool.scheduling.types.capacity import ACCELERATORS, MEMORY, STORAGE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpupool.karpenter.pods import Resources
    from gpupool.karpenter.quantities import Amount
    from gpupool.karpenter.requirements import Requirement

_MOST_SHOWN = 5
_HUGE_PAGES = "hugepages-"
_UNITS: Final = {"Gi": 1 << 30, "Mi": 1 << 20, "Ki": 1 << 10, "": 1}


def format_resource(name: str, amount: Amount) -> str:
    """Return an amount with its resource: `8 nvidia.com/gpu`, `13.8Gi memory`, `3.92 cpu`."""
    return f"{format_amount(name, amount)} {name}"


def format_amount(name: str, amount: Amount) -> str:
    """Return an amount without its resource's name; bytes are rounded, in a unit that leaves few digits."""
    if name in (MEMORY, STORAGE) or name.startswith(_HUGE_PAGES):
        unit = next((unit for unit, size in _UNITS.items() if amount >= size or -amount >= size), "")
        return f"{float(amount) / _UNITS[unit]:.1f}".removesuffix(".0") + unit
    return str(amount) if isinstance(amount, int) else f"{amount.normalize():f}"


def format_requests(requests: Resources) -> str:
    """Return a pod's requests as text, accelerators first, without `pods`."""
    nonzero = [(name, amount) for name, amount in requests.items() if name != "pods" and amount]
    nonzero.sort(key=lambda entry: (rank_resource(entry[0]), entry[0]))
    return ", ".join(format_resource(name, amount) for name, amount in nonzero) or "no resources"


def rank_resource(name: str) -> int:
    """Return the rank of a resource: accelerators first, resources of every node last."""
    if name in ACCELERATORS:
        return 0
    return 1 if "/" in name else 2


def format_requirement(requirement: Requirement) -> str:
    """Return a requirement as one condition: `kubernetes.io/arch=arm64`, `instance-family in [g5, g6]`."""
    bounds = [
        f"{sign} {bound}"
        for sign, bound in ((">=", requirement.gte), ("<=", requirement.lte))
        if bound is not None
    ]
    if bounds:
        return f"{requirement.key} {' and '.join(bounds)}"
    if requirement.operator in ("Exists", "DoesNotExist"):
        return f"{'the' if requirement.is_complement else 'no'} label {requirement.key}"
    if len(requirement.values) == 1 and not requirement.is_complement:
        return f"{requirement.key}={next(iter(requirement.values))}"
    relation = "not in" if requirement.is_complement else "in"
    return f"{requirement.key} {relation} [{format_values(requirement.values)}]"


def format_values(values: Iterable[str]) -> str:
    """Return the first values in order, and the number of others."""
    ordered = sorted(set(values), key=lambda value: (int(value) if value.isdecimal() else 0, value))
    others = len(ordered) - _MOST_SHOWN
    return ", ".join(ordered[:_MOST_SHOWN]) + (f" and {others} others" if others > 0 else "")
