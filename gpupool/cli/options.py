"""The options that several commands share, each written once."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

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
    Path | None,
    typer.Option("--dir", "-d", metavar="DIR", help="Write one file for each object into this folder."),
]


def files_or_default(files: list[str] | None) -> list[str]:
    """Give the files that were named, or the default one."""
    return files or [DEFAULT_FILE]
