"""Sections of a plan beside its changes: deletions, conflicts, rejections, guards, warnings and more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from gpupool.planning.summaries import find_summarized
from gpupool.reports.plan.wording import (
    format_cause,
    format_condition,
    format_field,
    format_node_claims,
    format_place,
    format_summary,
    format_value,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from gpupool.planning.plan import BlueprintCause, Change, FieldChange, Plan


_MAX_ADDRESSES: Final = 5


class Quoted(NamedTuple):
    """A value from outside, shown unchanged."""

    text: str


class Message(NamedTuple):
    """A message of gpupool or of the API server, which may hold any characters."""

    text: str


SectionFragment: TypeAlias = str | Quoted | Message
SectionLine: TypeAlias = tuple[SectionFragment, ...]
"""Fragments: plain ones are constants and safe in every format, the others need escaping."""


@dataclass(frozen=True, slots=True)
class Section:
    """Lines of one kind under a title."""

    title: str
    meaning: str
    lines: tuple[SectionLine, ...]
    is_essential: bool = False
    """Whether its lines are left out last where a report is too long."""

    is_in_blocks: bool = False
    """Whether a report that shows every change has the same text there."""


def collect_sections(plan: Plan) -> list[Section]:
    """Return the sections that have lines, the most important first."""
    all_sections = (
        Section(
            "Deletions",
            "what the blueprint no longer has",
            tuple(_deletions(plan)),
            is_essential=True,
            is_in_blocks=True,
        ),
        Section(
            "Conflicts",
            "other field managers own these fields, with other values",
            tuple(_conflicts(plan)),
            is_essential=True,
        ),
        Section("Rejections", "the API server rejects these", tuple(_rejections(plan)), is_essential=True),
        Section("Blocked", "not applied now", tuple(_blocked(plan)), is_essential=True, is_in_blocks=True),
        Section(
            "Taken over",
            "fields of other owners are overwritten, as allowed",
            tuple((Quoted(change.address),) for change in plan.changes if change.force),
            is_in_blocks=True,
        ),
        Section("Guards", "these block the apply", tuple(_guards(plan, passed=False)), is_essential=True),
        Section(
            "Noted by guards", "the rest is applied", tuple(_guards(plan, passed=True)), is_essential=True
        ),
        Section("Warnings", "", tuple((Message(warning),) for warning in plan.warnings)),
        Section("Drift", "changed in the cluster, and changed back by this plan", tuple(_drift(plan))),
        Section("Causes", "where the blueprint sets what changes", tuple(_causes(plan)), is_in_blocks=True),
        Section("Residue", "in the cluster and not in the blueprint; it stays", tuple(_residue(plan))),
        Section(
            "Orphans",
            "labelled as this blueprint's, and not in its inventory; never deleted",
            tuple((Quoted(address),) for address in plan.orphans),
        ),
        Section(
            "Lost",
            "in the inventory, and without the blueprint's label",
            tuple((Quoted(address),) for address in plan.lost),
        ),
        Section(
            "Charts",
            "gpupool runs no Helm; upgrade them with",
            tuple((Quoted(command),) for command in plan.charts if plan.has_changes),
        ),
    )
    return [section for section in all_sections if section.lines]


def _causes(plan: Plan) -> Iterator[SectionLine]:
    """Yield the changes of fields by their causes, each once for all objects; drift has its own section."""
    addresses: dict[tuple[str, str], dict[str, None]] = {}
    for change in plan.changes:
        for text, causes in _find_changes(change):
            places = "; ".join(dict.fromkeys(map(format_cause, causes)))
            addresses.setdefault((places, text), {})[change.address] = None
    for (places, text), names in addresses.items():
        listed: list[SectionFragment] = []
        for name in [*names][:_MAX_ADDRESSES]:
            listed += [", " if listed else ": ", Quoted(name)]
        more = f" and {len(names) - _MAX_ADDRESSES} more" if len(names) > _MAX_ADDRESSES else ""
        yield (Quoted(places), " ", Quoted(text), *listed, *([more] if more else []))


def _find_changes(change: Change) -> Iterator[tuple[str, Sequence[BlueprintCause]]]:
    covered = [field for item in change.summaries for field in find_summarized(item, change.fields)]
    for summary in change.summaries:
        yield format_summary(summary, with_place=False), [summary.cause]
    for field in change.fields:
        if field.semantic and field.cause == "intent" and field.causes and field not in covered:
            yield format_field(field, with_place=False)[2:], field.causes


def _at(causes: Iterable[BlueprintCause], preposition: str = " at ") -> SectionLine:
    places = dict.fromkeys(map(format_cause, causes))
    return (preposition, Quoted("; ".join(places))) if places else ()


def _deletions(plan: Plan) -> Iterator[SectionLine]:
    for change in plan.changes:
        if "delete" in change.actions:
            claims, waits = format_node_claims(change), format_condition(plan, change)
            having: SectionLine = (" with ", claims) if claims else ()
            waiting: SectionLine = (", ", Message(waits)) if waits else ()
            reason: SectionLine = (": ", Message(change.reason)) if change.reason else ()
            yield (Quoted(change.address), *having, *waiting, *reason)


def _conflicts(plan: Plan) -> Iterator[SectionLine]:
    for change in plan.changes:
        for conflict in change.conflicts:
            since = (", who wrote the object at ", Quoted(conflict.when)) if conflict.when else ()
            before: SectionLine = (
                () if conflict.cause is None else (Quoted(format_cause(conflict.cause)), " ")
            )
            owner: SectionLine = (Quoted(conflict.manager), f" ({conflict.kind})")
            yield (
                *before,
                *_address_field(change, conflict.path),
                " is owned by ",
                *owner,
                *since,
            )


def _rejections(plan: Plan) -> Iterator[SectionLine]:
    for change in plan.changes:
        for rejection in change.rejections:
            place = format_place(rejection.place, column=True)
            if rejection.cause is not None:
                place = format_cause(rejection.cause)
            before: SectionLine = (Quoted(place), " ") if place else ()
            yield (*before, *_address_field(change, rejection.field), ": ", Message(rejection.message))


def _blocked(plan: Plan) -> Iterator[SectionLine]:
    for change in plan.changes:
        if change.blocked:
            yield (Quoted(change.address), ": ", Message(change.blocked))


def _guards(plan: Plan, *, passed: bool) -> Iterator[SectionLine]:
    for guard in plan.guards:
        if guard.passed is passed:
            remedy: SectionLine = ("; to pass it: ", Quoted(guard.remedy)) if guard.remedy else ()
            yield (Quoted(guard.name), ": ", Message(guard.message), *remedy)


def _drift(plan: Plan) -> Iterator[SectionLine]:
    def is_drift(field: FieldChange) -> bool:
        return field.cause == "drift" and field.semantic

    for change, field in _find_fields(plan, is_drift):
        values = (
            " is ",
            Quoted(format_value(field.before)),
            ", should be ",
            Quoted(format_value(field.after)),
        )
        owner: SectionLine = ("; by ", Quoted(field.owner)) if field.owner else ()
        yield (*_address_field(change, field.path), *values, *owner, *_at(field.causes, "; set at "))


def _find_fields(
    plan: Plan, is_included: Callable[[FieldChange], bool]
) -> Iterator[tuple[Change, FieldChange]]:
    return ((change, field) for change in plan.changes for field in change.fields if is_included(field))


def _residue(plan: Plan) -> Iterator[SectionLine]:
    for change in plan.changes:
        for residue in change.residue:
            owner: SectionLine = ("; by ", Quoted(residue.owner)) if residue.owner else ()
            yield (*_address_field(change, residue.path), ": ", Quoted(format_value(residue.value)), *owner)


def _address_field(change: Change, path: str) -> SectionLine:
    return (Quoted(change.address), " ", Quoted(path)) if path else (Quoted(change.address),)
