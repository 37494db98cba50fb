"""The options that several commands share, each written once."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from gpupool.errors import UsageError

DEFAULT_FILE = "gpupool.yaml"

Files: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--file", "-f", metavar="FILE", show_default=False,
        help="A blueprint; repeat it to lay later files over earlier ones. `-` reads standard input."
        f" Unless said: {DEFAULT_FILE}",
    ),
]  # fmt: skip
Folder: TypeAlias = Annotated[
    str | None,
    typer.Option("--dir", "-d", metavar="DIR", help="Write one file for each object into this folder."),
]


def folder_named(folder: str | None) -> Path | None:
    """Give the folder that was named; an empty name (an unset variable of a script) is none.

    Raises:
        UsageError: for an empty name, which would be the current folder.
    """
    if folder == "":
        message = "-d names no folder; for the current one say `-d .`"
        raise UsageError(message)
    return None if folder is None else Path(folder)


def files_or_default(files: list[str] | None) -> list[str]:
    """Give the files that were named, or the default one."""
    return files or [DEFAULT_FILE]
