"""The command `gpupool unlock`: show the holder of a lock, or delete the lock of a dead run."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from gpupool.cli.cluster_options import add_cluster_options, enforce_deadline
from gpupool.cli.options import Files, ensure_stdin_once, files_or_default

if TYPE_CHECKING:
    from gpupool.rollout.connection import ClusterOptions


@add_cluster_options
def unlock(
    holder: Annotated[
        str | None, typer.Argument(metavar="ID", help="ID of the holder whose lock to delete.")
    ] = None,
    file: Files = None,
    *,
    connection: "ClusterOptions",
) -> None:
    """Delete the lock of a dead run, or show who holds it.

    Without an ID it shows who holds the lock, since when, and in which run; it exits 3 if the lock is
    held. With the ID of the holder it deletes that lock, and no other. The next `apply` takes over a
    lock that was not renewed for 60 seconds.

    \b
    gpupool unlock
    gpupool unlock 1f8a77c2 -f base.yaml -f prod.yaml
    """  # noqa: D301 - the backspace keeps the lines below it as they are
    files = files_or_default(file)
    ensure_stdin_once(files)

    from gpupool.cluster.deadline import Deadline
    from gpupool.reports import lock as report
    from gpupool.rollout.connection import reach
    from gpupool.rollout.desired_state import load_desired_state
    from gpupool.rollout.lock import unlock as locks
    from gpupool.rollout.lock.lock import unlock_line

    desired = load_desired_state(files)
    line = unlock_line(connection, file or ())
    with enforce_deadline(connection):
        reached = reach(connection, desired.pins, Deadline(connection.timeout))
        lease = locks.find_lock(reached.cluster, desired.namespace, desired.inventory)
        if lease is None:
            sys.stdout.write(report.render_free(desired.namespace, desired.inventory))
        elif holder is None:
            sys.stdout.write(report.render_held(lease))
            sys.stdout.flush()
            locks.raise_unnamed(lease, line)
        else:
            sys.stdout.write(report.render_deleted(locks.unlock(reached.cluster, lease, holder, line)))
