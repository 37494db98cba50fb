"""Expansion of `disruption` to Karpenter's policy and budgets, with windows compiled to UTC."""

import re

from gpupool.blueprint.timezones import timezone_names
from gpupool.blueprint.windows import (
    DEFAULT_REASONS,
    REASON_ORDER,
    Window,
    parse_days,
    parse_hours,
)
from gpupool.codes import Code
from gpupool.expansion.problem import Problem, info
from gpupool.expansion.target import TargetCluster
from gpupool.expansion.windows.compile import WindowError, compile_budgets
from gpupool.findings import Finding
from gpupool.karpenter.budgets import DisruptionBudget
from gpupool.yamlio.located import Located, find, items, leaf, listing, text_at, tree

_WINDOW_NODES = {"protect": "0", "maintenance": "10%"}
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
    windows = {kind: _parse_windows(find(setting, kind), kind, target) for kind in _WINDOW_NODES}
    if not any(windows.values()):
        return None if own is None else listing([_copy_budget(item) for item in items(own)], own)
    causes = {
        "own": items(own),
        "implicit": [setting],
        **{kind: _listed(find(setting, kind)) for kind in _WINDOW_NODES},
    }
    try:
        compiled = compile_budgets(
            None if own is None else tuple(_parse_budget(item) for item in items(own)),
            tuple(windows["protect"]),
            tuple(windows["maintenance"]),
        )
    except WindowError as problem:
        kind, index = problem.cause
        raise Problem(Code.WINDOW, problem.message, causes[kind][index], problem.fix) from None
    for note in compiled.notes:
        kind, index = note.cause
        findings.append(info(Code.DAYLIGHT_SAVING, note.text, causes[kind][index]))
    budgets = [
        _build_budget_node(item.budget, causes[item.cause[0]][item.cause[1]], item.cause[0])
        for item in compiled.budgets
    ]
    return listing(budgets, own or setting)


def _listed(setting: Located | None) -> list[Located]:
    if setting is None:
        return []
    return items(setting) if isinstance(setting.value, list) else [setting]


def _parse_windows(setting: Located | None, kind: str, target: TargetCluster) -> list[Window]:
    return [_parse_window(item, kind, target) for item in _listed(setting)]


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
        nodes=str(nodes.value) if nodes is not None else _WINDOW_NODES[kind],
        reasons=_parse_reasons(find(item, "reasons")),
        timezone=timezone,
    )


def _parse_reasons(setting: Located | None) -> frozenset[str]:
    if setting is None:
        return DEFAULT_REASONS
    if setting.value == "all":
        return frozenset(REASON_ORDER)
    return frozenset(str(item.value) for item in items(setting))


def _parse_budget(item: Located) -> DisruptionBudget:
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


def _build_budget_node(budget: DisruptionBudget, cause: Located, kind: str) -> Located:
    note = (
        ""
        if kind == "own"
        else f"compiled from {kind}"
        if kind != "implicit"
        else "Karpenter's default of 10%"
    )
    parts: dict[str, Located | None] = {"nodes": leaf(budget.nodes, cause, note)}
    if budget.reasons is not None:
        parts["reasons"] = listing([leaf(reason, cause, note) for reason in budget.reasons], cause)
    for key, value in (("schedule", budget.schedule), ("duration", budget.duration)):
        parts[key] = None if value is None else leaf(value, cause, note)
    return tree(parts, cause)


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
