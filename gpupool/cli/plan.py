"""`gpupool plan`: what an apply would change, saved so that just this is applied later."""

from typing import TYPE_CHECKING, Annotated

import typer

from gpupool.cli import output
from gpupool.cli.approval_options import consents
from gpupool.cli.cluster_options import one_deadline, reaches_cluster
from gpupool.cli.options import Files, PlanOutputs, files_or_default, plan_outputs, refuse_stdin_twice
from gpupool.cli.plan_output import CHANGED, conclude, deliver

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpupool.planning.plan import Consent, Plan
    from gpupool.rollout.connection import ClusterOptions


@reaches_cluster
@consents
def plan(  # noqa: PLR0913 - each is an option of the command line
    file: Files = None,
    to: PlanOutputs = None,
    *,
    detailed_exitcode: Annotated[
        bool, typer.Option("--detailed-exitcode", help="Exit 2 if there are changes.")
    ] = False,
    show_textual: Annotated[
        bool, typer.Option("--show-textual", help="Show changes of formatting, too.")
    ] = False,
    sign_key: Annotated[
        str | None,
        typer.Option(
            "--sign-key",
            metavar="FILE",
            help="Sign the plan with this Ed25519 private key, in PEM; `-` reads standard input.",
        ),
    ] = None,
    way: "ClusterOptions",
    consent: "Consent",
) -> None:
    """Create a plan, and save it with -o json=FILE for `gpupool apply FILE`.

    The plan contains what you allow here (--prune, --adopt, ...); `apply FILE` does exactly that, without
    a prompt. Nothing is written to the cluster: the API server checks every change in a dry run. A plan
    expires after 24 hours. Exits 3 if a guard blocks it, 4 if another owner manages what would be written.

    \b
    gpupool plan -o text -o json=plan.json
    gpupool plan --prune --max-deletes 2 -o json=plan.json -o markdown=comment.md
    gpupool plan --sign-key plan.key -o json=plan.json
    """  # noqa: D301 - the backspace keeps the lines below it as they are
    from gpupool.rollout.session import ensure_applicable, prepare_saved_session

    files, places = files_or_default(file), plan_outputs(to)
    refuse_stdin_twice([*files, *([] if sign_key is None else [sign_key])])
    sign = _signer(sign_key)
    with one_deadline(way):
        session = prepare_saved_session(files, way, consent)
    output.say(session.desired.findings)
    changed, made = CHANGED if detailed_exitcode else 0, sign(session.plan)
    deliver(places, made, changed, show_textual=show_textual, is_guarded=True)
    ensure_applicable(made)
    conclude(made, changed=changed)


def _signer(path: str | None) -> "Callable[[Plan], Plan]":
    """Return what signs a plan, with the key read already: a key that can't be used ends it at once."""
    if path is None:
        return lambda plan: plan
    from gpupool.planning.signature import read_signing_key, sign_plan

    key = read_signing_key(path)
    return lambda plan: sign_plan(plan, key)
