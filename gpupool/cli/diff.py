"""The command `gpupool diff`: show what apply would change."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from gpupool.cli import output
from gpupool.cli.cluster_options import add_cluster_options, enforce_deadline
from gpupool.cli.options import (
    Files,
    Output,
    PlanOutputs,
    ensure_stdin_once,
    files_or_default,
    parse_plan_outputs,
)
from gpupool.cli.plan_output import CHANGED, conclude, write_plan

if TYPE_CHECKING:
    from gpupool.rollout.connection import ClusterOptions
    from gpupool.rollout.helm_releases import ReleaseDiff
    from gpupool.rollout.session import Session


@add_cluster_options
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
    connection: "ClusterOptions",
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

    files, destinations = files_or_default(file), parse_plan_outputs(to)
    ensure_stdin_once(files)
    with enforce_deadline(connection):
        session = prepare_session(files, connection, Consent())
        releases = _compare_releases(session) if helm else []
    output.print_findings(session.desired.findings)
    changed = 0 if exit_zero else CHANGED
    write_plan(destinations, session.plan, changed, show_textual=show_textual)
    _write_releases(releases, destinations)
    conclude(session.plan, changed=changed)
    if changed and any(release.differs for release in releases):
        raise typer.Exit(changed)


def _compare_releases(session: "Session") -> "list[ReleaseDiff]":
    from gpupool.rollout.helm_releases import compare_releases

    return compare_releases(session.reached.cluster, session.desired.releases)


def _write_releases(releases: "list[ReleaseDiff]", destinations: list[Output]) -> None:
    """Write the differences of Helm releases below the text; with another format, on standard error."""
    from gpupool.reports.plan.helm_releases import render_releases

    is_text = any(place.format == "text" and place.path is None for place in destinations)
    (sys.stdout if is_text else sys.stderr).write(render_releases(releases))
