"""`gpupool show`: a saved plan again, in any format."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from gpupool.cli import output
from gpupool.cli.options import PlanOutputs, plan_outputs
from gpupool.reports.escaping import in_json, one_line

if TYPE_CHECKING:
    from gpupool.planning.plan import Plan


def show(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="What `gpupool plan -o json=FILE` wrote.")],
    to: PlanOutputs = None,
    *,
    show_textual: Annotated[
        bool, typer.Option("--show-textual", help="Show what differs in words only, too.")
    ] = False,
) -> None:
    """Show a saved plan.

    It reads no cluster: a plan that is stale is shown all the same. A file that was cut off or changed by
    hand is refused.

    \b
    gpupool show plan.json
    gpupool show plan.json -o markdown=comment.md -o github
    """  # noqa: D301 - the backspace keeps the lines below it as they are
    places = plan_outputs(to)
    from gpupool.cli.github import append_for_steps
    from gpupool.planning.file import contents, read
    from gpupool.reports.plan.formats import FORMATS

    raw = contents(file)
    plan = read(raw, file)
    _say_if_expired(plan)

    def document(name: str) -> str:
        if name == "json":
            # A later version's file may hold more than this one knows.
            return in_json(raw.decode("utf-8-sig"))
        return FORMATS[name](plan, show_textual=show_textual, colour=name == "text" and sys.stdout.isatty())

    output.deliver(places, document, is_private=True)
    if any(each.format == "github" for each in places):
        append_for_steps(plan, 0)


def _say_if_expired(plan: "Plan") -> None:
    from datetime import UTC, datetime

    try:
        is_over = datetime.fromisoformat(plan.expires_at) < datetime.now(UTC)
    except (ValueError, TypeError):  # no time, or one without a zone
        return
    if is_over:
        when = one_line(plan.expires_at)
        sys.stderr.write(f"note: this plan was good until {when}; `gpupool apply` takes it no more\n")
