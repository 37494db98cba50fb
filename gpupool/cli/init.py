"""`gpupool init`: a commented starter blueprint."""

from pathlib import Path
from typing import Annotated

import typer

from gpupool.cli.options import DEFAULT_FILE


def init(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")] = Path(DEFAULT_FILE),
    *,
    name: Annotated[str, typer.Option(help="The blueprint's name.")] = "gpu-pools",
    cluster: Annotated[str, typer.Option(help="The EKS cluster's name.")] = "my-cluster",
    region: Annotated[str, typer.Option(help="The AWS region.")] = "us-east-1",
    timezone: Annotated[str, typer.Option(help="The time zone of disruption windows.")] = "UTC",
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
) -> None:
    """Write a commented starter blueprint that renders at once.

    It asks nothing and reads no cluster; what it fills in is there to be edited.
    """
    from gpupool import api
    from gpupool.rendering.starter import Starter

    api.write_starter(
        path, Starter(name=name, cluster=cluster, region=region, timezone=timezone), force=force
    )
    typer.echo(f"wrote {path}; next: gpupool render -f {path}", err=True)
