"""What came of an apply, in words."""

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


def _state(outcome: Outcome) -> str:
    return "blocked" if outcome.state == "held back" else outcome.state


def done_line(outcome: Outcome) -> str:
    """Return the line that is printed as soon as an object is done, or is not."""
    if outcome.state == "deleting":
        return one_line(f"{outcome.address} {outcome.message}")
    what = _DONE[outcome.action] if outcome.state == "done" else f"{_state(outcome)} ({outcome.action})"
    return one_line(f"{outcome.address} {what}{': ' * bool(outcome.message)}{outcome.message}")


def said(result: Result, again: RetryCommands) -> str:
    """Return the summary at the end; `again` are the commands that would apply the blueprint once more."""
    return "".join(f"{one_line(line)}\n" for line in _lines(result, again))


def _lines(result: Result, again: RetryCommands) -> Iterator[str]:
    yield from result.notes
    for each in result.of("not ready"):
        yield done_line(each)
    yield from not_ready.events(result)
    counts: dict[str, int] = {}
    for each in result.outcomes:
        what = _DONE[each.action] if each.state == "done" else _state(each)
        counts[what] = counts.get(what, 0) + 1
    yield ", ".join(f"{count} {what}" for what, count in counts.items()) or "nothing to do"
    yield f"cluster.uid: {result.uid}"
    if result.charts:
        yield "Charts to upgrade, with the values that `gpupool render -d DIR` writes:"
        yield from (f"  {command}" for command in result.charts)
    yield from not_ready.ways_out(result, again)


def stale(approved: Sequence[Change], now: Sequence[Change]) -> str:
    """Return what was approved beside what would be done now, for the objects that make a plan untrue."""
    plans = {each.address: each for each in approved}
    return "".join(
        f"{one_line(line)}\n" for each in now for line in _beside(each.address, plans.get(each.address), each)
    )


def _beside(address: str, approved: Change | None, now: Change) -> Iterator[str]:
    yield address
    yield from (f"  approved: {line}" for line in _changes(approved))
    yield from (f"  now:      {line}" for line in _changes(now))


def _changes(change: Change | None) -> list[str]:
    if change is None:
        return ["nothing"]
    found = [f"{each.path}: {each.before} -> {each.after}" for each in change.fields if each.semantic]
    found += [f"{each.path} is owned by {each.manager} now" for each in change.conflicts]
    found += [f"{each.field} {each.message}".strip() for each in change.rejections]
    found += [change.blocked] if change.blocked else []
    return found or [" and ".join(change.actions)]
