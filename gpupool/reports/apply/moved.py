"""A move between two inventories and its result as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpupool.planning.foreign_fields import BLUEPRINT, PART_OF
from gpupool.reports.escaping import one_line
from gpupool.reports.tables import align_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpupool.objects import Ref
    from gpupool.rollout.applying.moving import Move
    from gpupool.rollout.applying.results import Result

_UNDESIRED: Final = "not in the blueprint: `gpupool apply --prune` would delete it"


def render_move(move: Move) -> str:
    """Return the objects that are moved, and those that are not."""
    return "".join(f"{line}\n" for line in _lines(move))


def render_nothing_to_move(move: Move) -> str:
    """Return the text for an inventory that lists no objects."""
    return f"Nothing to do: the inventory {_title(move)} lists no objects.\n"


def render_result(move: Move, result: Result) -> str:
    """Return the summary after a move."""
    moved, kept = (
        sum(outcome.action == action for outcome in result.of("done")) for action in ("move", "keep")
    )
    already = f" ({kept} had been moved before)" if kept else ""
    summary = f"Moved {moved + kept} objects{already}.\n"
    if result.of("failed", "not tried") or result.unrecorded:
        return summary
    place = move.source.place
    return (
        f"{summary}The inventory {_title(move)} is empty now; to delete it:"
        f" kubectl delete configmap {place.name} --namespace {place.namespace}\n"
    )


def _lines(move: Move) -> Iterator[str]:
    source, target = move.source.place, move.target.place
    yield f"Move from the inventory {source.namespace}/{source.name} to {target.namespace}/{target.name}:"
    yield from _rows({ref: _UNDESIRED if ref in move.undesired else "" for ref in move.live})
    if move.left:
        yield "Not moved:"
        yield from _rows(move.left)
    yield f"Only the labels {PART_OF} and {BLUEPRINT} change; no node is disrupted."


def _rows(notes: Mapping[Ref, str]) -> Iterator[str]:
    rows = [(one_line(str(ref)), note) for ref, note in sorted(notes.items())]
    yield from (f"  {line}" for line in align_rows(rows))


def _title(move: Move) -> str:
    return f"{move.source.place.namespace}/{move.source.place.name}"
