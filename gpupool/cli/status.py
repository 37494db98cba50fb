"""The command `gpupool status`: show the state of a blueprint's objects, and wait for it."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from gpupool.cli import output
from gpupool.cli.cluster_options import add_cluster_options, enforce_deadline
from gpupool.cli.options import (
    TEXT_OR_JSON,
    Files,
    ResultOption,
    ensure_stdin_once,
    files_or_default,
    parse_outputs,
)
from gpupool.errors import NotReadyError

if TYPE_CHECKING:
    from gpupool.rollout.connection import ClusterOptions, ReachedCluster
    from gpupool.rollout.desired_state import DesiredState
    from gpupool.rollout.watch.status import Status

_LAST_READ_SECONDS = 4.0
"""The extra time to read the state that is shown, after the time to wait is up."""


@add_cluster_options
def status(
    file: Files = None,
    wait: Annotated[
        Literal["ready", "rollout"] | None,
        typer.Option(
            "--wait",
            metavar="ready|rollout",
            show_default=False,
            help="Wait until all objects are Ready; with `rollout`, also until no node is outdated.",
        ),
    ] = None,
    to: ResultOption = None,
    *,
    connection: "ClusterOptions",
) -> None:
    """Show the state of the blueprint's objects in the cluster.

    For each object: whether it is Ready, or why not. For each pool: its NodeClaims by stage, the instance
    types that were launched, usage and limits, and how many nodes are outdated. Other NodePools are listed
    separately. With --wait it waits up to --timeout, and exits 6 if something is not Ready by then, with
    the reason. It writes nothing.

    \b
    gpupool status
    gpupool status --wait ready --timeout 5m
    gpupool status --wait rollout --timeout 1h -o json=status.json
    """  # noqa: D301 - the backspace keeps the lines below it as they are
    files, destinations = files_or_default(file), parse_outputs(to, TEXT_OR_JSON)
    ensure_stdin_once(files)

    from gpupool.cluster.deadline import Deadline
    from gpupool.rollout.connection import reach
    from gpupool.rollout.desired_state import load_desired_state
    from gpupool.rollout.watch.status import read_status

    desired = load_desired_state(files)
    with enforce_deadline(connection):
        reached = reach(connection, desired.pins, Deadline(connection.timeout))
        unfinished = [] if wait is None else _wait_until_done(reached, desired, wait)
        if wait is not None:
            last = Deadline(_LAST_READ_SECONDS)
            reached = reached._replace(cluster=reached.cluster.with_deadline(last.seconds), deadline=last)
        state = read_status(reached, desired)
    width = output.find_width(destinations)
    output.write_outputs(destinations, lambda name: _render(state, name, width))
    if unfinished:
        message = f"not {'Ready' if wait == 'ready' else 'rolled out'} in time: {'; '.join(unfinished)}"
        raise NotReadyError(message)


def _wait_until_done(
    reached: "ReachedCluster", desired: "DesiredState", wait: Literal["ready", "rollout"]
) -> list[str]:
    from gpupool.cli.progress import show_progress
    from gpupool.rollout.watch.status import wait_until

    with show_progress() as display:
        return wait_until(reached, desired, wait, display)


def _render(state: "Status", name: str, width: int | None) -> str:
    if name == "text":
        from gpupool.reports.status.text import render_text

        return render_text(state, width)
    from gpupool.reports.status.json_text import to_json

    return output.render_json(to_json(state))
