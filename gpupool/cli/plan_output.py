"""What diff, plan and apply have in common: a plan is shown, and its verdict becomes an exit code."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from gpupool.cli import output
from gpupool.cli.options import Output
from gpupool.cli.terminal import has_colour
from gpupool.errors import GpupoolError

if TYPE_CHECKING:
    from gpupool.planning.plan import Plan


CHANGED = 2
"""The exit code that says that there are changes, where a command says so."""


def deliver(
    places: Sequence[Output],
    plan: "Plan",
    changed: int,
    *,
    show_textual: bool = False,
    is_guarded: bool = False,
) -> None:
    """Write a plan in each format that was asked for.

    `changed` is the exit code of a command that finds changes; `is_guarded` says whether it ends at guards.

    Raises:
        InputError: where a file can't be written.
    """
    from gpupool.reports.plan.formats import FORMATS

    if not plan.id and any(each.format == "json" for each in places):
        from gpupool.planning.file import seal

        plan = seal(plan)

    def document(name: str) -> str:
        colour = name == "text" and has_colour(sys.stdout)
        return FORMATS[name](plan, show_textual=show_textual, colour=colour)

    output.deliver(places, document, is_private=True)
    if any(each.format == "github" for each in places):
        from gpupool.cli import github

        github.append_for_steps(plan, _code(plan, changed, is_guarded=is_guarded))


def conclude(plan: "Plan", *, changed: int) -> None:
    """End a command that only looks: with `changed` where there is something to do, or in the way of it.

    Raises:
        ClusterError: where the API server rejects an object.
        ConflictError: where somebody else owns a field, or an object.
    """
    from gpupool.rollout.session import ensure_acceptable

    ensure_acceptable(plan)
    if changed and _is_something(plan):
        raise typer.Exit(changed)


def _is_something(plan: "Plan") -> bool:
    """Return whether the cluster is not as the blueprint says, or can't stay so."""
    from gpupool.reports.plan.wording import verdict

    return verdict(plan) != "none"


def _code(plan: "Plan", changed: int, *, is_guarded: bool) -> int:
    from gpupool.rollout.session import ensure_acceptable, ensure_applicable

    try:
        (ensure_applicable if is_guarded else ensure_acceptable)(plan)
    except GpupoolError as problem:
        return problem.exit_code
    return changed if _is_something(plan) else 0
