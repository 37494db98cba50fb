"""What diff, plan and apply have in common: a plan is shown, and its verdict becomes an exit code."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from gpupool.cli import output
from gpupool.cli.options import Output

if TYPE_CHECKING:
    from gpupool.planning.plan import Plan


def deliver(places: Sequence[Output], plan: "Plan", code: int, *, show_textual: bool = False) -> None:
    """Write a plan in each format that was asked for.

    Raises:
        InputError: where a file can't be written.
    """
    from gpupool.reports.plan.formats import FORMATS

    if not plan.id and any(each.format == "json" for each in places):
        from gpupool.planning.file import sealed

        plan = sealed(plan)

    def document(name: str) -> str:
        colour = name == "text" and sys.stdout.isatty()
        return FORMATS[name](plan, show_textual=show_textual, colour=colour)

    output.deliver(places, document)
    if any(each.format == "github" for each in places):
        from gpupool.cli import github

        github.append_for_steps(plan, code if plan.has_changes else 0)


def conclude(plan: "Plan", *, changed: int) -> None:
    """End a command that only looks: with `changed` where something would be written or deleted.

    Raises:
        ClusterError: where the API server would refuse an object.
        ConflictError: where somebody else owns a field, or an object.
    """
    from gpupool.rollout.session import ensure_acceptable

    ensure_acceptable(plan)
    if plan.has_changes and changed:
        raise typer.Exit(changed)
