"""`gpupool show`: a saved plan again, in any format."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from gpupool.cli import output
from gpupool.cli.options import PlanOutputs, VerifyKey, plan_outputs, refuse_stdin_twice
from gpupool.cli.terminal import has_colour
from gpupool.reports.escaping import in_json

if TYPE_CHECKING:
    from gpupool.planning.plan import Plan


def show(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="What `gpupool plan -o json=FILE` wrote.")],
    to: PlanOutputs = None,
    *,
    show_textual: Annotated[
        bool, typer.Option("--show-textual", help="Show changes of formatting, too.")
    ] = False,
    verify_key: VerifyKey = None,
) -> None:
    """Show a saved plan.

    Does not contact a cluster, so a stale plan is shown as well. Rejects a file that is truncated, was
    changed by hand, or contradicts itself. Checks the signature only with --verify-key.

    \b
    gpupool show plan.json
    gpupool show plan.json -o markdown=comment.md -o github
    """  # noqa: D301 - the backspace keeps the lines below it as they are
    places = plan_outputs(to)
    refuse_stdin_twice([file, *([] if verify_key is None else [verify_key])])
    from gpupool.cli.github import append_for_steps
    from gpupool.planning.file import parse_plan, read_contents
    from gpupool.reports.plan.formats import FORMATS

    raw = read_contents(file)
    plan = parse_plan(raw, file)
    if verify_key is not None:
        from gpupool.planning.signature import ensure_signed, read_verifying_key

        ensure_signed(plan, read_verifying_key(verify_key))
    _say_if_expired(plan)

    def document(name: str) -> str:
        if name == "json":
            # A later version's file may hold more than this one knows.
            return in_json(raw.decode("utf-8-sig"))
        return FORMATS[name](
            plan, show_textual=show_textual, colour=name == "text" and has_colour(sys.stdout)
        )

    output.deliver(places, document, is_private=True)
    if any(each.format == "github" for each in places):
        append_for_steps(plan, 0)


def _say_if_expired(plan: "Plan") -> None:
    from datetime import UTC, datetime

    from gpupool.planning.agreement import parse_times

    stated = parse_times(plan)
    if stated is not None and stated.expires < datetime.now(UTC):
        sys.stderr.write(
            f"note: this plan expired at {plan.expires_at}; `gpupool apply` does not accept it\n"
        )
