"""Output of a plan in each format, and the exit code of its verdict."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from gpupool.cli import output
from gpupool.cli.options import Output
from gpupool.cli.terminal import has_colour
from gpupool.cli.verbosity import is_shown
from gpupool.errors import GpupoolError
from gpupool.findings import Severity

if TYPE_CHECKING:
    from gpupool.planning.plan import Plan


CHANGED = 2
"""The exit code for changes, of the commands that distinguish them."""


def write_plan(
    destinations: Sequence[Output],
    plan: "Plan",
    changed: int,
    *,
    show_textual: bool = False,
    is_guarded: bool = False,
) -> None:
    """Write a plan in each requested format.

    `changed` is the exit code if there are changes; `is_guarded` is whether a guard ends the command.

    Raises:
        InputError: if a file cannot be written.
    """
    from gpupool.reports.plan.formats import FORMATS

    if not plan.id and any(place.format == "json" for place in destinations):
        from gpupool.planning.file import seal

        plan = seal(plan)

    def render(name: str) -> str:
        colour = name == "text" and has_colour(sys.stdout)
        return FORMATS[name](plan, show_textual=show_textual, colour=colour, show_raw=is_shown(Severity.INFO))

    output.write_outputs(destinations, render, is_private=True)
    if any(place.format == "github" for place in destinations):
        from gpupool.cli import github

        github.append_for_steps(plan, _find_exit_code(plan, changed, is_guarded=is_guarded))


def conclude(plan: "Plan", *, changed: int) -> None:
    """End a command that writes nothing; exit with `changed` if there are changes or conflicts.

    Raises:
        ClusterError: if the API server rejects an object.
        ConflictError: if a field or an object has another owner.
    """
    from gpupool.rollout.session import ensure_acceptable

    ensure_acceptable(plan)
    if changed and _has_work(plan):
        raise typer.Exit(changed)


def _has_work(plan: "Plan") -> bool:
    """Return whether the plan has changes, or has conflicts that would prevent them."""
    from gpupool.reports.plan.wording import find_verdict

    return find_verdict(plan) != "none"


def _find_exit_code(plan: "Plan", changed: int, *, is_guarded: bool) -> int:
    """Return the exit code with which the command will end."""
    from gpupool.rollout.session import ensure_acceptable, ensure_applicable

    try:
        (ensure_applicable if is_guarded else ensure_acceptable)(plan)
    except GpupoolError as problem:
        return problem.exit_code
    return changed if _has_work(plan) else 0
