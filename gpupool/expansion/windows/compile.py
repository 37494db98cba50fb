"""Disruption windows in local time compiled to UTC budgets whose minimum does what the words say.

Karpenter's budgets only restrict. A `protect` window is a budget while it lasts. A `maintenance` window
is what a budget of 0 leaves open, below a cap. Where daylight saving moves the hours, a month in which
the clocks change gets the safe side: protected at the hours before and after the change, open for
maintenance only at those that both have.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from gpupool.blueprint.windows import REASONS, Window
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
from gpupool.expansion.windows.timezones import UnknownTimezoneError, find_regimes
from gpupool.expansion.windows.utc_stretches import find_closed_stretches, find_occurrences
from gpupool.expansion.windows.week import DAY
from gpupool.karpenter.budgets import DisruptionBudget

_Group: TypeAlias = tuple[tuple[int, ...], tuple[str, ...]]


class WindowError(Exception):
    """A window that cannot be compiled: its place, what is wrong, and what to do."""

    def __init__(self, cause: BudgetCause, message: str, fix: str) -> None:
        super().__init__(message)
        self.cause = cause
        self.message = message
        self.fix = fix


class CompiledBudgets(NamedTuple):
    """The budgets of a NodePool and what there is to know about them."""

    budgets: tuple[CompiledBudget, ...]
    notes: tuple[WindowNote, ...]


def compile_budgets(
    own: Sequence[DisruptionBudget] | None, protect: Sequence[Window], maintenance: Sequence[Window]
) -> CompiledBudgets:
    """Compile windows to budgets that stand beside the pool's own ones.

    For its reasons, maintenance speaks alone: always-on budgets on them are dropped. Where windows
    overlap, the smaller number counts, as always with Karpenter. `own` is None where the blueprint has
    no budgets: then Karpenter's implicit 10% is written out beside any window. Without windows, `own`
    comes back as it is, and None as nothing.

    Raises WindowError for an unknown time zone, and for more budgets than a NodePool takes.
    """
    return _compiled(None if own is None else tuple(own), tuple(protect), tuple(maintenance))


@lru_cache(maxsize=1024)
def _compiled(
    own: tuple[DisruptionBudget, ...] | None, protect: tuple[Window, ...], maintenance: tuple[Window, ...]
) -> CompiledBudgets:
    windows: list[tuple[BudgetCause, Window]] = [
        (("protect", index), window) for index, window in enumerate(protect)
    ]
    windows += [(("maintenance", index), window) for index, window in enumerate(maintenance)]
    for cause, window in windows:
        _check_timezone(cause, window)
    owned = frozenset[str]().union(*(window.reasons for window in maintenance))
    budgets = [*remove_owned_reasons(own, owned)] if windows or own else []
    budgets += join_budgets(
        each for cause, window in windows if cause[0] == "protect" for each in _during(cause, window)
    )
    groups = _groups(maintenance)
    budgets += join_budgets(each for group in groups for each in _caps(group, maintenance))
    budgets += join_budgets(each for group in groups for each in _closures(group, maintenance))
    _check_count(budgets)
    return CompiledBudgets(tuple(budgets), tuple(_notes(protect, maintenance, groups)))


def _check_timezone(cause: BudgetCause, window: Window) -> None:
    try:
        find_regimes((window.timezone,))
    except UnknownTimezoneError as error:
        names = " or ".join(f"`{name}`" for name in error.nearest)
        fix = f"did you mean {names}?" if names else "set an IANA name such as `America/New_York` or `UTC`"
        raise WindowError(cause, str(error), fix) from error


def _check_count(budgets: list[CompiledBudget]) -> None:
    """Name the first window that no longer fits."""
    beyond = [each.cause for each in budgets[MAX_BUDGETS:]]
    windows = [each.cause for each in budgets if each.cause[0] in {"protect", "maintenance"}]
    if not beyond or not windows:
        return
    cause = next((each for each in beyond if each in windows), windows[-1])
    message = f"budgets and windows compile to {len(budgets)} budgets; a NodePool has at most {MAX_BUDGETS}"
    raise WindowError(cause, message, "use fewer windows, or windows with the same hours on several days")


def _during(cause: BudgetCause, window: Window) -> Iterator[CompiledBudget]:
    """Yield the budgets that hold while a window lasts."""
    if not window.reasons:
        return
    reasons = to_karpenter_reasons(window.reasons)
    if window.days == ALL_DAYS and window.length == DAY:
        yield CompiledBudget(DisruptionBudget(window.nodes, reasons), cause)
        return
    for schedule, length in build_schedules(each.stretch for each in find_occurrences(window)):
        yield CompiledBudget(DisruptionBudget(window.nodes, reasons, schedule, length), cause)


def _groups(maintenance: tuple[Window, ...]) -> list[_Group]:
    """Put together the reasons that the same windows name: the windows' places, and the reasons."""
    groups: dict[tuple[int, ...], list[str]] = {}
    for reason in REASONS:
        places = tuple(index for index, window in enumerate(maintenance) if reason in window.reasons)
        if places:
            groups.setdefault(places, []).append(reason)
    return [(places, tuple(reasons)) for places, reasons in sorted(groups.items())]


def _caps(group: _Group, maintenance: tuple[Window, ...]) -> Iterator[CompiledBudget]:
    """Yield the caps inside the windows; one that all share may hold outside too, where nothing goes."""
    places, reasons = group
    numbers = {maintenance[place].nodes for place in places}
    if len(numbers) == 1:
        yield CompiledBudget(
            DisruptionBudget(numbers.pop(), to_karpenter_reasons(reasons)), ("maintenance", places[0])
        )
        return
    for place in places:
        window = maintenance[place]
        capped = Window(window.days, window.hours, window.nodes, frozenset(reasons), window.timezone)
        yield from _during(("maintenance", place), capped)


def _closures(group: _Group, maintenance: tuple[Window, ...]) -> Iterator[CompiledBudget]:
    """Yield the budgets of 0 outside the windows."""
    places, reasons = group
    for schedule, length in build_schedules(
        find_closed_stretches(tuple(maintenance[place] for place in places))
    ):
        budget = DisruptionBudget("0", to_karpenter_reasons(reasons), schedule, length)
        yield CompiledBudget(budget, ("maintenance", places[0]))


def _notes(
    protect: tuple[Window, ...], maintenance: tuple[Window, ...], groups: list[_Group]
) -> Iterator[WindowNote]:
    for index, window in enumerate(protect):
        yield from find_protect_notes(("protect", index), window)
    found: dict[WindowNote, None] = {}
    for places, _ in groups:
        closed = find_closed_stretches(tuple(maintenance[place] for place in places))
        for place in places:
            found |= dict.fromkeys(find_maintenance_notes(("maintenance", place), maintenance[place], closed))
    yield from sorted(found, key=lambda note: note.cause)
