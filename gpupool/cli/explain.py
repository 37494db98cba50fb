"""`gpupool explain`: which machines a pool may launch, where a value comes from, what a rule means."""

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
    places = parse_outputs(to, _CALENDAR_FORMATS if calendar else TEXT_OR_JSON)
    if manifests and file:
        message = "-f conflicts with --manifests: remove one of them"
        raise UsageError(message)
    if catalogue:
        _write_catalogue(places, file)
    elif subject is not None and _RULE.fullmatch(subject):
        _write_rule(places, subject)
    else:
        asked = _ExplainRequest(subject, file or [DEFAULT_FILE], manifests or [], region)
        if calendar:
            _write_calendar(places, asked, _CalendarRequest(timezone, nodes, _parse_day(week)))
        else:
            _write_pools(places, asked, why)


def _write_catalogue(places: list[Output], files: list[str] | None) -> None:
    from gpupool import api
    from gpupool.reports import catalogue as report

    known = api.catalogue(files or ([DEFAULT_FILE] if Path(DEFAULT_FILE).is_file() else []))
    _write_outputs(places, lambda: report.text(known), lambda: report.plain(known))


def _write_rule(places: list[Output], code: str) -> None:
    from gpupool.codes import Code, layer

    if code not in set(Code):
        message = f"unknown rule {code}; use the code of a finding, such as GP5004"
        raise UsageError(message)
    meaning = next(each.meaning for each in Code if each == code)
    said = {"rule": code, "layer": str(layer(code)), "meaning": meaning}
    _write_outputs(places, lambda: f"{code} ({said['layer']}): {said['meaning']}\n", lambda: said)


def _write_pools(places: list[Output], asked: _ExplainRequest, why: str | None) -> None:
    from gpupool import api
    from gpupool.reports.explain import json_text
    from gpupool.reports.explain import text as report

    pools = api.pools(asked.files, asked.manifests, asked.region)
    output.print_findings(pools.findings)
    name, width = asked.subject, output.find_width(places)
    if name is None:
        every = api.explain_all(pools)
        _write_outputs(
            places,
            lambda: report.overview(every, width),
            lambda: {"pools": [json_text.plain(each) for each in every]},
        )
    elif name not in pools.names and "." in name and not asked.manifests:
        _write_field(places, asked.files, name)
    else:
        found = api.explain(pools, name, why)
        _write_outputs(places, lambda: report.page(found, width), lambda: json_text.plain(found))
        if found.has_failed:
            raise typer.Exit(1)


def _write_field(places: list[Output], files: list[str], field: str) -> None:
    from gpupool import api
    from gpupool.reports.explain import provenance as report

    found = api.provenance(files, field)
    _write_outputs(places, lambda: report.text(found), lambda: report.as_json(found))


def _write_calendar(places: list[Output], asked: _ExplainRequest, week: _CalendarRequest) -> None:
    from gpupool import api
    from gpupool.reports.explain import calendar as report

    if asked.subject is None:
        message = "--calendar requires a pool: gpupool explain POOL --calendar"
        raise UsageError(message)
    pools = api.pools(asked.files, asked.manifests, asked.region)
    output.print_findings(pools.findings)
    found = api.calendars(pools, asked.subject, week.timezone, week.nodes, week.day)
    colour = has_colour(sys.stdout)
    texts = {
        "text": lambda: "\n".join(report.text(each, colour=colour) for each in found),
        "json": lambda: output.render_json([report.as_json(each) for each in found]),
        "svg": lambda: _render_svg(found[0]),
    }
    if len(found) > 1 and any(each.format == "svg" for each in places):
        message = f"-o svg shows one NodePool: pass one of {', '.join(each.name for each in found)}"
        raise UsageError(message)
    output.write_outputs(places, lambda name: texts[name]())


def _render_svg(week: "Calendar") -> str:
    from gpupool.reports.explain.calendar_svg import svg

    return svg(week)


def _parse_day(said: str | None) -> date:
    try:
        return datetime.now(UTC).date() if said is None else date.fromisoformat(said)
    except ValueError:
        message = f"--week {said}: expected a date such as 2026-03-28"
        raise UsageError(message) from None


def _write_outputs(places: list[Output], text: Callable[[], str], plain: Callable[[], object]) -> None:
    output.write_outputs(places, lambda name: output.render_json(plain()) if name == "json" else text())
