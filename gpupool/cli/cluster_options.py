"""The options with which a command reaches its cluster, and how signals end it; written once for all."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from gpupool.cli import completion_values
from gpupool.cli.bundle import bundle_options
from gpupool.errors import ClusterError, StoppedError, UsageError
from gpupool.reports.escaping import one_line

if TYPE_CHECKING:
    from gpupool.rollout.connection import ClusterOptions

_GRACE_SECONDS = 5.0
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def _build_cluster_options(
    kubeconfig: str | None, context: str | None, impersonate: str | None, timeout: str, concurrency: int
) -> "ClusterOptions":
    from gpupool.rollout.connection import ClusterOptions

    if impersonate is not None and not (impersonate.isascii() and impersonate.isprintable() and impersonate):
        message = f"--as {impersonate}: expected a user's name in printable ASCII"
        raise UsageError(message)
    return ClusterOptions(
        kubeconfig, context, impersonate, parse_seconds("--timeout", timeout), concurrency, _print_line
    )


def _print_line(text: str) -> None:
    sys.stderr.write(f"{one_line(text)}\n")


add_cluster_options = bundle_options(
    "way",
    {
        "kubeconfig": (
            Annotated[
                str | None,
                typer.Option(
                    "--kubeconfig",
                    metavar="FILE",
                    help="Kubeconfig file. [default: $KUBECONFIG or ~/.kube/config]",
                ),
            ],
            None,
        ),
        "context": (
            Annotated[
                str | None,
                typer.Option(
                    "--context",
                    metavar="NAME",
                    help="Kubeconfig context. [default: the blueprint's]",
                    autocompletion=completion_values.list_contexts,
                ),
            ],
            None,
        ),
        "impersonate": (
            Annotated[
                str | None,
                typer.Option("--as", metavar="USER", help="User to impersonate."),
            ],
            None,
        ),
        "timeout": (
            Annotated[
                str,
                typer.Option(
                    "--timeout", metavar="TIME", help="Timeout of the whole command, as in 90s or 10m."
                ),
            ],
            "10m",
        ),
        "concurrency": (
            Annotated[
                int,
                typer.Option(
                    "--concurrency", metavar="N", min=1, max=64, help="Maximum number of concurrent requests."
                ),
            ],
            16,
        ),
    },
    _build_cluster_options,
)
"""Give a command, which takes `way: Way`, the options that a Way is made of."""


@contextmanager
def enforce_deadline(way: "ClusterOptions", stop: Callable[[int], None] | None = None) -> Iterator[None]:
    """End the command when its time is up whatever it waits for, and when a signal comes.

    A command that writes gives `stop`, which the first signal calls so that it can end in good order; the
    second one, and the first for other commands, ends it where it stands.
    """
    signals = [0]

    def stopped(number: int, _frame: FrameType | None) -> None:
        signals.append(number)
        if stop is None or signals[0]:
            raise StoppedError(number)
        signals[0] = number
        stop(number)

    def late(_number: int, _frame: FrameType | None) -> None:
        message = f"timed out: --timeout is {way.timeout:g} s"
        raise ClusterError(message)

    before = {number: signal.signal(number, stopped) for number in _find_stop_signals()}
    before[signal.SIGALRM] = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, way.timeout + _GRACE_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _find_stop_signals() -> list[signal.Signals]:
    """Return the signals that end a command; `nohup` lets it go on when its terminal is closed."""
    is_kept = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return [signal.SIGINT, signal.SIGTERM, *([] if is_kept else [signal.SIGHUP])]


@contextmanager
def stop_at_first_signal() -> Iterator[None]:
    """Let the first signal end the command where it stands: while somebody is asked, nothing is under way."""

    def stopped(number: int, _frame: FrameType | None) -> None:
        raise StoppedError(number)

    before = {number: signal.signal(number, stopped) for number in _find_stop_signals()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def parse_seconds(flag: str, said: str) -> float:
    """Read a time as in 90s, 10m or 1h.

    Raises:
        UsageError: for anything else, naming the option.
    """
    number, unit = (said[:-1], said[-1:]) if said[-1:] in _UNITS else (said, "s")
    try:
        found = float(number) * _UNITS[unit]
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        message = f"{flag} {said}: expected a duration such as 90s, 10m or 1h"
        raise UsageError(message)
    return found
