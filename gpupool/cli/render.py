"""The command `gpupool render`: render manifests and Helm values."""

import sys
from typing import Annotated

import typer

from gpupool.cli import completion_values, output, verbosity
from gpupool.cli.options import Files, Folder, files_or_default, parse_folder
from gpupool.errors import UsageError


def render(
    file: Files = None,
    directory: Folder = None,
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 2 if DIR is out of date.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="With --check: print what differs.")] = False,
    values: Annotated[
        str | None,
        typer.Option(
            "--values",
            metavar="CHART",
            help="Print one chart's Helm values.",
            autocompletion=completion_values.list_charts,
        ),
    ] = None,
) -> None:
    """Render a blueprint to Karpenter manifests and Helm values.

    Prints the Kubernetes objects, ready for `kubectl apply -f -`; with -d it writes a folder with one
    file for each object, a kustomization.yaml and the Helm values. Does not contact a cluster.

    \b
    gpupool render
    gpupool render -f base.yaml -f prod.yaml -d rendered/prod
    gpupool render -d rendered --check --diff   (in CI: exits 2 when out of date)
    gpupool render --values nvidia-device-plugin
    """  # noqa: D301 - the backspace keeps the lines below it as they are
    from gpupool import api

    folder = parse_folder(directory)
    if check and folder is None:
        message = "--check requires -d DIR, the folder to compare with"
        raise UsageError(message)
    if diff and not check:
        message = "--diff requires --check"
        raise UsageError(message)
    if values and folder is not None:
        message = "--values conflicts with -d: remove one of them"
        raise UsageError(message)
    rendered = api.render_files(files_or_default(file))
    output.print_findings(rendered.findings)
    if folder is None:
        sys.stdout.write(rendered.text() if values is None else api.chart_values(rendered, values))
    elif check:
        if diff:
            sys.stdout.write(api.folder_diff(rendered, folder))
        api.check_folder(rendered, folder)
    else:
        count = api.write_folder(rendered, folder)
        if not verbosity.is_quiet():
            sys.stderr.write(f"wrote {count.written}, removed {count.removed}, unchanged {count.unchanged}\n")
