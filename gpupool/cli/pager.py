"""The option `--pager`, which shows a long result in a pager."""

import io
import os
import shlex
import signal
import subprocess
import sys
from contextlib import redirect_stdout
from typing import Annotated, Any, Final, TextIO

import typer

from gpupool.cli.bundle import Command, add_options

_DEFAULT: Final = "less -R"
_COLOURS: Final = {"LESS": "R"}
"""Options with which `less` shows colours; the user's $LESS takes precedence."""

_OPTION: Final = Annotated[
    bool, typer.Option("--pager", help="On a terminal, show the result in $PAGER, or in less.")
]


class _TerminalBuffer(io.StringIO):
    """A result that is written as for a terminal, and held in memory."""

    def __init__(self, terminal: TextIO) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._terminal.fileno()


def add_pager(command: Command) -> Command:
    """Return a command with the option `--pager`; its exit code stays the same."""

    def with_pager(**values: Any) -> None:  # noqa: ANN401 - whatever options the command has
        if not values.pop("pager") or not sys.stdout.isatty():
            command(**values)
            return
        buffer = _TerminalBuffer(sys.stdout)
        try:
            with redirect_stdout(buffer):
                command(**values)
        finally:
            if text := buffer.getvalue():
                _page(text)

    return add_options(command, with_pager, {"pager": (_OPTION, False)})


def _page(text: str) -> None:
    """Show a text in the pager until the user ends it; without a pager, print it."""
    try:
        arguments = shlex.split(os.environ.get("PAGER") or _DEFAULT)
    except ValueError:  # a quote is not closed
        arguments = shlex.split(_DEFAULT)
    # The pager handles Ctrl-C. With SIG_IGN instead of a handler, the pager would inherit it.
    previous = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        subprocess.run(  # noqa: S603 - the user's own pager
            arguments,
            input=text.encode("utf-8", "backslashreplace"),
            env={**_COLOURS, **os.environ},
            check=False,
        )
    except (OSError, IndexError):
        sys.stdout.write(text)
    finally:
        signal.signal(signal.SIGINT, previous)
