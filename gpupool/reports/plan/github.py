"""A plan for GitHub Actions: annotations of the blueprint's lines, step summary and step outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.planning.summaries import find_summarized
from gpupool.reports.escaping import one_line, visible
from gpupool.reports.plan.markdown import LengthLimit, render_within
from gpupool.reports.plan.wording import (
    find_verdict,
    format_condition,
    format_field,
    format_headline,
    format_node_claims,
    format_summary,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.planning.plan import BlueprintPlace, Change, Plan

_MAX_ANNOTATIONS: Final = 10
"""Annotations of one level that GitHub shows for a step."""

_SUMMARY_BYTES: Final = 900 * 1024
"""GitHub rejects a summary over 1 MiB, and other commands of the step may write to it too."""


class _Note(NamedTuple):
    title: str
    message: str
    place: BlueprintPlace | None = None


def render_plan(
    plan: Plan, *, show_textual: bool = False, colour: bool = False, show_raw: bool = False
) -> str:
    """Return workflow commands: errors, then warnings, then notices; at most ten of each level."""
    del show_textual, colour, show_raw
    levels = {
        "error": [*_errors(plan)],
        "warning": [*_warnings(plan)],
        "notice": [_Note("gpupool plan", format_headline(plan)), *_notices(plan)],
    }
    return "".join(_command(level, note) for level, notes in levels.items() for note in _limit(notes))


def render_step_summary(plan: Plan) -> str:
    """Return the summary of a step as Markdown."""
    return render_within(plan, LengthLimit(_SUMMARY_BYTES, lambda text: len(text.encode())))


def render_step_outputs(plan: Plan, exit_code: int) -> str:
    """Return the outputs of a step, one `key=value` on each line."""
    outputs = {
        "has_changes": str(plan.has_changes).lower(),
        "creates": plan.summary.create,
        "updates": plan.summary.update,
        "deletes": plan.summary.delete,
        "verdict": find_verdict(plan),
        "plan_id": visible(plan.id),
        "exit_code": exit_code,
    }
    return "".join(f"{key}={value}\n" for key, value in outputs.items())


def _errors(plan: Plan) -> Iterator[_Note]:
    yield from _rejections(plan)
    yield from _conflicts(plan)
    for change in plan.changes:
        if change.blocked:
            yield _Note(f"{change.address} is blocked", change.blocked, change.place)
    yield from _guards(plan, passed=False)


def _rejections(plan: Plan) -> Iterator[_Note]:
    for change in plan.changes:
        for rejection in change.rejections:
            field = f"{rejection.field}: " if rejection.field else ""
            place = rejection.place or change.place
            yield _Note(f"{change.address} is rejected", f"{field}{rejection.message}", place)


def _conflicts(plan: Plan) -> Iterator[_Note]:
    for change in plan.changes:
        for conflict in change.conflicts:
            when = f", who wrote the object at {conflict.when}" if conflict.when else ""
            message = f"{conflict.path} is owned by {conflict.manager} ({conflict.kind}){when}"
            place = change.place if conflict.cause is None else conflict.cause.place
            yield _Note(f"{change.address} has a conflict", message, place)


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


def _notices(plan: Plan) -> Iterator[_Note]:
    """Yield a note for each value of the blueprint that causes changes, with the objects that it changes."""
    notes: dict[tuple[str, BlueprintPlace], list[str]] = {}
    for change in plan.changes:
        for message, places in _messages(change):
            for place in places:
                notes.setdefault((message, place), []).append(change.address)
    for (message, place), addresses in notes.items():
        names = dict.fromkeys(addresses)
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield _Note(f"changes {addresses[0]}{more}", message, place)


def _messages(change: Change) -> Iterator[tuple[str, list[BlueprintPlace]]]:
    covered = [field for item in change.summaries for field in find_summarized(item, change.fields)]
    for summary in change.summaries:
        yield format_summary(summary, with_place=False), [summary.cause.place]
    for field in change.fields:
        if field.semantic and field not in covered:
            message = format_field(field, with_place=False)
            yield message, list(dict.fromkeys(cause.place for cause in field.causes))


def _deletion(plan: Plan, change: Change) -> str:
    claims = format_node_claims(change)
    parts = (change.reason, f"it has {claims}" if claims else "", format_condition(plan, change))
    return ", ".join(filter(None, parts)) or "it is deleted"


def _limit(notes: list[_Note]) -> list[_Note]:
    """Return as many notes as GitHub shows; the last one counts the rest."""
    if len(notes) <= _MAX_ANNOTATIONS:
        return notes
    more = len(notes) - _MAX_ANNOTATIONS + 1
    return [
        *notes[: _MAX_ANNOTATIONS - 1],
        _Note("gpupool plan", f"{more} more; the step's summary has them"),
    ]


def _command(level: str, note: _Note) -> str:
    place = note.place
    # GitHub matches annotations with files by name, as git writes it: without `./`.
    properties = {
        "file": visible(place.file.removeprefix("./")) if place else "",
        "line": place.line if place else 0,
        "col": place.column if place else 0,
        "title": one_line(note.title),
    }
    pairs = ",".join(f"{name}={_escape_property(str(value))}" for name, value in properties.items() if value)
    return f"::{level} {pairs}::{_escape(one_line(note.message))}\n"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")
