"""The list of commands, their shared options, and the exit codes of errors."""

import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated

import typer
from typer.exceptions import TyperException

from gpupool.cli import output, streams
from gpupool.cli.apply import apply
from gpupool.cli.catalogue import catalogue
from gpupool.cli.completion import completion
from gpupool.cli.diff import diff
from gpupool.cli.doctor import doctor
from gpupool.cli.explain import explain
from gpupool.cli.fit import fit
from gpupool.cli.init import init
from gpupool.cli.move import move
from gpupool.cli.pager import add_pager
from gpupool.cli.plan import plan
from gpupool.cli.plan_output import CHANGED
from gpupool.cli.profile_folders import add_profile_folders
from gpupool.cli.profiles import profiles
from gpupool.cli.rbac import rbac
from gpupool.cli.render import render
from gpupool.cli.schema import schema
from gpupool.cli.show import show
from gpupool.cli.status import status
from gpupool.cli.unlock import unlock
from gpupool.cli.validate import validate
from gpupool.cli.verbosity import add_verbosity
from gpupool.errors import GpupoolError
from gpupool.reports.escaping import one_line

FAILED, USAGE, BUG, INTERRUPTED = 1, 64, 70, 130
STDOUT = 1

app = typer.Typer(
    name="gpupool",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_READ_BLUEPRINTS = (
    validate, render, explain, fit, diff, plan, apply, status, doctor, rbac, unlock, move, profiles,
)  # fmt: skip
_PRINT_TABLES = (explain, fit, status, diff, show)
_PRINT_FINDINGS = (validate, render, explain, fit, diff, plan, apply)


def _add_shared_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the options that it shares with other commands."""
    extended = add_profile_folders(command) if command in _READ_BLUEPRINTS else command
    if command in _PRINT_TABLES:
        extended = add_pager(extended)
    if command in _PRINT_FINDINGS:
        extended = add_verbosity(extended)
    return extended


for command in (
    init, validate, render, explain, fit, diff, plan, apply, status, show, doctor, rbac, unlock, move,
    profiles, catalogue, schema, completion,
):  # fmt: skip
    app.command()(_add_shared_options(command))


def _print_version(is_requested: bool) -> None:
    if is_requested:
        # This import takes a third of the start-up, and no other command needs it.
        from importlib.metadata import version

        typer.echo(f"gpupool {version('gpupool')}")
        raise typer.Exit


@app.callback()
def gpupool(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """GPU node pools for Karpenter on EKS, from one typed blueprint."""
    del version


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; no error escapes."""
    with streams.prepare_streams():
        code = _run_safely(arguments)
        try:
            sys.stdout.flush()
        except OSError as problem:
            failure = _report_unwritten(problem)
            return failure if code in {0, CHANGED} else code
        return code


def _run_safely(arguments: Sequence[str] | None) -> int:
    """Run one command, print the error that ends it, and return the exit code."""
    try:
        code = _run(arguments)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except TyperException as problem:
        problem.show()  # type: ignore[attr-defined] # each error of typer has a method that prints it
        return USAGE
    except GpupoolError as problem:
        output.print_error(problem)
        return problem.exit_code
    except OSError as problem:
        return _report_unwritten(problem)
    except Exception as problem:  # noqa: BLE001 - any other exception is a bug and is reported as one
        from gpupool.cli import bug_report

        sys.stderr.write(bug_report.render_bug_report(problem))
        return BUG
    return code if isinstance(code, int) else 0


def _run(arguments: Sequence[str] | None) -> object:
    """Run one command, or answer the shell that completes a command line."""
    if os.environ.get("_GPUPOOL_COMPLETE"):
        from gpupool.cli.completion_answers import write_answer

        return write_answer(app, os.environ)
    return _build_command()(
        None if arguments is None else list(arguments), standalone_mode=False, prog_name="gpupool"
    )


@cache
def _build_command() -> Callable[..., object]:
    """Build the parser of the command line once; typer would build every option again for each call."""
    return typer.main.get_command(app)


def _report_unwritten(problem: OSError) -> int:
    """Print that a result could not be written: the disk is full, or the reader ended (`| head`)."""
    if not isinstance(problem, BrokenPipeError):
        where = f"{problem.filename}: " if problem.filename else ""
        sys.stderr.write(f"error: {one_line(where + (problem.strerror or str(problem)))}\n")
    if problem.filename is None:
        # The rest of the buffer cannot be written either; a later flush must not report it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
    return FAILED
