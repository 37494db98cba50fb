"""A plan for GitHub Actions: annotations beside the blueprint's lines, a step's summary, a step's outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.reports.escaping import one_line, visible
from gpupool.reports.plan.markdown import LengthLimit, render_within
from gpupool.reports.plan.wording import find_verdict, format_condition, format_headline, format_node_claims

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.planning.plan import BlueprintPlace, Change, Plan

_MOST: Final = 10
"""GitHub shows no more annotations of one level for a step."""

_SUMMARY_BYTES: Final = 900 * 1024
"""GitHub refuses a summary over 1 MiB, and other commands of the step may write to it too."""


class _Note(NamedTuple):
    title: str
    message: str
    place: BlueprintPlace | None = None


def render_plan(plan: Plan, *, show_textual: bool = False, colour: bool = False) -> str:
    """Return workflow commands: errors, then warnings, then one notice; of each level the gravest ten."""
    del show_textual, colour
    levels = {
        "error": [*_errors(plan)],
        "warning": [*_warnings(plan)],
        "notice": [_Note("gpupool plan", format_headline(plan))],
    }
    return "".join(_command(level, each) for level, notes in levels.items() for each in _first(notes))


def render_step_summary(plan: Plan) -> str:
    """Return what a step's page shows, as Markdown."""
    return render_within(plan, LengthLimit(_SUMMARY_BYTES, lambda text: len(text.encode())))


def render_step_outputs(plan: Plan, exit_code: int) -> str:
    """Return what later steps can ask, one `key=value` on each line."""
    said = {
        "has_changes": str(plan.has_changes).lower(),
        "creates": plan.summary.create,
        "updates": plan.summary.update,
        "deletes": plan.summary.delete,
        "verdict": find_verdict(plan),
        "plan_id": visible(plan.id),
        "exit_code": exit_code,
    }
    return "".join(f"{key}={value}\n" for key, value in said.items())


def _errors(plan: Plan) -> Iterator[_Note]:
    yield from _rejected(plan)
    yield from _contested(plan)
    for change in plan.changes:
        if change.blocked:
            yield _Note(f"{change.address} is blocked", change.blocked, change.place)
    yield from _guards(plan, passed=False)


def _rejected(plan: Plan) -> Iterator[_Note]:
    for change in plan.changes:
        for each in change.rejections:
            field = f"{each.field}: " if each.field else ""
            place = each.place or change.place
            yield _Note(f"{change.address} is rejected", f"{field}{each.message}", place)


def _contested(plan: Plan) -> Iterator[_Note]:
    for change in plan.changes:
        for each in change.conflicts:
            when = f", who wrote the object at {each.when}" if each.when else ""
            message = f"{each.path} is owned by {each.manager} ({each.kind}){when}"
            yield _Note(f"{change.address} has a conflict", message, change.place)


def _guards(plan: Plan, *, passed: bool) -> Iterator[_Note]:
    for guard in plan.guards:
        if guard.passed is passed:
            remedy = f"; to pass it: {guard.remedy}" if guard.remedy else ""
            yield _Note(f"guard {guard.name}", f"{guard.message}{remedy}")


def _warnings(plan: Plan) -> Iterator[_Note]:
    for change in sorted(plan.changes, key=lambda change: -(change.node_claims or 0)):
        if "delete" in change.actions:
            yield _Note(f"{change.address} is to be deleted", _deletion(plan, change))
    yield from _guards(plan, passed=True)
    for warning in plan.warnings:
        yield _Note("gpupool plan", warning)
    for change in plan.changes:
        for residue in change.residue:
            message = f"{residue.path} is in the cluster and not in the blueprint; it stays"
            yield _Note(f"{change.address} has residue", message, change.place)


def _deletion(plan: Plan, change: Change) -> str:
    claims = format_node_claims(change)
    said = (change.reason, f"it has {claims}" if claims else "", format_condition(plan, change))
    return ", ".join(filter(None, said)) or "it is deleted"


def _first(notes: list[_Note]) -> list[_Note]:
    """Return as many as are shown; the last of them counts those that are not."""
    if len(notes) <= _MOST:
        return notes
    more = len(notes) - _MOST + 1
    return [*notes[: _MOST - 1], _Note("gpupool plan", f"{more} more; the step's summary has them")]


def _command(level: str, note: _Note) -> str:
    place = note.place
    # Annotations stand beside files of these names, which git writes without `./`.
    properties = {
        "file": visible(place.file.removeprefix("./")) if place else "",
        "line": place.line if place else 0,
        "col": place.column if place else 0,
        "title": one_line(note.title),
    }
    said = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items() if value)
    return f"::{level} {said}::{_escaped(one_line(note.message))}\n"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
