"""The command `gpupool move`: move the objects of a renamed blueprint to its new name."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from gpupool.cli.cluster_options import (
    add_cluster_options,
    enforce_deadline,
    parse_seconds,
    stop_at_first_signal,
)
from gpupool.cli.confirmation import ensure_cluster_chosen, ensure_terminal
from gpupool.cli.options import Files, ensure_stdin_once, files_or_default
from gpupool.cli.progress import show_progress
from gpupool.errors import GuardError

if TYPE_CHECKING:
    from gpupool.rollout.connection import ClusterOptions


@add_cluster_options
def move(
    source: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="[NAMESPACE/]NAME",
            help="Blueprint that has the objects now, with its inventory's namespace where that differs.",
        ),
    ],
    file: Files = None,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not prompt.")] = False,
    lock_timeout: Annotated[
        str, typer.Option("--lock-timeout", metavar="TIME", help="How long to wait for each lock.")
    ] = "60s",
    connection: "ClusterOptions",
) -> None:
    """Move the objects of a renamed blueprint to its new name, or to another inventory.

    Run it after you changed `metadata.name` or `inventory.namespace`, before
    the next `apply`. It changes two labels of each object and the two
    inventories; no field of a spec changes, and no node is disrupted. If it
    is interrupted, run the same command again.

    \b
    gpupool move --from demo
    gpupool move --from kube-system/demo -f gpupool.yaml --context prod --yes
    """  # noqa: D301 - the backspace keeps the lines below it as they are
    files = files_or_default(file)
    ensure_stdin_once(files)
    wait = parse_seconds("--lock-timeout", lock_timeout)

    from gpupool.api.live import move_options
    from gpupool.cluster.deadline import Deadline
    from gpupool.reports.apply import moved as report
    from gpupool.rollout.applying import moving
    from gpupool.rollout.applying.results import ensure_complete
    from gpupool.rollout.connection import reach
    from gpupool.rollout.desired_state import load_desired_state

    parsed_source = moving.parse_source(source)
    desired = load_desired_state(files)
    parsed_source = parsed_source._replace(namespace=parsed_source.namespace or desired.namespace)
    deadline = Deadline(connection.timeout)
    with enforce_deadline(connection, deadline.stop):
        reached = reach(connection, desired.pins, deadline)
        planned_move = moving.find_move(reached, desired, parsed_source)
        if moving.is_over(planned_move):
            sys.stdout.write(report.render_nothing_to_move(planned_move))
            return
        sys.stdout.write(report.render_move(planned_move))
        sys.stdout.flush()
        ensure_cluster_chosen(reached.context, is_pinned=reached.is_pinned)
        with stop_at_first_signal():
            _confirm(yes=yes)
        with show_progress() as display:
            result = moving.carry_out(
                reached, desired, planned_move, move_options(files, wait, display.print_line)
            )
    sys.stderr.write(report.render_result(planned_move, result))
    ensure_complete(result)


def _confirm(*, yes: bool) -> None:
    if yes:
        return
    ensure_terminal("--yes")
    if typer.prompt("Move these objects? Only `yes` is accepted", err=True) != "yes":
        message = "not confirmed: nothing was moved"
        raise GuardError(message)
