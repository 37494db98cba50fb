"""The command line: which commands there are, and the one place where errors become exit codes."""

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
    """Return a command the options that it has in common with others."""
    found = add_profile_folders(command) if command in _READ_BLUEPRINTS else command
    found = add_pager(found) if command in _PRINT_TABLES else found
    return add_verbosity(found) if command in _PRINT_FINDINGS else found


for command in (
    init, validate, render, explain, fit, diff, plan, apply, status, show, doctor, rbac, unlock, move,
    profiles, catalogue, schema, completion,
):  # fmt: skip
    app.command()(_add_shared_options(command))


def _print_version(wanted: bool) -> None:
    if wanted:
        # It takes a third of the whole start-up to import, and no other command needs it.
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
    """Run the command line and give its exit code; every error is met here and nowhere else."""
    with streams.prepare_streams():
        code = _run_safely(arguments)
        try:
            sys.stdout.flush()
        except OSError as problem:
            unwritten = _report_unwritten(problem)
            return unwritten if code in {0, CHANGED} else code
        return code


def _run_safely(arguments: Sequence[str] | None) -> int:
    try:
        code = _run(arguments)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except TyperException as problem:
        problem.show()  # type: ignore[attr-defined] # every error of the command line shows itself
        return USAGE
    except GpupoolError as problem:
        output.print_error(problem)
        return problem.exit_code
    except OSError as problem:
        return _report_unwritten(problem)
    except Exception as problem:  # noqa: BLE001 - nothing else may escape: what comes here is a bug
        from gpupool.cli import bug_report

        sys.stderr.write(bug_report.render_bug_report(problem))
        return BUG
    return code if isinstance(code, int) else 0


def _run(arguments: Sequence[str] | None) -> object:
    """Run one command, or answer the shell that completes a command line."""
    if os.environ.get("_GPUPOOL_COMPLETE"):
        from gpupool.cli.completion_answers import write_answer

        return write_answer(app, os.environ)
    words = None if arguments is None else list(arguments)
    return _build_command()(words, standalone_mode=False, prog_name="gpupool")


@cache
def _build_command() -> Callable[..., object]:
    """Return what reads the arguments; typer makes every option of every command anew if asked again."""
    return typer.main.get_command(app)


def _report_unwritten(problem: OSError) -> int:
    """Say that the result found no place: a full disk, or a reader that went away (`| head`)."""
    if not isinstance(problem, BrokenPipeError):
        where = f"{problem.filename}: " if problem.filename else ""
        sys.stderr.write(f"error: {one_line(where + (problem.strerror or str(problem)))}\n")
    if problem.filename is None:
        # What is still in the buffer has no place either: let no later flush say it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
    return FAILED
