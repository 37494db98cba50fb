"""Disruption: policy and budgets as Karpenter has them, with windows compiled to UTC."""

import re

from gpupool.blueprint.timezones import timezone_names
from gpupool.blueprint.windows import (
    DEFAULT_REASONS,
    REASONS,
    Window,
    WindowValueError,
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


def expand_disruption(said: Located, target: TargetCluster, found: list[Finding]) -> Located:
    """Return Karpenter's `disruption` for the word of that name.

    Raises:
        Problem: where Karpenter would refuse it, or a window can't be read.
    """
    after = find(said, "consolidateAfter")
    if after is None:
        fix = "set how long a node is idle before, as in `consolidateAfter: 5m`"
        raise Problem(
            Code.CONSOLIDATE_AFTER,
            "`consolidateAfter` is missing; Karpenter requires it in `disruption`",
            said,
            fix,
        )
    parts = {
        "consolidationPolicy": find(said, "consolidationPolicy"),
        "consolidateAfter": to_karpenter_duration(after),
        "budgets": _budgets(said, target, found),
    }
    return tree(parts, said)


def _budgets(said: Located, target: TargetCluster, found: list[Finding]) -> Located | None:
    own = find(said, "budgets")
    windows = {kind: _windows(find(said, kind), kind, target) for kind in _WINDOW_NODES}
    if not any(windows.values()):
        return None if own is None else listing([_own(item) for item in items(own)], own)
    causes = {
        "own": items(own),
        "implicit": [said],
        **{kind: _each(find(said, kind)) for kind in _WINDOW_NODES},
    }
    try:
        compiled = compile_budgets(
            None if own is None else tuple(_budget(item) for item in items(own)),
            tuple(windows["protect"]),
            tuple(windows["maintenance"]),
        )
    except WindowError as problem:
        kind, index = problem.cause
        raise Problem(Code.WINDOW, problem.message, causes[kind][index], problem.fix) from None
    for note in compiled.notes:
        kind, index = note.cause
        found.append(info(Code.DAYLIGHT_SAVING, note.text, causes[kind][index]))
    made = [
        _node(item.budget, causes[item.cause[0]][item.cause[1]], item.cause[0]) for item in compiled.budgets
    ]
    return listing(made, own or said)


def _each(said: Located | None) -> list[Located]:
    if said is None:
        return []
    return items(said) if isinstance(said.value, list) else [said]


def _windows(said: Located | None, kind: str, target: TargetCluster) -> list[Window]:
    return [_window(item, kind, target) for item in _each(said)]


def _window(said: Located, kind: str, target: TargetCluster) -> Window:
    zone = text_at(said, "timezone") or target.timezone
    if not zone:
        fix = "set `timezone` under `cluster` or in the window, as in `timezone: America/New_York`"
        raise Problem(Code.TIMEZONE, "the window has no time zone", said, fix)
    if zone not in timezone_names():
        zone = "UTC"  # an error where it was read; what else is wrong is still looked for
    days, hours, nodes = find(said, "days"), find(said, "hours"), find(said, "nodes")
    return Window(
        days=_days(days) if days is not None else parse_days("daily"),
        hours=_hours(hours) if hours is not None else None,
        nodes=str(nodes.value) if nodes is not None else _WINDOW_NODES[kind],
        reasons=_reasons(find(said, "reasons")),
        timezone=zone,
    )


def _days(said: Located) -> frozenset[int]:
    try:
        return parse_days([str(item.value) for item in items(said)] or str(said.value))
    except WindowValueError as problem:
        raise Problem(Code.DAYS_OR_HOURS, str(problem), said, problem.fix) from None


def _hours(said: Located) -> tuple[int, int]:
    try:
        return parse_hours(str(said.value))
    except WindowValueError as problem:
        raise Problem(Code.DAYS_OR_HOURS, str(problem), said, problem.fix) from None


def _reasons(said: Located | None) -> frozenset[str]:
    if said is None:
        return DEFAULT_REASONS
    if said.value == "all":
        return frozenset(REASONS)
    return frozenset(str(item.value) for item in items(said))


def _budget(item: Located) -> DisruptionBudget:
    reasons = find(item, "reasons")
    return DisruptionBudget(
        nodes=str(getattr(find(item, "nodes"), "value", "10%")),
        reasons=None if reasons is None else tuple(str(reason.value) for reason in items(reasons)),
        schedule=text_at(item, "schedule") or None,
        duration=text_at(item, "duration") or None,
    )


def _own(item: Located) -> Located:
    nodes = find(item, "nodes")
    parts = {key: find(item, key) for key in ("reasons", "schedule", "duration")}
    return tree({"nodes": None if nodes is None else leaf(str(nodes.value), nodes), **parts}, item)


def _node(budget: DisruptionBudget, cause: Located, kind: str) -> Located:
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


_PARTS = re.compile(r"([0-9]+)([smhd])")


def to_karpenter_duration(node: Located) -> Located:
    """Return a duration as Karpenter reads it: days become hours, all else stays as it was written."""
    text = str(node.value)
    if "d" not in text:
        return node
    hours = sum(
        int(number) * (24 if unit == "d" else 1) for number, unit in _PARTS.findall(text) if unit in "dh"
    )
    rest = "".join(f"{number}{unit}" for number, unit in _PARTS.findall(text) if unit in "ms")
    return leaf(f"{hours}h{rest}", node)
