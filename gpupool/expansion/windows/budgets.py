"""Disruption budgets, where each one comes from, and what maintenance windows leave of the always-on ones."""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from gpupool.blueprint.windows import REASONS
from gpupool.karpenter.budgets import IMPLICIT, DisruptionBudget

BudgetCause: TypeAlias = tuple[Literal["own", "implicit", "protect", "maintenance"], int]
"""The list of the blueprint that a budget comes from, and the place in it; `implicit` is Karpenter's own."""

MAX_BUDGETS = 50
"""The API server takes no more on one NodePool."""

ALL_REASONS = frozenset(REASONS)


class CompiledBudget(NamedTuple):
    """A budget to be written, and why it is there."""

    budget: DisruptionBudget
    cause: BudgetCause


def to_karpenter_reasons(reasons: Iterable[str]) -> tuple[str, ...] | None:
    """Return the reasons in Karpenter's order; all of them need no `reasons` at all."""
    chosen = frozenset(reasons)
    if chosen >= ALL_REASONS:
        return None
    return (*(reason for reason in REASONS if reason in chosen), *sorted(chosen - ALL_REASONS))


def remove_owned_reasons(
    budgets: Iterable[DisruptionBudget] | None, owned: frozenset[str]
) -> Iterator[CompiledBudget]:
    """Yield the budgets that stand beside maintenance windows which speak alone for the `owned` reasons.

    Always-on budgets lose these reasons, and go when none is left. None is Karpenter's implicit 10%.
    """
    if budgets is None:
        left = _released(IMPLICIT[0], owned)
        yield from [CompiledBudget(left, ("implicit", 0))] if left else []
        return
    for index, budget in enumerate(budgets):
        own = budget if budget.schedule is not None else _released(budget, owned)
        if own:
            yield CompiledBudget(own, ("own", index))


def _released(budget: DisruptionBudget, owned: frozenset[str]) -> DisruptionBudget | None:
    named = ALL_REASONS if budget.reasons is None else frozenset(budget.reasons)
    if not named & owned:
        return budget
    left = named - owned
    return budget._replace(reasons=to_karpenter_reasons(left)) if left else None


def join_budgets(compiled: Iterable[CompiledBudget]) -> list[CompiledBudget]:
    """Join the budgets that differ in nothing but their reasons; the first cause stays."""
    found: dict[DisruptionBudget, CompiledBudget] = {}
    for each in compiled:
        key = each.budget._replace(reasons=None)
        first = found.setdefault(key, each)
        reasons = frozenset(first.budget.reasons or REASONS) | frozenset(each.budget.reasons or REASONS)
        found[key] = first._replace(budget=key._replace(reasons=to_karpenter_reasons(reasons)))
    return list(found.values())
