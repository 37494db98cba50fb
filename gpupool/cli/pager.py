"""Long results in a pager: `--pager` of the commands that print tables."""

import inspect
import io
import os
import shlex
import signal
import subprocess
import sys
from contextlib import redirect_stdout
from functools import wraps
from typing import Annotated, Any, Final, TextIO

import typer

from gpupool.cli.bundle import Command

_DEFAULT: Final = "less -R"
_COLOURS: Final = {"LESS": "R"}
"""What `less` needs to show colours; the user's own $LESS wins."""

_OPTION: Final = Annotated[
    bool, typer.Option("--pager", help="On a terminal, show the result in $PAGER, or in less.")
]


class _Kept(io.StringIO):
    """A result that is written for a terminal, but not yet shown there."""

    def __init__(self, terminal: TextIO) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._terminal.fileno()


def has_pager(command: Command) -> Command:
    """Return a command the option `--pager`; its exit code stays the same."""

    @wraps(command)
    def with_pager(**values: Any) -> None:  # noqa: ANN401 - whatever options the command has
        if not values.pop("pager") or not sys.stdout.isatty():
            command(**values)
            return
        kept = _Kept(sys.stdout)
        try:
            with redirect_stdout(kept):
                command(**values)
        finally:
            if text := kept.getvalue():
                _show(text)

    own = inspect.signature(command).parameters.values()
    option = inspect.Parameter("pager", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=_OPTION)
    parameters = [*own, option]
    with_pager.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_pager.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_pager


def _show(text: str) -> None:
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
