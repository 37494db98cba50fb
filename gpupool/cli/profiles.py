"""The command `gpupool profiles`: list the profiles, or show the settings of one."""

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
    text = report.render_list(show_all(), width) if name is None else report.render_page(show(name), width)
    sys.stdout.write(text)
