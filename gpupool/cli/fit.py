"""The command `gpupool fit`: find the pools that accept a workload, and what they launch for it."""

from typing import TYPE_CHECKING, Annotated

import typer

from gpupool.cli import output
from gpupool.cli.options import (
    DEFAULT_FILE,
    TEXT_OR_JSON,
    Files,
    OtherManifests,
    RegionOption,
    ResultOption,
    ensure_stdin_once,
    parse_outputs,
)
from gpupool.errors import UsageError

if TYPE_CHECKING:
    from gpupool.reports.fit.text import FitReport


def fit(
    workload: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|DIR|-", help="Manifests with a Pod, Job, Deployment, PyTorchJob and so on."
        ),
    ],
    file: Files = None,
    manifests: OtherManifests = None,
    daemonsets: Annotated[
        list[str] | None,
        typer.Option(
            "--daemonsets",
            metavar="FILE|DIR",
            show_default=False,
            help="DaemonSet manifests; their requests count on each node where they run. Repeat it.",
        ),
    ] = None,
    region: RegionOption = None,
    to: ResultOption = None,
) -> None:
    """Show which pools accept a workload, and what is launched for it.

    Checks one pod of each template in the manifests as Karpenter's scheduler does, alone and on a new node:
    tolerations, selectors and affinity, GPUs, EFA, CPU and memory beside DaemonSets, offerings, minValues
    and limits. Exits 1 if a pod fits no pool. Does not contact a cluster.

    \b
    gpupool fit train.yaml
    gpupool fit jobs/ --daemonsets daemonsets/ -o json=fit.json
    helm template ./chart | gpupool fit - --manifests pools/ --region us-east-1
    """  # noqa: D301 - the backspace keeps the lines below it as they are
    destinations = parse_outputs(to, TEXT_OR_JSON)
    manifest_paths, daemonset_paths = manifests or [], daemonsets or []
    if manifest_paths and file:
        message = "-f conflicts with --manifests: remove one of them"
        raise UsageError(message)
    files = [] if manifest_paths else file or [DEFAULT_FILE]
    ensure_stdin_once([*workload, *files, *manifest_paths, *daemonset_paths])

    from gpupool import api

    report = api.fit(workload, files, manifest_paths, daemon_sets=daemonset_paths, region=region)
    output.print_findings(report.findings)
    width = output.find_width(destinations)
    output.write_outputs(destinations, lambda name: _render(report, name, width))
    if report.has_failed:
        raise typer.Exit(1)


def _render(report: "FitReport", name: str, width: int | None) -> str:
    if name == "text":
        from gpupool.reports.fit.text import render_text

        return render_text(report, width)
    import json

    from gpupool.reports.fit.json_text import to_json

    return json.dumps(to_json(report), indent=2) + "\n"
