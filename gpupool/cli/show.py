"""The command `gpupool show`: show a saved plan."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from gpupool.cli import output
from gpupool.cli.options import PlanOutputs, VerifyKey, ensure_stdin_once, parse_plan_outputs
from gpupool.cli.terminal import has_colour
from gpupool.cli.verbosity import is_shown
from gpupool.findings import Severity
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
    destinations = parse_plan_outputs(to)
    ensure_stdin_once([file, *([] if verify_key is None else [verify_key])])
    from gpupool.cli.github import append_for_steps
    from gpupool.planning.file import parse_plan, read_contents
    from gpupool.reports.plan.formats import FORMATS

    raw = read_contents(file)
    plan = parse_plan(raw, file)
    if verify_key is not None:
        from gpupool.planning.signature import ensure_signed, read_verifying_key

        ensure_signed(plan, read_verifying_key(verify_key))
    _warn_if_expired(plan)

    def render(name: str) -> str:
        if name == "json":
            # The file of a later version may have fields that this version would drop.
            return in_json(raw.decode("utf-8-sig"))
        return FORMATS[name](
            plan,
            show_textual=show_textual,
            colour=name == "text" and has_colour(sys.stdout),
            show_raw=is_shown(Severity.INFO),
        )

    output.write_outputs(destinations, render, is_private=True)
    if any(place.format == "github" for place in destinations):
        append_for_steps(plan, 0)


def _warn_if_expired(plan: "Plan") -> None:
    from datetime import UTC, datetime

    from gpupool.planning.agreement import parse_times

    validity = parse_times(plan)
    if validity is not None and validity.expires < datetime.now(UTC):
        sys.stderr.write(
            f"note: this plan expired at {plan.expires_at}; `gpupool apply` does not accept it\n"
        )
