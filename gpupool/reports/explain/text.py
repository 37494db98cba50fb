"""Report of `gpupool explain` as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpupool.catalogue.model import FALLBACK_REGION
from gpupool.reports import finding_text
from gpupool.reports.escaping import one_line
from gpupool.reports.tables import align_rows, select_columns
from gpupool.scheduling.cost import HOURS_IN_MONTH
from gpupool.scheduling.limits import format_limit
from gpupool.scheduling.types.capacity import CPU, DEVICES, MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gpupool.explain.explanation import Explanation, NodePoolExplanation
    from gpupool.karpenter.quantities import Amount
    from gpupool.karpenter.requirements import Requirement
    from gpupool.scheduling.cost import UsableLimit
    from gpupool.scheduling.exclusion import Exclusion
    from gpupool.scheduling.explained import Candidate, PoolExplanation


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
_LESS_IMPORTANT_IN_OVERVIEW: Final = tuple(map(_OVERVIEW.index, ("TYPES", "WEIGHT")))
"""Columns of the table of all NodePools that a narrow terminal leaves out, the first one first."""

_MAX_VALUES: Final = 8


def render_page(explanation: Explanation, width: int | None = None) -> str:
    """Return the report on one pool, for a terminal's width."""
    lines = [line for answer in explanation.answers for line in _answer(explanation, answer, width)]
    lines.append(
        f"Catalogue of {explanation.catalogue.date}, as Karpenter {explanation.catalogue.karpenter} reads it."
    )
    return "\n".join(lines) + "\n"


def render_overview(explanations: Sequence[Explanation], width: int | None = None) -> str:
    """Return a row for each NodePool, in the order in which Karpenter tries them, for a terminal's width."""
    rows = [_OVERVIEW]
    answers = [answer for explanation in explanations for answer in explanation.answers]
    for answer in sorted(answers, key=_tier_order, reverse=True):
        pool, first = answer.explained.pool, _first(answer.explained)
        types = str(pool.types.bit_count())
        rows.append((one_line(pool.name), str(pool.weight), types, first, _hourly(answer.explained)))
    table = align_rows(rows, right={1, 2}, width=width, less_important=_LESS_IMPORTANT_IN_OVERVIEW)
    return "\n".join(table) + "\n"


def _tier_order(answer: NodePoolExplanation) -> tuple[int, str]:
    return answer.explained.pool.weight, answer.explained.pool.name


def _first(explained: PoolExplanation) -> str:
    choices = (candidate for candidate in explained.candidates if candidate.is_launchable)
    first = next((candidate for candidate in choices if candidate.admitted.nodes != 0), None)
    return f"{first.kind.name} {first.price:.4f}" if first and first.price is not None else "-"


def _answer(explanation: Explanation, answer: NodePoolExplanation, width: int | None) -> Iterator[str]:
    explained = answer.explained
    tier = ""
    if explanation.has_tiers:
        place = explanation.answers.index(answer) + 1
        tier = f", tried as number {place} of {len(explanation.answers)}"
    weight = f", weight {explained.pool.weight}" if explained.pool.weight else ""
    yield f"NodePool {one_line(explained.pool.name)}{weight}{tier}"
    family = explained.market.node_class.family.name
    title = f"{one_line(answer.node_class)} ({family})"
    yield f"  class   {title if answer.node_class else f'not in the files; {family} defaults are assumed'}"
    yield f"  region  {one_line(explained.market.region or 'not set')}"
    yield ""
    if answer.exclusion is not None:
        yield from _exclusion(answer.exclusion)
    yield from _candidates(explained, width)
    yield ""
    yield from _limits(explained, width)
    yield from _cost(explained)
    yield from _one_pod(explained)
    if answer.notes:
        yield ""
        yield from finding_text.render_findings(answer.notes).splitlines()
    yield ""


def _candidates(explained: PoolExplanation, width: int | None) -> Iterator[str]:
    launchable = sum(candidate.is_launchable is True for candidate in explained.candidates)
    unchecked = sum(candidate.is_launchable is None for candidate in explained.candidates)
    count = len(explained.candidates)
    checked = f"{launchable} launchable" if launchable or not unchecked else ""
    parts = [
        f"{count} candidate type{'s' * (count != 1)}",
        checked,
        f"{unchecked} not checked" * bool(unchecked),
    ]
    yield ", ".join(filter(None, parts))
    if count:
        zones = [zone.name for zone in explained.market.zones]
        rows = [_HEAD, *(_row(candidate, zones) for candidate in explained.candidates[:MAX_ROWS])]
        yield from align_rows(rows, right={2, 3, 4, 5, 7, 9}, width=width, less_important=_LESS_IMPORTANT)
        kept = select_columns(rows, width, _LESS_IMPORTANT)
        if hidden := [name for place, name in enumerate(_HEAD) if place not in kept]:
            yield f"not shown, as the terminal is too narrow: {', '.join(hidden)}; -o json has all columns"
    if count > MAX_ROWS:
        yield f"... and {count - MAX_ROWS} more; -o json lists all of them"


def _row(candidate: Candidate, zones: Sequence[str]) -> tuple[str, ...]:
    kind, nodes = candidate.kind, candidate.admitted.nodes
    shown = "" if nodes is None else str(nodes)
    if nodes and candidate.admitted.registered != nodes:
        shown = f"{candidate.admitted.registered}-{nodes}"
    return (
        kind.name,
        ", ".join(_accelerator(*accelerator) for accelerator in kind.accelerators) or "-",
        str(kind.vcpus),
        f"{kind.memory / _MIB_IN_GIB:g}Gi",
        f"{kind.local_nvme}GB" if kind.local_nvme else "-",
        str(kind.efa or "-"),
        _for_pods(candidate),
        "-" if candidate.price is None else f"{candidate.price:.4f}",
        _zones(candidate.zones, zones),
        shown or "-",
        candidate.reason,
    )


def _accelerator(count: int, name: str, memory: int | None) -> str:
    size = f" {memory / _MIB_IN_GIB:.0f}Gi" if memory else ""
    return f"{count} {name}{size}"


def _for_pods(candidate: Candidate) -> str:
    cpu, memory = candidate.allocatable[CPU], candidate.allocatable[MEMORY]
    return f"{float(cpu):g} cpu, {int(memory) / _GIB:.1f}Gi{_devices(candidate)}"


def _devices(candidate: Candidate) -> str:
    """Return the devices for pods where an overlay changes their number."""
    physical = sum(count for count, *_ in candidate.kind.accelerators)
    devices = [
        f"{int(candidate.allocatable[name])} {name}"
        for name in DEVICES
        if candidate.allocatable[name] not in (0, physical)
    ]
    return f", {', '.join(devices)}" if devices else ""


def _zones(offering: Sequence[str], zones: Sequence[str]) -> str:
    """Return the letters of the zones that offer a type; the empty text where offerings are not judged."""
    if not zones:
        return ""
    return "".join(zone[-1] if zone in offering else "-" for zone in zones)


def _limits(explained: PoolExplanation, width: int | None) -> Iterator[str]:
    yield "Limits" if explained.pool.limits else "Limits: none"
    rows = [
        (f"  {one_line(name)}", format_limit(name, limit), _use(name, limit, explained.usable_limits[name]))
        for name, limit in explained.pool.limits.items()
    ]
    yield from align_rows(rows, right={1}, width=width)  # every column is important
    if any(candidate.admitted.registered != candidate.admitted.nodes for candidate in explained.candidates):
        yield (
            "  NODES with two numbers: the minimum, if registered nodes have all the memory that EC2 lists, "
            "and what Karpenter expects before they register"
        )


def _use(name: str, limit: Amount, reach: UsableLimit) -> str:
    if reach.amount >= limit:
        return "binds" if reach.is_exact else "can bind"
    at_most = "at most " if not reach.is_exact else ""
    return f"never reached: {at_most}{format_limit(name, int(reach.amount))} can be used within the limits"


def _hourly(explained: PoolExplanation) -> str:
    ceiling = explained.ceiling
    if ceiling is None:
        return "-"
    return f"unbounded ({ceiling.unbounded_by})" if ceiling.hourly is None else f"{ceiling.hourly:.2f}"


def _cost(explained: PoolExplanation) -> Iterator[str]:
    ceiling, prices = explained.ceiling, explained.market.price_list
    if ceiling is None or ceiling.hourly == 0:
        return
    if ceiling.hourly is None:
        yield f"Cost: unbounded: no limit counts a resource of {ceiling.unbounded_by}"
    else:
        month = f"{ceiling.hourly * HOURS_IN_MONTH:,.0f} {prices.currency} a month"
        at_most = "" if ceiling.is_exact else "at most "
        hour = f"{ceiling.hourly:.2f} {prices.currency} an hour"
        yield f"Cost when the limits are reached: {at_most}{hour}, {month}"
    elsewhere = (
        "" if explained.market.region in (None, prices.region) else f"; none for {explained.market.region}"
    )
    yield f"  on-demand prices of {prices.region or FALLBACK_REGION}, {prices.date}{elsewhere}"


def _one_pod(explained: PoolExplanation) -> Iterator[str]:
    pod = explained.one_pod
    if pod is not None:
        cheapest, dearest = pod.cheapest, pod.dearest
        yield (
            f"A pod for 1 {pod.resource}: {cheapest.kind.name} ({cheapest.price:.4f}) is the first choice, "
            f"{dearest.kind.name} ({dearest.price:.4f}) the most expensive"
        )


def _exclusion(exclusion: Exclusion) -> Iterator[str]:
    retired = f" (no longer offered by EC2 since {exclusion.retired})" if exclusion.retired else ""
    yield f"Why {exclusion.name}{retired}:"
    for mismatch in exclusion.unmet:
        values = ", ".join(mismatch.values) if mismatch.values else "no such label"
        yield f"  excluded by {format_requirement(mismatch.requirement)}; the type has {values}"
    if exclusion.class_conflict:
        yield f"  excluded: {exclusion.class_conflict}"
    if exclusion.candidate is not None:
        yield f"  a candidate: {exclusion.candidate.reason or 'Karpenter can launch it'}"
    yield ""


def format_requirement(requirement: Requirement) -> str:
    """Return a requirement as `key In [a, b]`, with its bounds."""
    values = sorted(requirement.values)
    shown = ", ".join(map(one_line, values[:_MAX_VALUES]))
    more = f" and {len(values) - _MAX_VALUES} more" if len(values) > _MAX_VALUES else ""
    listed = f" [{shown}{more}]" if values else ""
    bounds = [
        f"{sign} {bound}"
        for sign, bound in ((">=", requirement.gte), ("<=", requirement.lte))
        if bound is not None
    ]
    relation = "" if bounds and requirement.operator == "Exists" else f" {requirement.operator}{listed}"
    return f"`{one_line(requirement.key)}`{relation}{' ' * bool(bounds)}{' and '.join(bounds)}"
