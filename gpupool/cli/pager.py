"""Long results in a pager: `--pager` of the commands that print tables."""

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
"""What `less` needs to show colours; the user's own $LESS wins."""

_OPTION: Final = Annotated[
    bool, typer.Option("--pager", help="On a terminal, show the result in $PAGER, or in less.")
]


class _TerminalBuffer(io.StringIO):
    """A result that is written for a terminal, but not yet shown there."""

    def __init__(self, terminal: TextIO) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._terminal.fileno()


def add_pager(command: Command) -> Command:
    """Return a command the option `--pager`; its exit code stays the same."""

    def with_pager(**values: Any) -> None:  # noqa: ANN401 - whatever options the command has
        if not values.pop("pager") or not sys.stdout.isatty():
            command(**values)
            return
        kept = _TerminalBuffer(sys.stdout)
        try:
            with redirect_stdout(kept):
                command(**values)
        finally:
            if text := kept.getvalue():
                _page(text)

    return add_options(command, with_pager, {"pager": (_OPTION, False)})


def _page(text: str) -> None:
    """Show a text in the pager until the user ends it; without a pager, print it."""
    try:
        words = shlex.split(os.environ.get("PAGER") or _DEFAULT)
    except ValueError:  # a quote that is never closed
        words = shlex.split(_DEFAULT)
    # A pager reads Ctrl-C itself. An ignored signal would be ignored by the pager as well.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        subprocess.run(  # noqa: S603 - the user's own pager
            words, input=text.encode("utf-8", "backslashreplace"), env={**_COLOURS, **os.environ}, check=False
        )
    except (OSError, IndexError):
        sys.stdout.write(text)
    finally:
        signal.signal(signal.SIGINT, before)
