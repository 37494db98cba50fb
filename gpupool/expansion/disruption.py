"""Expansion of `disruption` to Karpenter's policy and budgets, with windows compiled to UTC."""

from collections.abc import Sequence
from typing import NamedTuple

from gpupool.blueprint.pool import BlueprintBudget, BlueprintDisruption, BlueprintWindow
from gpupool.blueprint.timezones import timezone_names
from gpupool.blueprint.windows import (
    DEFAULT_REASONS,
    REASON_ORDER,
    Window,
    parse_days,
    parse_hours,
)
from gpupool.codes import Code
from gpupool.expansion.causes import collect_causes
from gpupool.expansion.problem import Problem, info
from gpupool.expansion.target import TargetCluster
from gpupool.expansion.windows.compile import WindowError, compile_budgets
from gpupool.findings import Finding
from gpupool.karpenter.budgets import DisruptionBudget
from gpupool.shapes.fields import LocatedItems
from gpupool.yamlio.located import Located, items, leaf, listing, text_of, tree

_NODES, _REASONS = BlueprintBudget.nodes.key, BlueprintBudget.reasons.key
_SCHEDULE, _DURATION = BlueprintBudget.schedule.key, BlueprintBudget.duration.key
WINDOW_NODES = {"protect": "0", "maintenance": "10%"}
"""The default of `nodes` in each kind of window."""


def expand_disruption(
    setting: BlueprintDisruption, target: TargetCluster, findings: list[Finding]
) -> Located:
    """Convert a blueprint's `disruption` to Karpenter's.

    Raises:
        Problem: where Karpenter would reject the result, or a window is invalid.
    """
    if setting.consolidate_after is None:
        fix = "set how long a node must be idle, as in `consolidateAfter: 5m`"
        message = "`consolidateAfter` is missing; Karpenter requires it in `disruption`"
        raise Problem(Code.CONSOLIDATE_AFTER, message, setting.here, fix)
    budgets = _expand_budgets(setting, target, findings)
    return tree({**setting.copied(), BlueprintDisruption.budgets.key: budgets}, setting.here)


def _expand_budgets(
    setting: BlueprintDisruption, target: TargetCluster, findings: list[Finding]
) -> Located | None:
    own, own_budgets = setting.get(BlueprintDisruption.budgets.key), setting.budgets
    windows: dict[str, list[BlueprintWindow]] = {
        "protect": setting.protect,
        "maintenance": setting.maintenance,
    }
    parsed = {
        kind: tuple(_parse_window(item, kind, target) for item in listed) for kind, listed in windows.items()
    }
    if not any(parsed.values()):
        return None if own is None else listing([_copy_budget(item) for item in own_budgets], own)
    causes: dict[str, list[Located]] = {
        "own": [item.here for item in own_budgets],
        "implicit": [setting.here],
        **{kind: [item.here for item in listed] for kind, listed in windows.items()},
    }
    try:
        compiled = compile_budgets(
            None if own is None else tuple(parse_budget(item) for item in own_budgets),
            parsed["protect"],
            parsed["maintenance"],
        )
    except WindowError as problem:
        kind, index = problem.cause
        raise Problem(Code.WINDOW, problem.message, causes[kind][index], problem.fix) from None
    for note in compiled.notes:
        kind, index = note.cause
        findings.append(info(Code.DAYLIGHT_SAVING, note.text, causes[kind][index]))
    takers = collect_causes(*(item.reasons.node or _find_times(item) for item in windows["maintenance"]))
    also = {kind: _collect_window_causes(listed, target.timezone) for kind, listed in windows.items()}
    window_causes = {
        (kind, index): _find_window_causes(window, kind, also[kind])
        for kind, listed in windows.items()
        for index, window in enumerate(listed)
    }
    here = setting.here
    window_causes["implicit", 0] = _BudgetCauses(
        here, here, here, here, here, "Karpenter's default of 10%", takers
    )
    budgets = [
        _build_own_node(budget, own_budgets[cause[1]], takers)
        if cause[0] == "own"
        else _build_budget(budget, window_causes[cause])
        for budget, cause in compiled.budgets
    ]
    return listing(budgets, own or setting.here)


def _parse_window(item: BlueprintWindow, kind: str, target: TargetCluster) -> Window:
    """Parse a window; `blueprint.window_checks` has checked its days, hours and time zone."""
    timezone = text_of(item.timezone) or text_of(target.timezone)
    if not timezone:
        fix = "set `timezone` under `cluster` or in the window, as in `timezone: America/New_York`"
        raise Problem(Code.TIMEZONE, "the window has no time zone", item.here, fix)
    if timezone not in timezone_names():
        timezone = "UTC"  # reported when the file was loaded; the other checks continue
    return Window(
        days=parse_days(item.days.texts() if item.days.node is not None else ["daily"]),
        hours=parse_hours(item.hours.value) if item.hours is not None else None,
        nodes=str(item.nodes.value) if item.nodes is not None else WINDOW_NODES[kind],
        reasons=parse_reasons(item.reasons),
        timezone=timezone,
    )


def parse_reasons(setting: LocatedItems[str]) -> frozenset[str]:
    """Return the reasons of a window."""
    if setting.node is None:
        return DEFAULT_REASONS
    return frozenset(REASON_ORDER if setting.node.value == "all" else setting.texts())


def parse_budget(item: BlueprintBudget) -> DisruptionBudget:
    """Return a budget of the blueprint."""
    return DisruptionBudget(
        nodes=str(BlueprintBudget.nodes.default if item.nodes is None else item.nodes.value),
        reasons=None if item.reasons.node is None else tuple(item.reasons.texts()),
        schedule=text_of(item.schedule) or None,
        duration=text_of(item.duration) or None,
    )


def _copy_budget(item: BlueprintBudget) -> Located:
    nodes = None if item.nodes is None else leaf(str(item.nodes.value), item.nodes)
    rest = {key: item.get(key) for key in BlueprintBudget.rows if key != BlueprintBudget.nodes.key}
    return tree({BlueprintBudget.nodes.key: nodes, **rest}, item.here)


def _collect_window_causes(windows: Sequence[BlueprintWindow], zone: Located | None) -> tuple[Located, ...]:
    """Return the scalars of all windows of a kind; budgets that differ only in their reasons are joined.

    `zone` is the cluster's time zone, for a window without one.
    """
    defaults = [zone for window in windows if window.timezone is None]
    return collect_causes(*(window.node for window in windows), *defaults)


class _BudgetCauses(NamedTuple):
    """The settings that the parts of a budget follow from."""

    at: Located
    nodes: Located
    reasons: Located
    schedule: Located
    duration: Located
    note: str
    also: tuple[Located, ...]


def _build_own_node(budget: DisruptionBudget, own: BlueprintBudget, takers: tuple[Located, ...]) -> Located:
    """Build a budget of the blueprint; `takers` are the windows' settings that took reasons from it."""
    nodes = own.nodes or own.here
    causes = _BudgetCauses(
        own.here, nodes, own.reasons.node or nodes, own.schedule or nodes, own.duration or nodes,
        "", () if budget.schedule else takers,
    )  # fmt: skip
    return _build_budget(budget, causes)


def _find_window_causes(window: BlueprintWindow, kind: str, also: tuple[Located, ...]) -> _BudgetCauses:
    """Return the settings of a window that the parts of its budgets follow from."""
    note = f"compiled from {kind}"
    times, here = _find_times(window), window.here
    return _BudgetCauses(here, window.nodes or times, window.reasons.node or times, times, times, note, also)


def _build_budget(budget: DisruptionBudget, causes: _BudgetCauses) -> Located:
    note, also = causes.note, causes.also
    parts = {_NODES: leaf(budget.nodes, causes.nodes, note, also)}
    if budget.reasons is not None:
        own = {str(reason.value): reason for reason in items(causes.reasons)}
        reasons = [leaf(name, own.get(name, causes.reasons), note, also) for name in budget.reasons]
        parts[_REASONS] = listing(reasons, causes.reasons)
    if budget.schedule is not None:
        parts[_SCHEDULE] = leaf(budget.schedule, causes.schedule, note, also)
    if budget.duration is not None:
        parts[_DURATION] = leaf(budget.duration, causes.duration, note, also)
    return Located(dict(parts), causes.at.at, causes.at.key)


def _find_times(window: BlueprintWindow) -> Located:
    """Return a window's hours, or else its first day, or else the window."""
    if window.hours is not None:
        return window.hours
    days = window.days.values
    return days[0] if days else window.here
