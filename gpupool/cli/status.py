"""`gpupool status`: how a blueprint's objects are, what runs because of them, and waiting for all of it."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from gpupool.cli import output
from gpupool.cli.options import (
    TEXT_OR_JSON,
    Files,
    Result,
    files_or_default,
    outputs,
    refuse_stdin_twice,
)
from gpupool.cli.reaching import one_deadline, reaches_cluster
from gpupool.errors import NotReadyError

if TYPE_CHECKING:
    from gpupool.rollout.desired import Desired
    from gpupool.rollout.reach import Reached, Way
    from gpupool.rollout.status import Status

_LAST_LOOK_SECONDS = 4.0
"""When the time is up, there is a moment to say how it ended."""


@reaches_cluster
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
    to: Result = None,
    *,
    way: "Way",
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
    files, places = files_or_default(file), outputs(to, TEXT_OR_JSON)
    refuse_stdin_twice(files)

    from gpupool.cluster.deadline import Deadline
    from gpupool.rollout.desired import desired
    from gpupool.rollout.reach import reach
    from gpupool.rollout.status import status as read

    wanted = desired(files)
    with one_deadline(way):
        reached = reach(way, wanted.pins, Deadline(way.timeout))
        late = [] if wait is None else _late(reached, wanted, wait)
        if wait is not None:
            last = Deadline(_LAST_LOOK_SECONDS)
            reached = reached._replace(cluster=reached.cluster.afresh(last.seconds), deadline=last)
        found = read(reached, wanted)
    width = output.width(places)
    output.deliver(places, lambda name: _written(found, name, width))
    if late:
        message = f"not {'Ready' if wait == 'ready' else 'rolled out'} in time: {'; '.join(late)}"
        raise NotReadyError(message)


def _late(reached: "Reached", wanted: "Desired", wait: str) -> list[str]:
    """Wait, and give what is not well when that ends, each with its reason."""
    from gpupool.cli.live import live
    from gpupool.cluster.kinds import NODE_POOL
    from gpupool.rollout.rolling import wait_rolled
    from gpupool.rollout.status import waited_for
    from gpupool.rollout.waiting import wait_ready

    names = waited_for(wanted)
    with live() as say:
        found = wait_ready(reached.cluster, reached.deadline, names, say, sensitive=wanted.sensitive)
        if wait == "rollout" and all(each.is_ready for each in found.values()):
            found = wait_rolled(reached.cluster, reached.deadline, names.get(NODE_POOL.name, ()), say)
    return [f"{kind}/{name}: {each.reason}" for (kind, name), each in found.items() if not each.is_ready]


def _written(found: "Status", name: str, width: int | None) -> str:
    if name == "text":
        from gpupool.reports.status import text

        return text(found, width)
    from gpupool.reports.status_json import plain

    return output.json_text(plain(found))
