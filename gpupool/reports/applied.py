"""What came of an apply, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpupool.reports.escaping import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.rollout.results import Outcome, Result

_DONE: Final = {
    "create": "created",
    "update": "configured",
    "adopt": "taken over",
    "delete": "deleted",
    "keep": "unchanged",
}


def done_line(outcome: Outcome) -> str:
    """Give the line that is printed as soon as an object is done, or is not."""
    what = _DONE[outcome.action] if outcome.state == "done" else f"{outcome.state} ({outcome.action})"
    return one_line(f"{outcome.address} {what}{': ' * bool(outcome.message)}{outcome.message}")


def said(result: Result) -> str:
    """Give the summary at the end."""
    return "".join(f"{one_line(line)}\n" for line in _lines(result))


def _lines(result: Result) -> Iterator[str]:
    yield from result.notes
    for each in result.of("not ready"):
        yield done_line(each)
    counts: dict[str, int] = {}
    for each in result.outcomes:
        what = _DONE[each.action] if each.state == "done" else each.state
        counts[what] = counts.get(what, 0) + 1
    yield ", ".join(f"{count} {what}" for what, count in counts.items()) or "nothing to do"
    yield f"cluster.uid: {result.uid}"
    if result.charts:
        yield "Charts to upgrade, with the values that `gpupool render -d DIR` writes:"
        yield from (f"  {command}" for command in result.charts)
