"""The command `gpupool plan`: save what apply would change, to apply exactly that later."""

from typing import TYPE_CHECKING, Annotated

import typer

from gpupool.cli import output
from gpupool.cli.approval_options import add_consent_options
from gpupool.cli.cluster_options import add_cluster_options, enforce_deadline
from gpupool.cli.options import Files, PlanOutputs, ensure_stdin_once, files_or_default, parse_plan_outputs
from gpupool.cli.plan_output import CHANGED, conclude, write_plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpupool.planning.plan import Consent, Plan
    from gpupool.rollout.connection import ClusterOptions


@add_cluster_options
@add_consent_options
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
    connection: "ClusterOptions",
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

    files, destinations = files_or_default(file), parse_plan_outputs(to)
    ensure_stdin_once([*files, *([] if sign_key is None else [sign_key])])
    sign = _build_signer(sign_key)
    with enforce_deadline(connection):
        session = prepare_saved_session(files, connection, consent)
    output.print_findings(session.desired.findings)
    changed = CHANGED if detailed_exitcode else 0
    signed_plan = sign(session.plan)
    write_plan(destinations, signed_plan, changed, show_textual=show_textual, is_guarded=True)
    ensure_applicable(signed_plan)
    conclude(signed_plan, changed=changed)


def _build_signer(path: str | None) -> "Callable[[Plan], Plan]":
    """Build a function that signs a plan; the key is read now, so that an invalid one fails early."""
    if path is None:
        return lambda plan: plan
    from gpupool.planning.signature import read_signing_key, sign_plan

    key = read_signing_key(path)
    return lambda plan: sign_plan(plan, key)
