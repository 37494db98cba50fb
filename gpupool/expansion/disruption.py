"""Expansion of `disruption` to Karpenter's policy and budgets, with windows compiled to UTC."""

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
from gpupool.expansion.problem import Problem, info
from gpupool.expansion.target import TargetCluster
from gpupool.expansion.windows.compile import WindowError, compile_budgets
from gpupool.findings import Finding
from gpupool.karpenter.budgets import DisruptionBudget
from gpupool.shapes.fields import LocatedItems
from gpupool.yamlio.located import Located, leaf, listing, text_of, tree

_WINDOW_NODES = {"protect": "0", "maintenance": "10%"}
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
    own = setting.get(BlueprintDisruption.budgets.key)
    windows: dict[str, list[BlueprintWindow]] = {
        "protect": setting.protect,
        "maintenance": setting.maintenance,
    }
    parsed = {
        kind: tuple(_parse_window(item, kind, target) for item in items) for kind, items in windows.items()
    }
    if not any(parsed.values()):
        return None if own is None else listing([_copy_budget(item) for item in setting.budgets], own)
    causes: dict[str, list[Located]] = {
        "own": [item.here for item in setting.budgets],
        "implicit": [setting.here],
        **{kind: [item.here for item in items] for kind, items in windows.items()},
    }
    try:
        compiled = compile_budgets(
            None if own is None else tuple(_parse_budget(item) for item in setting.budgets),
            parsed["protect"],
            parsed["maintenance"],
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
        nodes=str(item.nodes.value) if item.nodes is not None else _WINDOW_NODES[kind],
        reasons=_parse_reasons(item.reasons),
        timezone=timezone,
    )


def _parse_reasons(setting: LocatedItems[str]) -> frozenset[str]:
    if setting.node is None:
        return DEFAULT_REASONS
    return frozenset(REASON_ORDER if setting.node.value == "all" else setting.texts())


def _parse_budget(item: BlueprintBudget) -> DisruptionBudget:
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
