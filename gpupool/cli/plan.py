"""`gpupool plan`: what an apply would change, saved so that just this is applied later."""

from typing import TYPE_CHECKING, Annotated

import typer

from gpupool.cli import output
from gpupool.cli.consenting import consents
from gpupool.cli.options import Files, PlanOutputs, files_or_default, plan_outputs, refuse_stdin_twice
from gpupool.cli.planned import CHANGED, conclude, deliver
from gpupool.cli.reaching import one_deadline, reaches_cluster

if TYPE_CHECKING:
    from gpupool.planning.plan import Consent
    from gpupool.rollout.reach import Way


@reaches_cluster
@consents
def plan(
    file: Files = None,
    to: PlanOutputs = None,
    *,
    detailed_exitcode: Annotated[
        bool, typer.Option("--detailed-exitcode", help="Exit 2 when there are changes.")
    ] = False,
    show_textual: Annotated[
        bool, typer.Option("--show-textual", help="Show what differs in words only, too.")
    ] = False,
    way: "Way",
    consent: "Consent",
) -> None:
    """Make a plan, and save it with -o json=FILE for `gpupool apply FILE`.

    What was agreed to here (--prune, --adopt, ...) stands in the plan; `apply FILE` takes no more than that
    and asks nothing. Nothing is written to the cluster: the API server judges every change in a dry run. A
    plan is good for 24 hours. Exits 3 when a guard holds it back, 4 when somebody else owns what would be
    written.

    \b
    gpupool plan -o text -o json=plan.json
    gpupool plan --prune --max-deletes 2 -o json=plan.json -o markdown=comment.md
    """  # noqa: D301 - the backspace keeps the lines below it as they are
    from gpupool.rollout.session import ensure_applicable, saved

    files, places = files_or_default(file), plan_outputs(to)
    refuse_stdin_twice(files)
    with one_deadline(way):
        session = saved(files, way, consent)
    output.say(session.wanted.findings)
    changed = CHANGED if detailed_exitcode else 0
    deliver(places, session.plan, changed, show_textual=show_textual, is_guarded=True)
    ensure_applicable(session.plan)
    conclude(session.plan, changed=changed)
