"""Budgets of the lower layers that maintenance windows override."""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from gpupool.blueprint.pool import BlueprintDisruption
from gpupool.blueprint.windows import REASON_ORDER
from gpupool.codes import Code
from gpupool.expansion.disruption import WINDOW_NODES, parse_budget, parse_reasons
from gpupool.expansion.layers import LayeredPool
from gpupool.expansion.problem import warning
from gpupool.findings import Finding
from gpupool.karpenter.budgets import DisruptionBudget, count_nodes, is_numberless
from gpupool.yamlio.located import Located, text_of

_BUDGETS, _MAINTENANCE = BlueprintDisruption.budgets, BlueprintDisruption.maintenance
_POOL_SIZES = range(1, 1001)
"""The numbers of nodes for which a percentage is compared with a number."""


class OverriddenBudget(NamedTuple):
    """An always-on budget, and the reasons for which maintenance windows apply in its place."""

    budget: DisruptionBudget
    reasons: tuple[str, ...]
    is_complete: bool
    """Whether the budget has no other reason."""


def find_overridden_budgets(disruption: BlueprintDisruption) -> Iterator[OverriddenBudget]:
    """Yield each budget of a blueprint's `disruption` that its `maintenance` overrides."""
    owned = frozenset[str]().union(*(parse_reasons(item.reasons) for item in disruption.maintenance))
    for budget in map(parse_budget, disruption.budgets):
        limited = frozenset(REASON_ORDER if budget.reasons is None else budget.reasons)
        if budget.schedule is None and limited & owned:
            reasons = tuple(reason for reason in REASON_ORDER if reason in limited & owned)
            yield OverriddenBudget(budget, reasons, limited <= owned)


def check_maintenance(layers: LayeredPool) -> Iterator[Finding]:
    """Yield a warning where a window permits more than a budget of the profile or of the defaults does.

    A window that sets `nodes` is a decision of its author.
    """
    disruption = layers.fields.disruption
    budgets, maintenance = (disruption.get(row.key) for row in (_BUDGETS, _MAINTENANCE))
    if budgets is None or maintenance is None or _is_own(layers, budgets, _BUDGETS.key):
        return
    if budgets.at.file == maintenance.at.file and not _is_own(layers, maintenance, _MAINTENANCE.key):
        return  # the author of a profile set both
    allowed = WINDOW_NODES[_MAINTENANCE.key]
    for item in disruption.maintenance:
        reasons = parse_reasons(item.reasons)
        for overridden in find_overridden_budgets(disruption):
            looser = [reason for reason in overridden.reasons if reason in reasons]
            if looser and item.nodes is None and _is_looser(allowed, overridden.budget):
                listed = " and ".join(looser)
                message = (
                    f"`maintenance` permits disrupting {allowed} of the nodes for {listed} inside the window;"
                    f" the budget of {_find_source(layers, budgets)} permits {overridden.budget.nodes}"
                )
                fix = f"set `nodes: {allowed}` in the window to confirm it, or a smaller number"
                yield warning(Code.LOOSER_WINDOW, message, item.here, fix)
                return


def _is_own(layers: LayeredPool, node: Located, key: str) -> bool:
    """Return whether the pool or its tier in the blueprint sets a field of `disruption`."""
    homes = (layers.own, *filter(None, [layers.own.tiers.get(layers.tier_name)]))
    return any(own is not None and own.at == node.at for own in (home.disruption.get(key) for home in homes))


@cache
def _is_looser(nodes: str, budget: DisruptionBudget) -> bool:
    window = DisruptionBudget(nodes)
    return is_numberless(budget) or any(
        count_nodes(window, size) > count_nodes(budget, size) for size in _POOL_SIZES
    )


def _find_source(layers: LayeredPool, budgets: Located) -> str:
    pool = layers.profile.pool
    homes = (pool, *filter(None, [pool.tiers.get(layers.tier_name)]))
    places = [home.disruption.get(_BUDGETS.key) for home in homes]
    if any(place is not None and place.at == budgets.at for place in places):
        return f"profile `{text_of(layers.profile.metadata.name)}`"
    return "`defaults`"
