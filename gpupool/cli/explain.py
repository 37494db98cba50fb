"""The command `gpupool explain`: instance types of a pool, origin of a value, meaning of a rule."""

import re
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from gpupool.cli import completion_values, output
from gpupool.cli.options import (
    DEFAULT_FILE,
    TEXT_OR_JSON,
    Files,
    OtherManifests,
    Output,
    RegionOption,
    ResultOption,
    parse_outputs,
)
from gpupool.cli.terminal import has_colour
from gpupool.errors import UsageError

if TYPE_CHECKING:
    from gpupool.explain.calendar import Calendar

_CALENDAR_FORMATS = (*TEXT_OR_JSON, "svg")
_RULE = re.compile(r"GP[0-9]{4}")


class _ExplainRequest(NamedTuple):
    subject: str | None
    files: list[str]
    manifests: list[str]
    region: str | None


class _CalendarRequest(NamedTuple):
    timezone: str | None
    nodes: int
    day: date


def explain(  # noqa: PLR0913 - each is an option of the command line
    subject: Annotated[
        str | None,
        typer.Argument(
            metavar="POOL|POOL.FIELD|RULE",
            help="Pool, field or rule. [default: all pools, one line each]",
            show_default=False,
            autocompletion=completion_values.list_subjects,
        ),
    ] = None,
    file: Files = None,
    manifests: OtherManifests = None,
    region: RegionOption = None,
    why: Annotated[
        str | None,
        typer.Option(
            "--why",
            metavar="TYPE",
            help="Show what excludes an instance type from the pool.",
            autocompletion=completion_values.list_instance_types,
        ),
    ] = None,
    *,
    calendar: Annotated[
        bool, typer.Option("--calendar", help="Show for each hour of a week how many nodes may be disrupted.")
    ] = False,
    timezone: Annotated[
        str | None,
        typer.Option(
            "--timezone",
            metavar="ZONE",
            help="Time zone of the calendar. [default: the blueprint's, or UTC]",
            autocompletion=completion_values.list_timezones,
        ),
    ] = None,
    nodes: Annotated[
        int,
        typer.Option("--nodes", metavar="N", min=0, help="Number of nodes of the pool, for the calendar."),
    ] = 10,
    week: Annotated[
        str | None,
        typer.Option("--week", metavar="DATE", help="A day of the calendar's week. [default: today]"),
    ] = None,
    catalogue: Annotated[
        bool, typer.Option("--catalogue", help="Show where the facts about instance types come from.")
    ] = False,
    to: ResultOption = None,
) -> None:
    """Show which instance types a pool may launch and what they cost.

    Lists the instance types in the order of Karpenter's scheduler, how many the limits allow, the maximum
    cost of the pool, and lint findings about it. With POOL.FIELD it shows where a value comes from, with
    the code of a finding what it means. Exits 1 if the pool launches nothing. Does not contact a cluster.

    \b
    gpupool explain
    gpupool explain chat --why p5.48xlarge
    gpupool explain chat.limits.gpus
    gpupool explain chat --calendar -o text -o svg=chat.svg
    gpupool explain gpu --manifests karpenter/ --region us-east-1 -o json
    """  # noqa: D301 - the backspace keeps the lines below it as they are
    destinations = parse_outputs(to, _CALENDAR_FORMATS if calendar else TEXT_OR_JSON)
    if manifests and file:
        message = "-f conflicts with --manifests: remove one of them"
        raise UsageError(message)
    if catalogue:
        _write_catalogue(destinations, file)
    elif subject is not None and _RULE.fullmatch(subject):
        _write_rule(destinations, subject)
    else:
        request = _ExplainRequest(subject, file or [DEFAULT_FILE], manifests or [], region)
        if calendar:
            _write_calendar(destinations, request, _CalendarRequest(timezone, nodes, _parse_day(week)))
        else:
            _write_pools(destinations, request, why)


def _write_catalogue(destinations: list[Output], files: list[str] | None) -> None:
    from gpupool import api
    from gpupool.reports import catalogue as report

    catalogue = api.catalogue(files or ([DEFAULT_FILE] if Path(DEFAULT_FILE).is_file() else []))
    _write_outputs(destinations, lambda: report.render_text(catalogue), lambda: report.to_json(catalogue))


def _write_rule(destinations: list[Output], code: str) -> None:
    from gpupool.codes import Code, layer

    if code not in set(Code):
        message = f"unknown rule {code}; use the code of a finding, such as GP5004"
        raise UsageError(message)
    meaning = next(entry.meaning for entry in Code if entry == code)
    rule = {"rule": code, "layer": str(layer(code)), "meaning": meaning}
    _write_outputs(destinations, lambda: f"{code} ({rule['layer']}): {meaning}\n", lambda: rule)


def _write_pools(destinations: list[Output], request: _ExplainRequest, why: str | None) -> None:
    from gpupool import api
    from gpupool.reports.explain import json_text
    from gpupool.reports.explain import text as report

    pools = api.pools(request.files, request.manifests, request.region)
    output.print_findings(pools.findings)
    name, width = request.subject, output.find_width(destinations)
    if name is None:
        explanations = api.explain_all(pools)
        _write_outputs(
            destinations,
            lambda: report.render_overview(explanations, width),
            lambda: {"pools": [json_text.to_json(pool) for pool in explanations]},
        )
    elif name not in pools.names and "." in name and not request.manifests:
        _write_field(destinations, request.files, name)
    else:
        explanation = api.explain(pools, name, why)
        _write_outputs(
            destinations,
            lambda: report.render_page(explanation, width),
            lambda: json_text.to_json(explanation),
        )
        if explanation.has_failed:
            raise typer.Exit(1)


def _write_field(destinations: list[Output], files: list[str], field: str) -> None:
    from gpupool import api
    from gpupool.reports.explain import provenance as report

    provenance = api.provenance(files, field)
    _write_outputs(destinations, lambda: report.render_text(provenance), lambda: report.to_json(provenance))


def _write_calendar(destinations: list[Output], request: _ExplainRequest, week: _CalendarRequest) -> None:
    from gpupool import api
    from gpupool.reports.explain import calendar as report

    if request.subject is None:
        message = "--calendar requires a pool: gpupool explain POOL --calendar"
        raise UsageError(message)
    pools = api.pools(request.files, request.manifests, request.region)
    output.print_findings(pools.findings)
    calendars = api.calendars(pools, request.subject, week.timezone, week.nodes, week.day)
    colour = has_colour(sys.stdout)
    texts = {
        "text": lambda: "\n".join(report.render_text(calendar, colour=colour) for calendar in calendars),
        "json": lambda: output.render_json([report.to_json(calendar) for calendar in calendars]),
        "svg": lambda: _render_svg(calendars[0]),
    }
    if len(calendars) > 1 and any(place.format == "svg" for place in destinations):
        names = ", ".join(calendar.name for calendar in calendars)
        message = f"-o svg shows one NodePool: pass one of {names}"
        raise UsageError(message)
    output.write_outputs(destinations, lambda name: texts[name]())


def _render_svg(week: "Calendar") -> str:
    from gpupool.reports.explain.calendar_svg import render_svg

    return render_svg(week)


def _parse_day(text: str | None) -> date:
    try:
        return datetime.now(UTC).date() if text is None else date.fromisoformat(text)
    except ValueError:
        message = f"--week {text}: expected a date such as 2026-03-28"
        raise UsageError(message) from None


def _write_outputs(destinations: list[Output], text: Callable[[], str], plain: Callable[[], object]) -> None:
    output.write_outputs(destinations, lambda name: output.render_json(plain()) if name == "json" else text())
