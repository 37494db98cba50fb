"""The command `gpupool validate`: check blueprints and manifests offline."""

import sys
from typing import Annotated

import typer

from gpupool.cli import output, verbosity
from gpupool.cli.options import (
    DEFAULT_FILE,
    Files,
    Outputs,
    Target,
    ensure_stdin_once,
    parse_outputs,
    parse_target,
)
from gpupool.cli.terminal import has_colour


def validate(
    path: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE|DIR|-",
            help="Manifests and blueprints, or folders with them.",
            show_default=False,
        ),
    ] = None,
    file: Files = None,
    karpenter: Target = None,
    *,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 on warnings, too.")] = False,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Exit 0 even if there is nothing to check.")
    ] = False,
    to: Outputs = None,
) -> None:
    """Check blueprints and manifests before anything is applied.

    Finds everything that the API server or Karpenter would reject, with file, line and fix; exits 1 if
    there is an error. Objects of other kinds are counted and skipped. Reads manifests as kubectl does.
    Does not contact a cluster.

    \b
    gpupool validate
    gpupool validate -f base.yaml -f prod.yaml
    gpupool validate manifests/ --karpenter 1.12
    helm template ./chart | gpupool validate - -o github -o sarif=gpupool.sarif
    """  # noqa: D301 - the backspace keeps the lines below it as they are
    destinations, target = parse_outputs(to), parse_target(karpenter)
    paths, files = path or [], file or ([] if path else [DEFAULT_FILE])
    ensure_stdin_once([*paths, *files])

    from gpupool import api
    from gpupool.reports.validate import choice
    from gpupool.reports.validate.text import render_report, render_summary

    report = api.validate(paths, files, target=target, strict=strict, allow_empty=allow_empty)
    if verbosity.is_quiet():
        report = report._replace(findings=tuple(filter(report.fails, report.findings)))
    colour = has_colour(sys.stdout)
    output.write_outputs(
        destinations,
        lambda name: (
            render_report(report, colour=colour) if name == "text" else choice.render_report(report, name)
        ),
    )
    if all(place.path is not None or place.format != "text" for place in destinations):
        sys.stderr.write(render_summary(report))
    if report.has_failed:
        raise typer.Exit(1)
