"""`gpupool diff`: what an apply would change."""

from typing import Annotated

import typer

from gpupool.cli import output
from gpupool.cli.options import Files, PlanOutputs, files_or_default, plan_outputs
from gpupool.cli.planned import conclude, deliver
from gpupool.cli.reaching import one_deadline, reaches_cluster
from gpupool.planning.plan import Consent
from gpupool.rollout.reach import Way

CHANGED = 2


@reaches_cluster
def diff(
    file: Files = None,
    to: PlanOutputs = None,
    *,
    show_textual: Annotated[
        bool, typer.Option("--show-textual", help="Show what differs in words only, too.")
    ] = False,
    exit_zero: Annotated[
        bool, typer.Option("--exit-zero", help="Exit 0 also when there are changes.")
    ] = False,
    way: Way,
) -> None:
    """Say what an apply would change in the cluster; nothing is written.

    The API server judges every change in a dry run. Exits 0 when there is nothing to do, 2 when there are
    changes, 4 when somebody else owns what would be written, and 1 when the server would refuse it.

    \b
    gpupool diff
    gpupool diff -f base.yaml -f prod.yaml --context prod -o markdown=comment.md
    """  # noqa: D301 - the backspace keeps the lines below it as they are
    from gpupool.rollout.session import look

    places = plan_outputs(to)
    with one_deadline(way):
        session = look(files_or_default(file), way, Consent())
    output.say(session.wanted.findings)
    deliver(places, session.plan, CHANGED, show_textual=show_textual)
    conclude(session.plan, changed=0 if exit_zero else CHANGED)
