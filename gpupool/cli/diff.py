"""`gpupool diff`: what an apply would change."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from gpupool.cli import output
from gpupool.cli.cluster_options import one_deadline, reaches_cluster
from gpupool.cli.options import (
    Files,
    Output,
    PlanOutputs,
    files_or_default,
    plan_outputs,
    refuse_stdin_twice,
)
from gpupool.cli.plan_output import CHANGED, conclude, deliver

if TYPE_CHECKING:
    from gpupool.rollout.connection import ClusterOptions
    from gpupool.rollout.helm_releases import ReleaseDiff
    from gpupool.rollout.session import Session


@reaches_cluster
def diff(
    file: Files = None,
    to: PlanOutputs = None,
    *,
    show_textual: Annotated[
        bool, typer.Option("--show-textual", help="Show changes of formatting, too.")
    ] = False,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit 0 even if there are changes.")] = False,
    helm: Annotated[
        bool,
        typer.Option("--helm", help="Compare Helm releases with the rendered values; reads their Secrets."),
    ] = False,
    way: "ClusterOptions",
) -> None:
    """Show what apply would change in the cluster; nothing is written.

    The API server checks every change in a dry run. Exits 0 if there is nothing to do, 2 if there are
    changes, 4 if another owner manages what would be written, and 1 if the server rejects it.

    \b
    gpupool diff
    gpupool diff -f base.yaml -f prod.yaml --context prod -o markdown=comment.md
    """  # noqa: D301 - the backspace keeps the lines below it as they are
    from gpupool.planning.plan import Consent
    from gpupool.rollout.session import prepare_session

    files, places = files_or_default(file), plan_outputs(to)
    refuse_stdin_twice(files)
    with one_deadline(way):
        session = prepare_session(files, way, Consent())
        releases = _releases(session) if helm else []
    output.say(session.desired.findings)
    changed = 0 if exit_zero else CHANGED
    deliver(places, session.plan, changed, show_textual=show_textual)
    _show(releases, places)
    conclude(session.plan, changed=changed)
    if changed and any(each.differs for each in releases):
        raise typer.Exit(changed)


def _releases(session: "Session") -> "list[ReleaseDiff]":
    from gpupool.rollout.helm_releases import compare_releases

    return compare_releases(session.reached.cluster, session.desired.releases)


def _show(releases: "list[ReleaseDiff]", places: list[Output]) -> None:
    """Write what there is to say of charts below the text; beside another format, on standard error."""
    from gpupool.reports.plan.helm_releases import render_releases

    is_text = any(each.format == "text" and each.path is None for each in places)
    (sys.stdout if is_text else sys.stderr).write(render_releases(releases))
