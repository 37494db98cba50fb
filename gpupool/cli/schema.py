"""The command `gpupool schema`: print JSON Schemas for editors and kubeconform."""

import sys
from typing import Annotated, Literal

import typer

from gpupool.cli.options import Target, parse_folder, parse_target
from gpupool.errors import UsageError

KARPENTER = "karpenter"


def schema(
    kind: Annotated[
        Literal["blueprint", "profile", "karpenter", "plan"],
        typer.Argument(metavar="KIND", help="Which files the schema is for."),
    ] = "blueprint",
    directory: Annotated[
        str | None,
        typer.Option("--dir", "-d", metavar="DIR", help="The folder for the schemas of Karpenter's kinds."),
    ] = None,
    karpenter: Target = None,
) -> None:
    """Print JSON Schemas, or write Karpenter's for kubeconform.

    An editor with a YAML language server completes and explains every field with it: put
    `# yaml-language-server: $schema=gpupool.schema.json` on the first line.

    \b
    gpupool schema > gpupool.schema.json
    gpupool schema karpenter -d schemas     (for kubeconform's -schema-location
      'schemas/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json')
    """  # noqa: D301 - the backspace keeps the lines below it as they are
    folder, target = parse_folder(directory), parse_target(karpenter)
    if kind == KARPENTER and folder is None:
        message = "`schema karpenter` writes a file for each kind: pass a folder with -d DIR"
        raise UsageError(message)
    if kind != KARPENTER and (folder is not None or karpenter is not None):
        message = f"-d and --karpenter require `schema karpenter`, not `schema {kind}`"
        raise UsageError(message)
    from gpupool import api

    if folder is None:
        sys.stdout.write(api.schema_text(kind))
    else:
        api.write_karpenter_schemas(folder, target)
