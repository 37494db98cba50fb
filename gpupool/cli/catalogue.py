"""The command `gpupool catalogue`: update the catalogue of instance types from the user's AWS account."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from gpupool.cli import completion_values


def catalogue(
    action: Annotated[Literal["refresh"], typer.Argument(metavar="ACTION", help="`refresh`: ask AWS.")],
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="FILE", help="Output file. [default: a file in your cache]"),
    ] = None,
    regions: Annotated[
        list[str] | None,
        typer.Option(
            "--region",
            metavar="REGION",
            show_default=False,
            help="Ask about this region; repeat it for several. [default: your profile's]",
            autocompletion=completion_values.list_regions,
        ),
    ] = None,
    profile: Annotated[
        str | None, typer.Option("--profile", metavar="NAME", help="The AWS profile to ask with.")
    ] = None,
) -> None:
    """Update instance types, offerings and prices from your AWS account.

    The answers update the catalogue that gpupool ships. `explain` and `fit` use the file in your
    cache; a file that a blueprint sets as `cluster.catalogue` is used for rendering, too. Requires
    ec2:DescribeInstanceTypes, ec2:DescribeInstanceTypeOfferings and
    ec2:DescribeAvailabilityZones, and pricing:GetProducts for prices.

    \b
    pip install boto3
    gpupool catalogue refresh --region eu-west-1 --to catalogue.json.gz
    """  # noqa: D301 - the backspace keeps the lines below it as they are
    del action
    from datetime import UTC, datetime

    from gpupool.catalogue.load import get_fetched_path, load_shipped
    from gpupool.catalogue.refresh import query_account
    from gpupool.catalogue.renew import pack_checked, renew_catalogue
    from gpupool.cli.output import write_file
    from gpupool.reports.catalogue import render_refresh

    target = get_fetched_path() if to is None else Path(to)
    answers = query_account(regions or (), profile)
    renewal = renew_catalogue(load_shipped(), answers, datetime.now(UTC).date().isoformat())
    write_file(target, pack_checked(renewal.catalogue))
    sys.stdout.write(render_refresh(answers, renewal, str(target)))
