"""The option `--profiles`, which allows profiles in more folders."""

import os
from typing import Annotated, Any

import typer

from gpupool.cli.bundle import Command, add_options
from gpupool.errors import UsageError

_NAME = "profile_folders"
_TYPE = Annotated[
    list[str] | None,
    typer.Option(
        "--profiles", metavar="DIR", show_default=False,
        help="Allow profiles and user data in this folder too; repeat it for more.",
    ),
]  # fmt: skip


def add_profile_folders(command: Command) -> Command:
    """Return a command with the option `--profiles`."""

    def with_folders(**values: Any) -> None:  # noqa: ANN401 - whatever options the command has
        folders = values.pop(_NAME) or []
        if not folders:
            command(**values)
            return
        _ensure_folders(folders)
        from gpupool.profiles.folders import allow_folders

        with allow_folders(folders):
            command(**values)

    return add_options(command, with_folders, {_NAME: (_TYPE, None)})


def _ensure_folders(folders: list[str]) -> None:
    for folder in folders:
        if not os.path.isdir(folder):  # noqa: PTH112 - an empty path is no folder; Path would read it as `.`
            message = f"--profiles {folder}: the folder does not exist"
            raise UsageError(message)
