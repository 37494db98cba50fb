"""How much a command says beside its result: `-q` for errors only, `-v` for notes too."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Annotated, Any, Final

import typer

from gpupool.cli.bundle import Command, add_options
from gpupool.errors import UsageError
from gpupool.findings import Severity

_ORDER: Final = (Severity.ERROR, Severity.WARNING, Severity.INFO)
_LEAST: ContextVar[Severity] = ContextVar("least", default=Severity.WARNING)
_OPTIONS: Final = {
    "verbose": (Annotated[bool, typer.Option("--verbose", "-v", help="Print notes too.")], False),
    "quiet": (Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")], False),
}


def is_shown(severity: Severity) -> bool:
    """Return whether findings of a severity are printed."""
    return _ORDER.index(severity) <= _ORDER.index(_LEAST.get())


def is_quiet() -> bool:
    """Return whether only errors are printed."""
    return not is_shown(Severity.WARNING)


@contextmanager
def limit_severity(least: Severity) -> Iterator[None]:
    """Print findings down to a severity while the block runs."""
    token = _LEAST.set(least)
    try:
        yield
    finally:
        _LEAST.reset(token)


def add_verbosity(command: Command) -> Command:
    """Return a command the options `-v` and `-q`."""

    def with_verbosity(**values: Any) -> None:  # noqa: ANN401 - whatever options the command has
        verbose, quiet = values.pop("verbose"), values.pop("quiet")
        if verbose and quiet:
            message = "-v conflicts with -q: remove one of them"
            raise UsageError(message)
        least = Severity.INFO if verbose else Severity.ERROR if quiet else Severity.WARNING
        with limit_severity(least):
            command(**values)

    return add_options(command, with_verbosity, _OPTIONS)
