"""Compiled disruption budgets with their causes, and their combination with always-on budgets."""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from gpupool.blueprint.windows import REASON_ORDER
from gpupool.karpenter.budgets import IMPLICIT, DisruptionBudget

BudgetCause: TypeAlias = tuple[Literal["own", "implicit", "protect", "maintenance"], int]
"""The list of the blueprint that a budget comes from, and its index; `implicit` is Karpenter's default."""

MAX_BUDGETS = 50
"""The maximum number of budgets that the API server accepts in one NodePool."""

ALL_REASONS = frozenset(REASON_ORDER)


class CompiledBudget(NamedTuple):
    """A budget to render, and its cause."""

    budget: DisruptionBudget
    cause: BudgetCause


def to_karpenter_reasons(reasons: Iterable[str]) -> tuple[str, ...] | None:
    """Return the reasons in Karpenter's order, or None for all reasons."""
    selected = frozenset(reasons)
    if selected >= ALL_REASONS:
        return None
    return (*(reason for reason in REASON_ORDER if reason in selected), *sorted(selected - ALL_REASONS))


def remove_owned_reasons(
    budgets: Iterable[DisruptionBudget] | None, owned: frozenset[str]
) -> Iterator[CompiledBudget]:
    """Yield the budgets without the `owned` reasons, for which only maintenance windows apply.

    Always-on budgets lose these reasons, and are dropped without any reason left. None stands for Karpenter's
    implicit 10%.
    """
    if budgets is None:
        remaining = _without_reasons(IMPLICIT[0], owned)
        yield from [CompiledBudget(remaining, ("implicit", 0))] if remaining else []
        return
    for index, budget in enumerate(budgets):
        kept = budget if budget.schedule is not None else _without_reasons(budget, owned)
        if kept:
            yield CompiledBudget(kept, ("own", index))


def _without_reasons(budget: DisruptionBudget, owned: frozenset[str]) -> DisruptionBudget | None:
    reasons = ALL_REASONS if budget.reasons is None else frozenset(budget.reasons)
    if not reasons & owned:
        return budget
    remaining = reasons - owned
    return budget._replace(reasons=to_karpenter_reasons(remaining)) if remaining else None


def join_budgets(compiled: Iterable[CompiledBudget]) -> list[CompiledBudget]:
    """Join budgets that differ only in their reasons; the first cause is kept."""
    joined: dict[DisruptionBudget, CompiledBudget] = {}
    for item in compiled:
        key = item.budget._replace(reasons=None)
        first = joined.setdefault(key, item)
        reasons = frozenset(first.budget.reasons or REASON_ORDER) | frozenset(
            item.budget.reasons or REASON_ORDER
        )
        joined[key] = first._replace(budget=key._replace(reasons=to_karpenter_reasons(reasons)))
    return list(joined.values())
