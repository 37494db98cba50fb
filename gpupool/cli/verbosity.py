"""The options `-q` and `-v`, which set the lowest severity of printed findings."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Annotated, Any, Final

import typer

from gpupool.cli.bundle import Command, add_options
from gpupool.errors import UsageError
from gpupool.findings import Severity

_ORDER: Final = (Severity.ERROR, Severity.WARNING, Severity.INFO)
_LOWEST: ContextVar[Severity] = ContextVar("lowest", default=Severity.WARNING)
_OPTIONS: Final = {
    "verbose": (Annotated[bool, typer.Option("--verbose", "-v", help="Print notes too.")], False),
    "quiet": (Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")], False),
}


def is_shown(severity: Severity) -> bool:
    """Return whether findings of a severity are printed."""
    return _ORDER.index(severity) <= _ORDER.index(_LOWEST.get())


def is_quiet() -> bool:
    """Return whether only errors are printed."""
    return not is_shown(Severity.WARNING)


@contextmanager
def limit_severity(lowest: Severity) -> Iterator[None]:
    """Set the lowest severity of printed findings while the block runs."""
    token = _LOWEST.set(lowest)
    try:
        yield
    finally:
        _LOWEST.reset(token)


def add_verbosity(command: Command) -> Command:
    """Return a command with the options `-v` and `-q`."""

    def with_verbosity(**values: Any) -> None:  # noqa: ANN401 - whatever options the command has
        verbose, quiet = values.pop("verbose"), values.pop("quiet")
        if verbose and quiet:
            message = "-v conflicts with -q: remove one of them"
            raise UsageError(message)
        lowest = Severity.INFO if verbose else Severity.ERROR if quiet else Severity.WARNING
        with limit_severity(lowest):
            command(**values)

    return add_options(command, with_verbosity, _OPTIONS)
