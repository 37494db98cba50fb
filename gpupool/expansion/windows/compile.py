"""Compiler of disruption windows in local time to UTC budgets.

Karpenter's budgets only restrict, and the smallest active budget applies. A `protect` window becomes a budget
for its hours. A `maintenance` window becomes a budget of 0 outside its hours, and a cap inside. In a month
with a daylight saving change, the result is on the safe side: nodes are protected at the hours before and
after the change, and maintenance is open only at the hours that both have.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from gpupool.blueprint.windows import REASON_ORDER, Window
from gpupool.expansion.windows.budgets import (
    MAX_BUDGETS,
    BudgetCause,
    CompiledBudget,
    join_budgets,
    remove_owned_reasons,
    to_karpenter_reasons,
)
from gpupool.expansion.windows.notes import WindowNote, find_maintenance_notes, find_protect_notes
from gpupool.expansion.windows.schedules import ALL_DAYS, build_schedules
from gpupool.expansion.windows.utc_stretches import find_closed_stretches, find_occurrences
from gpupool.expansion.windows.week import DAY
from gpupool.karpenter.budgets import DisruptionBudget

_Group: TypeAlias = tuple[tuple[int, ...], tuple[str, ...]]


class WindowError(Exception):
    """A window that cannot be compiled: its cause, the message and the fix."""

    def __init__(self, cause: BudgetCause, message: str, fix: str) -> None:
        super().__init__(message)
        self.cause = cause
        self.message = message
        self.fix = fix


class CompiledBudgets(NamedTuple):
    """The budgets of a NodePool, and notes about them."""

    budgets: tuple[CompiledBudget, ...]
    notes: tuple[WindowNote, ...]


def compile_budgets(
    own: Sequence[DisruptionBudget] | None, protect: Sequence[Window], maintenance: Sequence[Window]
) -> CompiledBudgets:
    """Compile windows to budgets, in addition to the pool's own budgets.

    Maintenance windows replace always-on budgets on their reasons. Where windows overlap, the smaller
    number applies. `own` is None where the blueprint has no budgets: with windows, Karpenter's implicit 10%
    is then rendered explicitly. Without windows, `own` is returned unchanged, and None as no budgets.

    Raises:
        WindowError: for more budgets than a NodePool can have.
        UnknownTimezoneError: for an unknown time zone.
    """
    return _compile(None if own is None else tuple(own), tuple(protect), tuple(maintenance))


@lru_cache(maxsize=1024)
def _compile(
    own: tuple[DisruptionBudget, ...] | None, protect: tuple[Window, ...], maintenance: tuple[Window, ...]
) -> CompiledBudgets:
    windows: list[tuple[BudgetCause, Window]] = [
        (("protect", index), window) for index, window in enumerate(protect)
    ]
    windows += [(("maintenance", index), window) for index, window in enumerate(maintenance)]
    owned = frozenset[str]().union(*(window.reasons for window in maintenance))
    budgets = [*remove_owned_reasons(own, owned)] if windows or own else []
    budgets += join_budgets(
        budget
        for cause, window in windows
        if cause[0] == "protect"
        for budget in _build_budgets(cause, window)
    )
    groups = _group_reasons(maintenance)
    budgets += join_budgets(cap for group in groups for cap in _build_caps(group, maintenance))
    budgets += join_budgets(closure for group in groups for closure in _build_closures(group, maintenance))
    _check_count(budgets)
    return CompiledBudgets(tuple(budgets), tuple(_find_notes(protect, maintenance, groups)))


def _check_count(budgets: list[CompiledBudget]) -> None:
    """Raise a WindowError for the first window beyond the maximum number of budgets."""
    excess = [budget.cause for budget in budgets[MAX_BUDGETS:]]
    windows = [budget.cause for budget in budgets if budget.cause[0] in {"protect", "maintenance"}]
    if not excess or not windows:
        return
    cause = next((item for item in excess if item in windows), windows[-1])
    message = f"budgets and windows compile to {len(budgets)} budgets; a NodePool has at most {MAX_BUDGETS}"
    raise WindowError(cause, message, "use fewer windows, or windows with the same hours on several days")


def _build_budgets(cause: BudgetCause, window: Window) -> Iterator[CompiledBudget]:
    """Yield the budgets that are active during a window."""
    if not window.reasons:
        return
    reasons = to_karpenter_reasons(window.reasons)
    if window.days == ALL_DAYS and window.length == DAY:
        yield CompiledBudget(DisruptionBudget(window.nodes, reasons), cause)
        return
    stretches = (occurrence.stretch for occurrence in find_occurrences(window))
    for schedule, length in build_schedules(stretches):
        yield CompiledBudget(DisruptionBudget(window.nodes, reasons, schedule, length), cause)


def _group_reasons(maintenance: tuple[Window, ...]) -> list[_Group]:
    """Group reasons by the windows that set them: the indices of the windows, and the reasons."""
    groups: dict[tuple[int, ...], list[str]] = {}
    for reason in REASON_ORDER:
        indices = tuple(index for index, window in enumerate(maintenance) if reason in window.reasons)
        if indices:
            groups.setdefault(indices, []).append(reason)
    return [(indices, tuple(reasons)) for indices, reasons in sorted(groups.items())]


def _build_caps(group: _Group, maintenance: tuple[Window, ...]) -> Iterator[CompiledBudget]:
    """Yield the caps inside the windows; a common cap is always active, because outside 0 applies."""
    indices, reasons = group
    numbers = {maintenance[index].nodes for index in indices}
    if len(numbers) == 1:
        yield CompiledBudget(
            DisruptionBudget(numbers.pop(), to_karpenter_reasons(reasons)), ("maintenance", indices[0])
        )
        return
    for index in indices:
        window = maintenance[index]
        capped = Window(window.days, window.hours, window.nodes, frozenset(reasons), window.timezone)
        yield from _build_budgets(("maintenance", index), capped)


def _build_closures(group: _Group, maintenance: tuple[Window, ...]) -> Iterator[CompiledBudget]:
    """Yield the budgets of 0 that are active outside the windows."""
    indices, reasons = group
    for schedule, length in build_schedules(
        find_closed_stretches(tuple(maintenance[index] for index in indices))
    ):
        budget = DisruptionBudget("0", to_karpenter_reasons(reasons), schedule, length)
        yield CompiledBudget(budget, ("maintenance", indices[0]))


def _find_notes(
    protect: tuple[Window, ...], maintenance: tuple[Window, ...], groups: list[_Group]
) -> Iterator[WindowNote]:
    for index, window in enumerate(protect):
        yield from find_protect_notes(("protect", index), window)
    notes: dict[WindowNote, None] = {}
    for indices, _ in groups:
        closed = find_closed_stretches(tuple(maintenance[position] for position in indices))
        for position in indices:
            notes |= dict.fromkeys(
                find_maintenance_notes(("maintenance", position), maintenance[position], closed)
            )
    yield from sorted(notes, key=lambda note: note.cause)
