"""What a plan comes to, in the words that every format uses."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from gpupool.objects import is_pool
from gpupool.planning.guards import describe_node_claims, is_kept
from gpupool.planning.plan import Consent
from gpupool.reports.escaping import one_line, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.planning.plan import BlueprintPlace, Change, FieldChange, Plan

Verdict: TypeAlias = Literal["none", "changes", "deletes", "blocked"]

_LONGEST: Final = 300
_HIDDEN = re.compile(r"\(sensitive, sha256:[0-9a-f]+\)")
_UNPRUNED: Final = "only with --prune"
_WORDS: Final = {"create": "create", "adopt": "take over", "update": "update", "delete": "DELETE"}


def verdict(plan: Plan) -> Verdict:
    """Say in a word what a plan comes to, the gravest that is true.

    It is `blocked` where something that was asked for can't be done as things are. Deletions count where
    they were agreed to: without that, none is made.
    """
    if any(is_in_trouble(change) for change in plan.changes) or failed_guards(plan):
        return "blocked"
    if plan.consent.prune and any("delete" in change.actions for change in plan.changes):
        return "deletes"
    return "changes" if plan.has_changes else "none"


def is_in_trouble(change: Change) -> bool:
    """Return whether a change can't be made as it stands."""
    return bool(change.blocked or change.conflicts or change.rejections)


def failed_guards(plan: Plan) -> int:
    """Return the number of guards that hold the plan back."""
    return sum(not guard.passed for guard in plan.guards)


def headline(plan: Plan, cluster: str = "the cluster", blueprint: str = "the blueprint") -> str:
    """Return one sentence with the verdict and what stands behind it."""
    found = verdict(plan)
    counts = ", ".join(tally(plan)) or "nothing in it"
    if found == "none":
        return f"No changes: {cluster} is as {blueprint} says ({counts})."
    words = {"changes": "Changes", "deletes": "Changes, with deletions", "blocked": "Blocked"}
    troubles = ", ".join(_troubles(plan))
    return f"{words[found]}: {'; '.join(filter(None, (troubles, counts)))}."


def tally(plan: Plan) -> Iterator[str]:
    """Count the objects of each fate, those that there are."""
    summary = plan.summary
    count = sum(change.node_claims or 0 for change in plan.changes if is_pool(change.ref))
    ending = f" with {describe_node_claims(count)}" if count else ""
    ending += "" if plan.consent.prune else f" ({_UNPRUNED})"
    for count, words in (
        (summary.create, "to create"),
        (summary.update, "to update"),
        (summary.delete, f"to delete{ending}"),
        (summary.unchanged, "unchanged"),
        (summary.textual, "equivalent"),
    ):
        if count:
            yield f"{count} {words}"


def _troubles(plan: Plan) -> Iterator[str]:
    summary = plan.summary
    if summary.rejected:
        yield f"{summary.rejected} rejected by the API server"
    if summary.conflicts:
        yield f"{summary.conflicts} with conflicts"
    if summary.blocked:
        yield f"{summary.blocked} blocked"
    if failed := failed_guards(plan):
        yield f"{failed} guard{'s' * (failed != 1)} not passed"


def is_shown(change: Change, *, show_textual: bool) -> bool:
    """Return whether a change is worth a word; one in words only is where that is asked for."""
    if change.writes or is_in_trouble(change):
        return True
    return show_textual and bool(change.fields)


def fields_shown(change: Change, *, show_textual: bool) -> list[FieldChange]:
    """Return the changed leaves that mean something, and the others where that is asked for."""
    return [field for field in change.fields if field.semantic or show_textual]


def hidden(plan: Plan) -> str:
    """Return how many changes are left out because they are in words only; nothing where there are none."""
    count = sum(not field.semantic for change in plan.changes for field in change.fields)
    if not count:
        return ""
    return f"Not shown: {count} difference{'s' * (count != 1)} in formatting only; see --show-textual."


def unverified(plan: Plan) -> str:
    """Return how many changes no API server has judged; nothing where it has judged all."""
    count = sum(change.verified != "server" for change in plan.changes)
    return f"Not checked by the API server in a dry run: {objects(count)}." if count else ""


def objects(count: int) -> str:
    """Count objects."""
    return f"{count} object{'s' * (count != 1)}"


def symbol(change: Change) -> str:
    """Return one character for what becomes of an object."""
    if is_in_trouble(change):
        return "!"
    if "delete" in change.actions:
        return "-"
    if "create" in change.actions:
        return "+"
    return "~" if change.writes else "="


def action(change: Change) -> str:
    """Return what is done to an object."""
    done = [_WORDS[each] for each in change.actions if each in _WORDS]
    return " and ".join(done) or ("keep" if change.blocked else "leave")


def condition(plan: Plan, change: Change) -> str:
    """Say on what a deletion waits; nothing where it is made at once."""
    if not plan.consent.prune:
        return _UNPRUNED
    return "kept until they are gone" if is_kept(change, plan.consent) else ""


def node_claims(change: Change) -> str:
    """Return how many NodeClaims a pool or class that is deleted has; nothing where that is not known."""
    return "" if change.node_claims is None else describe_node_claims(change.node_claims)


def agreed(plan: Plan) -> str:
    """Return the consent of a plan as options of the command line; the empty text where it is the default."""
    consent, default = plan.consent, Consent()
    said = [
        ("--prune", consent.prune),
        (f"--max-deletes {consent.max_deletes}", consent.max_deletes != default.max_deletes),
        ("--drain", consent.drain),
        *((f"--allow-delete {each}", True) for each in consent.allow_delete),
        ("--allow-empty", consent.allow_empty),
        *((f"--adopt {each}", True) for each in consent.adopt),
        *((f"--adopt-from {each}", True) for each in consent.adopt_from),
        ("--fail-on-admission", consent.fail_on_admission),
        (f"--on-conflict {consent.on_conflict}", consent.on_conflict != default.on_conflict),
    ]
    return " ".join(option for option, is_set in said if is_set)


def signing(plan: Plan) -> str:
    """Return whether a plan is signed; by whom, only `--verify-key` tells."""
    return "signed" if plan.signature else "not signed"


def at(place: BlueprintPlace | None, *, column: bool = False) -> str:
    """Return `file:line`; nothing where there is no place."""
    if place is None:
        return ""
    lines = f":{place.line}" if place.line else ""
    columns = f":{place.column}" if lines and column and place.column else ""
    return f"{one_line(place.file)}{lines}{columns}"


def shown(value: Any) -> str:  # noqa: ANN401 - whatever a field holds
    """Return a value on one line: JSON, but what stands for a sensitive one as it is."""
    if isinstance(value, str) and _HIDDEN.fullmatch(value):
        return value
    said = json.dumps(value, ensure_ascii=False)
    return visible(said[:_LONGEST]) + "…" * (len(said) > _LONGEST)


def field_line(field: FieldChange) -> str:
    """Return a changed leaf with what it was and what it would be, and who says so if not the blueprint."""
    said = {
        "add": f"+ {visible(field.path)}: {shown(field.after)}",
        "remove": f"- {visible(field.path)}: {shown(field.before)}",
        "replace": f"~ {visible(field.path)}: {shown(field.before)} -> {shown(field.after)}",
    }
    return said[field.op] + _cause(field)


def _cause(field: FieldChange) -> str:
    if field.cause == "default":
        return "  (a default of the API)"
    if field.cause == "drift":
        return f"  (drift: by {one_line(field.owner) or 'an unknown field manager'})"
    return ""
