"""Verdict, headline and other texts of a plan that all formats share."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from gpupool.objects import is_pool
from gpupool.planning.guards import describe_node_claims, is_kept
from gpupool.planning.plan import Consent
from gpupool.planning.summaries import find_summarized
from gpupool.reports.escaping import one_line, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gpupool.planning.plan import (
        BlueprintCause,
        BlueprintPlace,
        CauseSummary,
        Change,
        FieldChange,
        Plan,
    )

Verdict: TypeAlias = Literal["none", "changes", "deletes", "blocked"]

_MAX_CHARACTERS: Final = 300
_SENSITIVE = re.compile(r"\(sensitive, sha256:[0-9a-f]+\)")
_MAX_CAUSES: Final = 3
_SHORT_NAMES: Final = {
    "disruption.maintenance": "maintenance",
    "disruption.protect": "protect",
    "sharing.timeSlicing": "timeSlicing",
}
"""Names of fields that are clear without the field above."""

_UNPRUNED: Final = "only with --prune"
_VERBS: Final = {"create": "create", "adopt": "take over", "update": "update", "delete": "DELETE"}


class ChangeLine(NamedTuple):
    """A line about one or more changed fields; its first character is the operation."""

    text: str
    is_semantic: bool
    is_raw: bool = False
    """Whether it is below the summary that it is part of."""


def find_verdict(plan: Plan) -> Verdict:
    """Return the verdict of a plan; of several that apply, the most serious.

    It is `blocked` where a change can't be applied or a guard blocks the plan. Deletions count only with
    `--prune`: without it, nothing is deleted.
    """
    if any(is_in_trouble(change) for change in plan.changes) or count_failed_guards(plan):
        return "blocked"
    if plan.consent.prune and any("delete" in change.actions for change in plan.changes):
        return "deletes"
    return "changes" if plan.has_changes else "none"


def is_in_trouble(change: Change) -> bool:
    """Return whether a change is blocked, in conflict or rejected."""
    return bool(change.blocked or change.conflicts or change.rejections)


def count_failed_guards(plan: Plan) -> int:
    """Return the number of guards that block the plan."""
    return sum(not guard.passed for guard in plan.guards)


def format_headline(plan: Plan, cluster: str = "the cluster", blueprint: str = "the blueprint") -> str:
    """Return one sentence with the verdict and the counts behind it."""
    verdict = find_verdict(plan)
    counts = ", ".join(format_counts(plan)) or "nothing in it"
    if verdict == "none":
        return f"No changes: {cluster} is as {blueprint} says ({counts})."
    titles = {"changes": "Changes", "deletes": "Changes, with deletions", "blocked": "Blocked"}
    troubles = ", ".join(_count_troubles(plan))
    return f"{titles[verdict]}: {'; '.join(filter(None, (troubles, counts)))}."


def format_counts(plan: Plan) -> Iterator[str]:
    """Yield the number of objects for each outcome that occurs."""
    summary = plan.summary
    count = sum(change.node_claims or 0 for change in plan.changes if is_pool(change.ref))
    ending = f" with {describe_node_claims(count)}" if count else ""
    ending += "" if plan.consent.prune else f" ({_UNPRUNED})"
    for count, outcome in (
        (summary.create, "to create"),
        (summary.update, "to update"),
        (summary.delete, f"to delete{ending}"),
        (summary.unchanged, "unchanged"),
        (summary.textual, "equivalent"),
    ):
        if count:
            yield f"{count} {outcome}"


def _count_troubles(plan: Plan) -> Iterator[str]:
    summary = plan.summary
    if summary.rejected:
        yield f"{summary.rejected} rejected by the API server"
    if summary.conflicts:
        yield f"{summary.conflicts} with conflicts"
    if summary.blocked:
        yield f"{summary.blocked} blocked"
    if failed := count_failed_guards(plan):
        yield f"{failed} guard{'s' * (failed != 1)} not passed"


def is_shown(change: Change, *, show_textual: bool) -> bool:
    """Return whether a change is shown; one in formatting only is shown with `show_textual`."""
    if change.writes or is_in_trouble(change):
        return True
    return show_textual and bool(change.fields)


def select_fields(change: Change, *, show_textual: bool) -> list[FieldChange]:
    """Return the semantic changes of fields, and with `show_textual` those in formatting too."""
    return [field for field in change.fields if field.semantic or show_textual]


def format_hidden(plan: Plan) -> str:
    """Return how many changes in formatting are not shown; the empty text where there are none."""
    count = sum(not field.semantic for change in plan.changes for field in change.fields)
    if not count:
        return ""
    return f"Not shown: {count} difference{'s' * (count != 1)} in formatting only; see --show-textual."


def format_summarized(plan: Plan) -> str:
    """Return how many fields are shown by their causes only; the empty text where there are none."""
    count = sum(
        len({id(field) for item in change.summaries for field in find_summarized(item, change.fields)})
        for change in plan.changes
    )
    return f"Shown by cause: {count} field{'s' * (count != 1)}; see -v." if count else ""


def format_unverified(plan: Plan) -> str:
    """Return how many objects no dry run has checked; the empty text where all are checked."""
    count = sum(change.verified != "server" for change in plan.changes)
    return f"Not checked by the API server in a dry run: {format_objects(count)}." if count else ""


def format_objects(count: int) -> str:
    """Return a number of objects as text."""
    return f"{count} object{'s' * (count != 1)}"


def choose_symbol(change: Change) -> str:
    """Return one character for the change of an object."""
    if is_in_trouble(change):
        return "!"
    if "delete" in change.actions:
        return "-"
    if "create" in change.actions:
        return "+"
    return "~" if change.writes else "="


def format_action(change: Change) -> str:
    """Return the action on an object as text."""
    verbs = [_VERBS[action] for action in change.actions if action in _VERBS]
    return " and ".join(verbs) or ("keep" if change.blocked else "leave")


def format_condition(plan: Plan, change: Change) -> str:
    """Return the condition of a deletion; the empty text where it has none."""
    if not plan.consent.prune:
        return _UNPRUNED
    return "kept until they are gone" if is_kept(change, plan.consent) else ""


def format_node_claims(change: Change) -> str:
    """Return how many NodeClaims a deleted pool or class has; the empty text where that is unknown."""
    return "" if change.node_claims is None else describe_node_claims(change.node_claims)


def format_consent(plan: Plan) -> str:
    """Return the consent of a plan as options of the command line; the empty text where it is the default."""
    consent, default = plan.consent, Consent()
    options = [
        ("--prune", consent.prune),
        (f"--max-deletes {consent.max_deletes}", consent.max_deletes != default.max_deletes),
        ("--drain", consent.drain),
        *((f"--allow-delete {address}", True) for address in consent.allow_delete),
        ("--allow-empty", consent.allow_empty),
        *((f"--adopt {address}", True) for address in consent.adopt),
        *((f"--adopt-from {manager}", True) for manager in consent.adopt_from),
        ("--fail-on-admission", consent.fail_on_admission),
        (f"--on-conflict {consent.on_conflict}", consent.on_conflict != default.on_conflict),
    ]
    return " ".join(option for option, is_set in options if is_set)


def format_signature(plan: Plan) -> str:
    """Return whether a plan is signed; only `--verify-key` checks by whom."""
    return "signed" if plan.signature else "not signed"


def format_place(place: BlueprintPlace | None, *, column: bool = False) -> str:
    """Return `file:line`; the empty text without a place."""
    if place is None:
        return ""
    lines = f":{place.line}" if place.line else ""
    columns = f":{place.column}" if lines and column and place.column else ""
    return f"{one_line(place.file)}{lines}{columns}"


def format_value(value: Any) -> str:  # noqa: ANN401 - any value of a field
    """Return a value on one line as JSON; the digest of a sensitive value is unchanged."""
    if isinstance(value, str) and _SENSITIVE.fullmatch(value):
        return value
    text = json.dumps(value, ensure_ascii=False)
    return visible(text[:_MAX_CHARACTERS]) + "…" * (len(text) > _MAX_CHARACTERS)


def find_lines(change: Change, *, show_textual: bool, show_raw: bool) -> Iterator[ChangeLine]:
    """Yield the lines about an object's fields: a summary for each cause, and the fields that no summary has.

    With `show_raw`, the fields of a summary are below it.
    """
    below = {id(summary): find_summarized(summary, change.fields) for summary in change.summaries}
    covered = {id(field) for fields in below.values() for field in fields}
    for summary in change.summaries:
        yield ChangeLine(f"~ {format_summary(summary)}", is_semantic=True)
        if show_raw:
            for field in below[id(summary)]:
                yield ChangeLine(format_field(field, with_place=False), is_semantic=True, is_raw=True)
    for field in select_fields(change, show_textual=show_textual):
        if id(field) not in covered:
            yield ChangeLine(format_field(field), is_semantic=field.semantic)


def format_summary(summary: CauseSummary, *, with_place: bool = True) -> str:
    """Return a summary on one line: `limits.usdPerHour: 500 → 600 (nvidia.com/gpu 8 → 9)`."""
    before, after = visible(summary.before), visible(summary.after) or "not set"
    values = f"{before} → {after}" if before else after
    name = _SHORT_NAMES.get(summary.cause.field, summary.cause.field)
    effect = f" ({visible(summary.effect)})" if summary.effect else ""
    return f"{visible(name)}: {values}{effect}" + (_format_causes((summary.cause,)) if with_place else "")


def format_cause(cause: BlueprintCause) -> str:
    """Return the place of a cause, and its layer where that is not in the user's own files."""
    layer = one_line(cause.layer)
    # A layer of a shipped profile names the line there: `profile training (line 12)`.
    is_shipped = layer.startswith("profile ") and layer.endswith(")")
    origin = f", {layer.replace(' (line ', ' line ').removesuffix(')')}" if is_shipped else ""
    return f"{format_place(cause.place, column=True)}{origin}"


def _format_causes(causes: Sequence[BlueprintCause]) -> str:
    places = list(dict.fromkeys(map(format_cause, causes)))
    more = f" and {len(places) - _MAX_CAUSES} more" if len(places) > _MAX_CAUSES else ""
    return f"  {'; '.join(places[:_MAX_CAUSES])}{more}" if places else ""


def format_field(field: FieldChange, *, with_place: bool = True) -> str:
    """Return a changed field with its values and its place, and its cause where that is not the blueprint."""
    texts = {
        "add": f"+ {visible(field.path)}: {format_value(field.after)}",
        "remove": f"- {visible(field.path)}: {format_value(field.before)}",
        "replace": f"~ {visible(field.path)}: {format_value(field.before)} -> {format_value(field.after)}",
    }
    return texts[field.op] + _cause(field) + (_format_causes(field.causes) if with_place else "")


def _cause(field: FieldChange) -> str:
    if field.cause == "default":
        return "  (a default of the API)"
    if field.cause == "drift":
        return f"  (drift: by {one_line(field.owner) or 'an unknown field manager'})"
    return ""
