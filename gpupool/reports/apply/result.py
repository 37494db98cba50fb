"""Result of an apply as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpupool.reports.apply import not_ready
from gpupool.reports.escaping import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gpupool.planning.plan import Change
    from gpupool.reports.apply.not_ready import RetryCommands
    from gpupool.rollout.applying.results import Outcome, Result

_DONE: Final = {
    "create": "created",
    "update": "configured",
    "adopt": "taken over",
    "delete": "deleted",
    "move": "moved",
    "keep": "unchanged",
}


def format_outcome(outcome: Outcome) -> str:
    """Return the line that is printed for an object as soon as it is applied, or has failed."""
    if outcome.state == "deleting":
        return one_line(f"{outcome.address} {outcome.message}")
    state = _DONE[outcome.action] if outcome.state == "done" else f"{_state(outcome)} ({outcome.action})"
    return one_line(f"{outcome.address} {state}{': ' * bool(outcome.message)}{outcome.message}")


def render_result(result: Result, again: RetryCommands) -> str:
    """Return the summary after an apply; `again` holds the commands that apply the blueprint again."""
    return "".join(f"{one_line(line)}\n" for line in _lines(result, again))


def render_stale_changes(approved: Sequence[Change], now: Sequence[Change]) -> str:
    """Return the approved changes beside the current ones, for the objects that make a plan stale."""
    by_address = {change.address: change for change in approved}
    return "".join(
        f"{one_line(line)}\n"
        for change in now
        for line in _compare(change.address, by_address.get(change.address), change)
    )


def _state(outcome: Outcome) -> str:
    return "blocked" if outcome.state == "held back" else outcome.state


def _lines(result: Result, again: RetryCommands) -> Iterator[str]:
    yield from result.notes
    for outcome in result.of("not ready"):
        yield format_outcome(outcome)
    yield from not_ready.format_events(result)
    counts: dict[str, int] = {}
    for outcome in result.outcomes:
        state = _DONE[outcome.action] if outcome.state == "done" else _state(outcome)
        counts[state] = counts.get(state, 0) + 1
    yield ", ".join(f"{count} {state}" for state, count in counts.items()) or "nothing to do"
    yield f"cluster.uid: {result.uid}"
    if result.charts:
        yield "Charts to upgrade, with the values that `gpupool render -d DIR` writes:"
        yield from (f"  {command}" for command in result.charts)
    yield from not_ready.format_next_steps(result, again)


def _compare(address: str, approved: Change | None, now: Change) -> Iterator[str]:
    yield address
    yield from (f"  approved: {line}" for line in _list_changes(approved))
    yield from (f"  now:      {line}" for line in _list_changes(now))


def _list_changes(change: Change | None) -> list[str]:
    if change is None:
        return ["nothing"]
    changes = [f"{field.path}: {field.before} -> {field.after}" for field in change.fields if field.semantic]
    changes += [f"{conflict.path} is owned by {conflict.manager} now" for conflict in change.conflicts]
    changes += [f"{rejection.field} {rejection.message}".strip() for rejection in change.rejections]
    changes += [change.blocked] if change.blocked else []
    return changes or [" and ".join(change.actions)]
