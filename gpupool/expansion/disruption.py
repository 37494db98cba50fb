"""Expansion of `disruption` to Karpenter's policy and budgets, with windows compiled to UTC."""

import re
from collections.abc import Sequence

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
from gpupool.yamlio.located import Located, find, items, leaf, listing, text_at, tree

WINDOW_NODES = {"protect": "0", "maintenance": "10%"}
"""The default of `nodes` in each kind of window."""

_DURATION_PARTS = re.compile(r"([0-9]+)([smhd])")


def expand_disruption(setting: Located, target: TargetCluster, findings: list[Finding]) -> Located:
    """Convert a blueprint's `disruption` to Karpenter's.

    Raises:
        Problem: where Karpenter would reject the result, or a window is invalid.
    """
    consolidate_after = find(setting, "consolidateAfter")
    if consolidate_after is None:
        fix = "set how long a node must be idle, as in `consolidateAfter: 5m`"
        raise Problem(
            Code.CONSOLIDATE_AFTER,
            "`consolidateAfter` is missing; Karpenter requires it in `disruption`",
            setting,
            fix,
        )
    parts = {
        "consolidationPolicy": find(setting, "consolidationPolicy"),
        "consolidateAfter": to_karpenter_duration(consolidate_after),
        "budgets": _expand_budgets(setting, target, findings),
    }
    return tree(parts, setting)


def _expand_budgets(setting: Located, target: TargetCluster, findings: list[Finding]) -> Located | None:
    own = find(setting, "budgets")
    windows = {kind: _parse_windows(find(setting, kind), kind, target) for kind in WINDOW_NODES}
    if not any(windows.values()):
        return None if own is None else listing([_copy_budget(item) for item in items(own)], own)
    causes = {
        "own": items(own),
        "implicit": [setting],
        **{kind: list_windows(find(setting, kind)) for kind in WINDOW_NODES},
    }
    try:
        compiled = compile_budgets(
            None if own is None else tuple(parse_budget(item) for item in items(own)),
            tuple(windows["protect"]),
            tuple(windows["maintenance"]),
        )
    except WindowError as problem:
        kind, index = problem.cause
        raise Problem(Code.WINDOW, problem.message, causes[kind][index], problem.fix) from None
    for note in compiled.notes:
        kind, index = note.cause
        findings.append(info(Code.DAYLIGHT_SAVING, note.text, causes[kind][index]))
    zone = target.find("timezone")
    takers = collect_causes(*(find(item, "reasons") or _find_times(item) for item in causes["maintenance"]))
    also = {kind: _collect_window_causes(causes[kind], zone) for kind in WINDOW_NODES}
    budgets = [
        _build_own_node(item.budget, causes[kind][index], takers)
        if kind == "own"
        else _build_compiled_node(item.budget, causes[kind][index], kind, also.get(kind, takers))
        for item in compiled.budgets
        for kind, index in [item.cause]
    ]
    return listing(budgets, own or setting)


def list_windows(setting: Located | None) -> list[Located]:
    """Return the windows of `protect` or `maintenance`: a list, or one map."""
    if setting is None:
        return []
    return items(setting) if isinstance(setting.value, list) else [setting]


def _parse_windows(setting: Located | None, kind: str, target: TargetCluster) -> list[Window]:
    return [_parse_window(item, kind, target) for item in list_windows(setting)]


def _parse_window(item: Located, kind: str, target: TargetCluster) -> Window:
    """Parse a window; `blueprint.window_checks` has checked its days, hours and time zone."""
    timezone = text_at(item, "timezone") or target.timezone
    if not timezone:
        fix = "set `timezone` under `cluster` or in the window, as in `timezone: America/New_York`"
        raise Problem(Code.TIMEZONE, "the window has no time zone", item, fix)
    if timezone not in timezone_names():
        timezone = "UTC"  # reported when the file was loaded; the other checks continue
    days, hours, nodes = find(item, "days"), find(item, "hours"), find(item, "nodes")
    return Window(
        days=parse_days(["daily"] if days is None else [str(day.value) for day in items(days) or [days]]),
        hours=parse_hours(str(hours.value)) if hours is not None else None,
        nodes=str(nodes.value) if nodes is not None else WINDOW_NODES[kind],
        reasons=parse_reasons(find(item, "reasons")),
        timezone=timezone,
    )


def parse_reasons(setting: Located | None) -> frozenset[str]:
    """Return the reasons of a window."""
    if setting is None:
        return DEFAULT_REASONS
    if setting.value == "all":
        return frozenset(REASON_ORDER)
    return frozenset(str(item.value) for item in items(setting))


def parse_budget(item: Located) -> DisruptionBudget:
    """Return a budget of the blueprint."""
    reasons = find(item, "reasons")
    return DisruptionBudget(
        nodes=str(getattr(find(item, "nodes"), "value", "10%")),
        reasons=None if reasons is None else tuple(str(reason.value) for reason in items(reasons)),
        schedule=text_at(item, "schedule") or None,
        duration=text_at(item, "duration") or None,
    )


def _copy_budget(item: Located) -> Located:
    nodes = find(item, "nodes")
    parts = {key: find(item, key) for key in ("reasons", "schedule", "duration")}
    return tree({"nodes": None if nodes is None else leaf(str(nodes.value), nodes), **parts}, item)


def _collect_window_causes(windows: Sequence[Located], zone: Located | None) -> tuple[Located, ...]:
    """Return the scalars of all windows of a kind; budgets that differ only in their reasons are joined.

    `zone` is the cluster's time zone, for a window without one.
    """
    defaults = [zone for window in windows if not text_at(window, "timezone")]
    return collect_causes(*windows, *defaults)


def _build_own_node(budget: DisruptionBudget, own: Located, takers: tuple[Located, ...]) -> Located:
    """Build a budget of the blueprint; `takers` are the windows' settings that took reasons from it."""
    nodes = find(own, "nodes") or own
    reasons = find(own, "reasons") or nodes
    also = () if budget.schedule else takers
    parts: dict[str, Located | None] = {"nodes": leaf(budget.nodes, nodes, also=also)}
    if budget.reasons is not None:
        parts["reasons"] = _build_reasons(budget.reasons, reasons, "", also)
    for key, value in (("schedule", budget.schedule), ("duration", budget.duration)):
        parts[key] = None if value is None else leaf(value, find(own, key) or nodes, also=also)
    return tree(parts, own)


def _build_compiled_node(
    budget: DisruptionBudget, window: Located, kind: str, also: tuple[Located, ...]
) -> Located:
    """Build a budget compiled from windows; each leaf is at the setting of the first one that it follows."""
    note = "Karpenter's default of 10%" if kind == "implicit" else f"compiled from {kind}"
    times = _find_times(window)
    nodes, reasons = find(window, "nodes") or times, find(window, "reasons") or times
    parts: dict[str, Located | None] = {"nodes": leaf(budget.nodes, nodes, note, also)}
    if budget.reasons is not None:
        parts["reasons"] = _build_reasons(budget.reasons, reasons, note, also)
    for key, value in (("schedule", budget.schedule), ("duration", budget.duration)):
        parts[key] = None if value is None else leaf(value, times, note, also)
    return tree(parts, window)


def _find_times(window: Located) -> Located:
    """Return a window's hours, or else its first day, or else the window."""
    days = find(window, "days")
    return find(window, "hours") or (None if days is None else (items(days) or [days])[0]) or window


def _build_reasons(names: Sequence[str], setting: Located, note: str, also: tuple[Located, ...]) -> Located:
    places = {str(reason.value): reason for reason in items(setting)}
    return listing([leaf(name, places.get(name, setting), note, also) for name in names], setting)


def to_karpenter_duration(node: Located) -> Located:
    """Convert the days of a duration to hours, which Karpenter can parse."""
    text = str(node.value)
    if "d" not in text:
        return node
    hours = sum(
        int(number) * (24 if unit == "d" else 1)
        for number, unit in _DURATION_PARTS.findall(text)
        if unit in "dh"
    )
    rest = "".join(f"{number}{unit}" for number, unit in _DURATION_PARTS.findall(text) if unit in "ms")
    return leaf(f"{hours}h{rest}", node)
