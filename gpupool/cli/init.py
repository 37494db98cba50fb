"""The command `gpupool init`: write a commented starter blueprint."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from gpupool.cli import completion_values
from gpupool.cli.options import DEFAULT_FILE


def init(  # noqa: PLR0913 - each is an option of the command line
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")] = Path(DEFAULT_FILE),
    *,
    name: Annotated[str, typer.Option(help="The blueprint's name.")] = "gpu-pools",
    cluster: Annotated[str, typer.Option(help="The EKS cluster's name.")] = "my-cluster",
    region: Annotated[
        str, typer.Option(help="The AWS region.", autocompletion=completion_values.list_regions)
    ] = "us-east-1",
    timezone: Annotated[
        str,
        typer.Option(
            help="The time zone of disruption windows.", autocompletion=completion_values.list_timezones
        ),
    ] = "UTC",
    from_context: Annotated[
        str | None,
        typer.Option(
            "--from-context",
            metavar="NAME",
            help="Pin the cluster of this kubeconfig context.",
            autocompletion=completion_values.list_contexts,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a commented starter blueprint that renders at once.

    Contacts a cluster only with --from-context. Edit what it fills in.
    """
    from gpupool import api
    from gpupool.rendering.starter import Starter

    starter = Starter(name=name, cluster=cluster, region=region, timezone=timezone)
    if from_context is not None:
        starter = replace(starter, context=from_context, uid=_read_uid(from_context))
    api.write_starter(path, starter, force=force)
    typer.echo(f"wrote {path}; next: gpupool render -f {path}", err=True)


def _read_uid(context: str) -> str:
    """Read the UID of the cluster of a context."""
    from gpupool.cli.cluster_options import enforce_deadline
    from gpupool.cluster.deadline import Deadline
    from gpupool.rollout.connection import ClusterOptions, Pins, reach

    connection = ClusterOptions(context=context, timeout=30)
    with enforce_deadline(connection):
        return reach(connection, Pins(), Deadline(connection.timeout)).uid
