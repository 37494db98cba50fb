"""What a plan has to say beside its changes, section by section, for each format to spell in its own way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from gpupool.reports.plan.wording import format_condition, format_node_claims, format_place, format_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gpupool.planning.plan import Change, FieldChange, Plan


class Quoted(NamedTuple):
    """A value from outside, shown as it is."""

    text: str


class Message(NamedTuple):
    """A message of another part of gpupool or of the API server, with anything in it."""

    text: str


Part: TypeAlias = str | Quoted | Message
Line: TypeAlias = tuple[Part, ...]
"""Parts that are ours, and thus safe in every format, and parts that are not."""


@dataclass(frozen=True, slots=True)
class Section:
    """Lines of one sort under a title."""

    title: str
    meaning: str
    lines: tuple[Line, ...]
    is_essential: bool = False
    """Whether nothing of it may be left out while anything else is there."""

    is_in_blocks: bool = False
    """Whether the changes themselves say it too, where each of them is shown."""


def collect_sections(plan: Plan) -> list[Section]:
    """Return the sections that have something to say, the gravest first."""
    made = (
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
        Section("Warnings", "", tuple((Message(each),) for each in plan.warnings)),
        Section("Drift", "changed in the cluster, and changed back by this plan", tuple(_drift(plan))),
        Section("Residue", "in the cluster and not in the blueprint; it stays", tuple(_residue(plan))),
        Section(
            "Orphans",
            "labelled as this blueprint's, and not in its inventory; never deleted",
            tuple((Quoted(each),) for each in plan.orphans),
        ),
        Section(
            "Lost",
            "in the inventory, and without the blueprint's label",
            tuple((Quoted(each),) for each in plan.lost),
        ),
        Section(
            "Charts",
            "gpupool runs no Helm; upgrade them with",
            tuple((Quoted(each),) for each in plan.charts if plan.has_changes),
        ),
    )
    return [each for each in made if each.lines]


def _deletions(plan: Plan) -> Iterator[Line]:
    for change in plan.changes:
        if "delete" in change.actions:
            claims, waits = format_node_claims(change), format_condition(plan, change)
            having: Line = (" with ", claims) if claims else ()
            waiting: Line = (", ", Message(waits)) if waits else ()
            reason: Line = (": ", Message(change.reason)) if change.reason else ()
            yield (Quoted(change.address), *having, *waiting, *reason)


def _conflicts(plan: Plan) -> Iterator[Line]:
    for change in plan.changes:
        for each in change.conflicts:
            since = (", who wrote the object at ", Quoted(each.when)) if each.when else ()
            owner: Line = (Quoted(each.manager), f" ({each.kind})")
            yield (*_field_of(change, each.path), " is owned by ", *owner, *since)


def _rejections(plan: Plan) -> Iterator[Line]:
    for change in plan.changes:
        for each in change.rejections:
            place = format_place(each.place, column=True)
            before: Line = (Quoted(place), " ") if place else ()
            yield (*before, *_field_of(change, each.field), ": ", Message(each.message))


def _blocked(plan: Plan) -> Iterator[Line]:
    for change in plan.changes:
        if change.blocked:
            yield (Quoted(change.address), ": ", Message(change.blocked))


def _guards(plan: Plan, *, passed: bool) -> Iterator[Line]:
    for guard in plan.guards:
        if guard.passed is passed:
            remedy: Line = ("; to pass it: ", Quoted(guard.remedy)) if guard.remedy else ()
            yield (Quoted(guard.name), ": ", Message(guard.message), *remedy)


def _drift(plan: Plan) -> Iterator[Line]:
    def is_drift(field: FieldChange) -> bool:
        return field.cause == "drift" and field.semantic

    for change, field in _each_field(plan, is_drift):
        values = (
            " is ",
            Quoted(format_value(field.before)),
            ", should be ",
            Quoted(format_value(field.after)),
        )
        owner: Line = ("; by ", Quoted(field.owner)) if field.owner else ()
        yield (*_field_of(change, field.path), *values, *owner)


def _each_field(plan: Plan, is_wanted: Callable[[FieldChange], bool]) -> Iterator[tuple[Change, FieldChange]]:
    return ((change, field) for change in plan.changes for field in change.fields if is_wanted(field))


def _residue(plan: Plan) -> Iterator[Line]:
    for change in plan.changes:
        for each in change.residue:
            owner: Line = ("; by ", Quoted(each.owner)) if each.owner else ()
            yield (*_field_of(change, each.path), ": ", Quoted(format_value(each.value)), *owner)


def _field_of(change: Change, path: str) -> Line:
    return (Quoted(change.address), " ", Quoted(path)) if path else (Quoted(change.address),)
