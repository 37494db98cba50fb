"""`gpupool profiles`: which profiles there are, and what one sets and why."""

import sys
from typing import Annotated

import typer

from gpupool.cli import completion_values
from gpupool.cli.terminal import find_columns


def profiles(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME|FILE",
            help="A profile's name, or the path of your own.",
            autocompletion=completion_values.list_profiles,
        ),
    ] = None,
) -> None:
    """List the profiles, or show what one sets and why."""
    from gpupool.profiles.shown import show, show_all
    from gpupool.reports import profiles as report

    width = find_columns(sys.stdout)
    found = report.listing(show_all(), width) if name is None else report.page(show(name), width)
    sys.stdout.write(found)
