"""The command line: which commands there are, and the one place where errors become exit codes."""

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version as installed_version
from typing import Annotated

import typer
from typer.exceptions import TyperException

from gpupool.cli.completion import completion
from gpupool.cli.init import init
from gpupool.cli.profiles import profiles
from gpupool.cli.render import render
from gpupool.cli.schema import schema
from gpupool.errors import GpupoolError, InputError
from gpupool.reports import text

USAGE, BUG, INTERRUPTED = 64, 70, 130

app = typer.Typer(
    name="gpupool",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (init, render, profiles, schema, completion):
    app.command()(command)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gpupool {installed_version('gpupool')}")
        raise typer.Exit


@app.callback()
def gpupool(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """GPU node pools for Karpenter on EKS, from one typed blueprint."""
    del version


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code; every error is met here and nowhere else."""
    if "_GPUPOOL_COMPLETE" in os.environ:
        from typer._completion_classes import completion_init

        completion_init()
    try:
        code = app(None if arguments is None else list(arguments), standalone_mode=False, prog_name="gpupool")
    except TyperException as problem:
        problem.show()  # type: ignore[attr-defined] # every error of the command line shows itself
        return USAGE
    except InputError as problem:
        sys.stderr.write(text.findings(problem.findings) + f"error: {problem}\n")
        return problem.exit_code
    except GpupoolError as problem:
        sys.stderr.write(f"error: {problem}\n")
        return problem.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        # The reader went away (`| head`); point stdout elsewhere so that closing it says nothing more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code if isinstance(code, int) else 0
