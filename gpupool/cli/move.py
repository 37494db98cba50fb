"""`gpupool move`: take over what a blueprint applied under its name of before."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from gpupool.cli.agreeing import ensure_meant, ensure_terminal
from gpupool.cli.live import Live, live
from gpupool.cli.options import Files, files_or_default, refuse_stdin_twice
from gpupool.cli.reaching import ends_at_once, one_deadline, reaches_cluster, seconds
from gpupool.errors import GuardError, UsageError

if TYPE_CHECKING:
    from gpupool.rollout.inventory import Place
    from gpupool.rollout.moving import Manner
    from gpupool.rollout.reach import Way


@reaches_cluster
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
    way: "Way",
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
    refuse_stdin_twice(files)
    wait, before = seconds("--lock-timeout", lock_timeout), _parsed(source)

    from gpupool.cluster.deadline import Deadline
    from gpupool.reports import moved as report
    from gpupool.rollout import moving
    from gpupool.rollout.desired import desired
    from gpupool.rollout.inventory import Place
    from gpupool.rollout.reach import reach
    from gpupool.rollout.results import ensure_whole

    wanted = desired(files)
    deadline = Deadline(way.timeout)
    place = Place(before.namespace or wanted.namespace, before.name)
    with one_deadline(way, deadline.stop):
        reached = reach(way, wanted.pins, deadline)
        found = moving.find_move(reached, wanted, place)
        if moving.is_over(found):
            sys.stdout.write(report.nothing(found))
            return
        sys.stdout.write(report.text(found))
        sys.stdout.flush()
        ensure_meant(reached.context, pinned=reached.pinned)
        with ends_at_once():
            _agree(yes=yes)
        with live() as told:
            result = moving.carry_out(reached, wanted, found, _manner(files, wait, told))
    sys.stderr.write(report.ended(found, result))
    ensure_whole(result)


def _parsed(source: str) -> "Place":
    """Parse `[NAMESPACE/]NAME`; the namespace is empty where there is none."""
    from gpupool.planning.addresses import is_label, is_name
    from gpupool.rollout.inventory import Place

    namespace, slash, name = source.rpartition("/")
    if not (name and is_name(f"gpupool-{name}") and (is_label(namespace) or not slash)):
        message = f"--from {source}: expected a blueprint's name, such as demo or kube-system/demo"
        raise UsageError(message)
    return Place(namespace, f"gpupool-{name}")


def _agree(*, yes: bool) -> None:
    if yes:
        return
    ensure_terminal("--yes")
    if typer.prompt("Move these objects? Only `yes` is accepted", err=True) != "yes":
        message = "not confirmed: nothing was moved"
        raise GuardError(message)


def _manner(files: list[str], lock_timeout: float, told: Live) -> "Manner":
    from gpupool.reports.applied import done_line
    from gpupool.rollout.commit import commit
    from gpupool.rollout.holder import myself
    from gpupool.rollout.moving import Manner
    from gpupool.rollout.session import version

    return Manner(
        lock_timeout=lock_timeout,
        tooling=f"gpupool/{version()}",
        who={"by": myself().text, "commit": commit(dict.fromkeys(files, ""))},
        files=tuple(files),
        say=told.say,
        done=lambda outcome: told.say(done_line(outcome)),
    )
