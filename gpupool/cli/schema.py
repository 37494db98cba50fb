"""`gpupool schema`: JSON Schema for editors."""

import sys
from typing import Annotated, Literal

import typer


def schema(
    what: Annotated[
        Literal["blueprint", "profile"], typer.Argument(metavar="KIND", help="Which file the schema is for.")
    ] = "blueprint",
) -> None:
    """Print the JSON Schema of a blueprint or a profile.

    An editor with a YAML language server completes and explains every field with it: put
    `# yaml-language-server: $schema=gpupool.schema.json` on the first line.
    """
    from gpupool import api

    sys.stdout.write(api.schema_text(what))
