"""`gpupool explain` for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpupool.catalogue.model import FALLBACK_REGION
from gpupool.reports import finding_text
from gpupool.reports.escaping import one_line
from gpupool.reports.tables import align_rows, select_columns
from gpupool.scheduling.cost import HOURS_IN_MONTH
from gpupool.scheduling.limits import written
from gpupool.scheduling.types.capacity import CPU, DEVICES, MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gpupool.explain.explanation import Explanation, NodePoolExplanation
    from gpupool.karpenter.quantities import Amount
    from gpupool.karpenter.requirements import Requirement
    from gpupool.scheduling.cost import Reach
    from gpupool.scheduling.exclusion import Exclusion
    from gpupool.scheduling.explained import Candidate, Explained


MAX_ROWS: Final = 60
_GIB, _MIB_IN_GIB = 1 << 30, 1 << 10
_HEAD: Final = (
    "TYPE", "ACCELERATORS", "VCPU", "MEMORY", "NVME", "EFA", "FOR PODS", "USD/H", "ZONES", "NODES", ""
)  # fmt: skip
_LESS_IMPORTANT: Final = tuple(
    map(_HEAD.index, ("EFA", "NVME", "FOR PODS", "ZONES", "MEMORY", "VCPU", "ACCELERATORS"))
)
"""Columns that a narrow terminal leaves out, the first one first."""

_OVERVIEW: Final = ("NODEPOOL", "WEIGHT", "TYPES", "TRIED FIRST", "USD/H AT MOST")
_LESS_IMPORTANT_OF_ALL: Final = tuple(map(_OVERVIEW.index, ("TYPES", "WEIGHT")))
"""The same for the table of all NodePools."""


def render_page(explanation: Explanation, width: int | None = None) -> str:
    """Return the whole report about a pool, for a terminal's width."""
    lines = [line for answer in explanation.answers for line in _answer(explanation, answer, width)]
    lines.append(
        f"Catalogue of {explanation.catalogue.date}, as Karpenter {explanation.catalogue.karpenter} reads it."
    )
    return "\n".join(lines) + "\n"


def render_overview(explanations: Sequence[Explanation], width: int | None = None) -> str:
    """Return a row for each NodePool, in the order in which Karpenter tries them, for a terminal's width."""
    rows = [_OVERVIEW]
    answers = [answer for each in explanations for answer in each.answers]
    for answer in sorted(answers, key=_order, reverse=True):
        pool, first = answer.explained.pool, _first(answer.explained)
        types = str(pool.types.bit_count())
        rows.append((one_line(pool.name), str(pool.weight), types, first, _hourly(answer.explained)))
    table = align_rows(rows, right={1, 2}, width=width, less_important=_LESS_IMPORTANT_OF_ALL)
    return "\n".join(table) + "\n"


def _order(answer: NodePoolExplanation) -> tuple[int, str]:
    return answer.explained.pool.weight, answer.explained.pool.name


def _first(found: Explained) -> str:
    first = next((each for each in found.candidates if each.launchable and each.admitted.nodes != 0), None)
    return f"{first.kind.name} {first.price:.4f}" if first and first.price is not None else "-"


def _answer(explanation: Explanation, answer: NodePoolExplanation, width: int | None) -> Iterator[str]:
    found = answer.explained
    tier = ""
    if explanation.has_tiers:
        place = explanation.answers.index(answer) + 1
        tier = f", tried as number {place} of {len(explanation.answers)}"
    weight = f", weight {found.pool.weight}" if found.pool.weight else ""
    yield f"NodePool {one_line(found.pool.name)}{weight}{tier}"
    family = found.market.node_class.family.name
    named = f"{one_line(answer.node_class)} ({family})"
    yield f"  class   {named if answer.node_class else f'not in the files; {family} defaults are assumed'}"
    yield f"  region  {one_line(found.market.region or 'not set')}"
    yield ""
    if answer.exclusion is not None:
        yield from _why(answer.exclusion)
    yield from _candidates(found, width)
    yield ""
    yield from _limits(found, width)
    yield from _cost(found)
    yield from _one_pod(found)
    if answer.notes:
        yield ""
        yield from finding_text.render_findings(answer.notes).splitlines()
    yield ""


def _candidates(found: Explained, width: int | None) -> Iterator[str]:
    launchable = sum(each.launchable is True for each in found.candidates)
    open_ones = sum(each.launchable is None for each in found.candidates)
    count = len(found.candidates)
    judged = f"{launchable} launchable" if launchable or not open_ones else ""
    parts = [
        f"{count} candidate type{'s' * (count != 1)}",
        judged,
        f"{open_ones} not checked" * bool(open_ones),
    ]
    yield ", ".join(filter(None, parts))
    if count:
        zones = [zone.name for zone in found.market.zones]
        rows = [_HEAD, *(_row(each, zones) for each in found.candidates[:MAX_ROWS])]
        yield from align_rows(rows, right={2, 3, 4, 5, 7, 9}, width=width, less_important=_LESS_IMPORTANT)
        kept = select_columns(rows, width, _LESS_IMPORTANT)
        if hidden := [name for place, name in enumerate(_HEAD) if place not in kept]:
            yield f"not shown, as the terminal is too narrow: {', '.join(hidden)}; -o json has all columns"
    if count > MAX_ROWS:
        yield f"... and {count - MAX_ROWS} more; -o json lists all of them"


def _row(each: Candidate, zones: Sequence[str]) -> tuple[str, ...]:
    kind, nodes = each.kind, each.admitted.nodes
    shown = "" if nodes is None else str(nodes)
    if nodes and each.admitted.registered != nodes:
        shown = f"{each.admitted.registered}-{nodes}"
    return (
        kind.name,
        ", ".join(_accelerator(*one) for one in kind.accelerators) or "-",
        str(kind.vcpus),
        f"{kind.memory / _MIB_IN_GIB:g}Gi",
        f"{kind.local_nvme}GB" if kind.local_nvme else "-",
        str(kind.efa or "-"),
        f"{float(each.allocatable[CPU]):g} cpu, {int(each.allocatable[MEMORY]) / _GIB:.1f}Gi{_shared(each)}",
        "-" if each.price is None else f"{each.price:.4f}",
        _zones(each.zones, zones),
        shown or "-",
        each.reason,
    )


def _accelerator(count: int, name: str, memory: int | None) -> str:
    size = f" {memory / _MIB_IN_GIB:.0f}Gi" if memory else ""
    return f"{count} {name}{size}"


def _shared(each: Candidate) -> str:
    """Return what an overlay makes of the accelerators, where that is another number than there are."""
    there = sum(count for count, *_ in each.kind.accelerators)
    told = [
        f"{int(each.allocatable[name])} {name}"
        for name in DEVICES
        if each.allocatable[name] not in (0, there)
    ]
    return f", {', '.join(told)}" if told else ""


def _zones(mine: Sequence[str], all_of_them: Sequence[str]) -> str:
    """Return the letters of the zones; nothing where they are not judged."""
    if not all_of_them:
        return ""
    return "".join(zone[-1] if zone in mine else "-" for zone in all_of_them)


def _limits(found: Explained, width: int | None) -> Iterator[str]:
    yield "Limits" if found.pool.limits else "Limits: none"
    rows = [
        (f"  {one_line(name)}", written(name, limit), _reached(name, limit, found.reaches[name]))
        for name, limit in found.pool.limits.items()
    ]
    yield from align_rows(rows, right={1}, width=width)  # every column is important
    if any(each.admitted.registered != each.admitted.nodes for each in found.candidates):
        yield (
            "  NODES with two numbers: the minimum, if registered nodes have all the memory that EC2 lists, "
            "and what Karpenter expects before they register"
        )


def _reached(name: str, limit: Amount, most: Reach) -> str:
    if most.amount >= limit:
        return "binds" if most.exact else "can bind"
    how = "at most " if not most.exact else ""
    return f"never reached: {how}{written(name, int(most.amount))} can be used within the limits"


def _hourly(found: Explained) -> str:
    ceiling = found.ceiling
    if ceiling is None:
        return "-"
    return f"unbounded ({ceiling.unbounded_by})" if ceiling.hourly is None else f"{ceiling.hourly:.2f}"


def _cost(found: Explained) -> Iterator[str]:
    ceiling, prices = found.ceiling, found.market.price_list
    if ceiling is None or ceiling.hourly == 0:
        return
    if ceiling.hourly is None:
        yield f"Cost: unbounded: no limit counts a resource of {ceiling.unbounded_by}"
    else:
        month = f"{ceiling.hourly * HOURS_IN_MONTH:,.0f} {prices.currency} a month"
        at_most = "" if ceiling.exact else "at most "
        hour = f"{ceiling.hourly:.2f} {prices.currency} an hour"
        yield f"Cost when the limits are reached: {at_most}{hour}, {month}"
    elsewhere = "" if found.market.region in (None, prices.region) else f"; none for {found.market.region}"
    yield f"  on-demand prices of {prices.region or FALLBACK_REGION}, {prices.date}{elsewhere}"


def _one_pod(found: Explained) -> Iterator[str]:
    pod = found.one_pod
    if pod is not None:
        cheap, dear = pod.cheapest, pod.dearest
        yield (
            f"A pod for 1 {pod.resource}: {cheap.kind.name} ({cheap.price:.4f}) is the first choice, "
            f"{dear.kind.name} ({dear.price:.4f}) the most expensive"
        )


def _why(why: Exclusion) -> Iterator[str]:
    retired = f" (no longer offered by EC2 since {why.retired})" if why.retired else ""
    yield f"Why {why.name}{retired}:"
    for each in why.refused:
        has = ", ".join(each.values) if each.values else "no such label"
        yield f"  excluded by {format_requirement(each.requirement)}; the type has {has}"
    if why.by_class:
        yield f"  excluded: {why.by_class}"
    if why.candidate is not None:
        yield f"  a candidate: {why.candidate.reason or 'Karpenter can launch it'}"
    yield ""


_MOST_VALUES = 8


def format_requirement(requirement: Requirement) -> str:
    """Return a requirement as `key In [a, b]`, with the bounds that it has."""
    values = sorted(requirement.values)
    shown = ", ".join(map(one_line, values[:_MOST_VALUES]))
    more = f" and {len(values) - _MOST_VALUES} more" if len(values) > _MOST_VALUES else ""
    listed = f" [{shown}{more}]" if values else ""
    bounds = [
        f"{sign} {bound}"
        for sign, bound in ((">=", requirement.gte), ("<=", requirement.lte))
        if bound is not None
    ]
    word = "" if bounds and requirement.operator == "Exists" else f" {requirement.operator}{listed}"
    return f"`{one_line(requirement.key)}`{word}{' ' * bool(bounds)}{' and '.join(bounds)}"
