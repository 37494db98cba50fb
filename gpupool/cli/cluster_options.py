"""Options for connecting to a cluster, and the deadline and signals of commands that do."""

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
    "connection",
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
"""Replace the parameter `connection: ClusterOptions` of a command by the options that set its fields."""


@contextmanager
def enforce_deadline(
    connection: "ClusterOptions", stop: Callable[[int], None] | None = None
) -> Iterator[None]:
    """End the block when its time is up, and on a signal.

    The first signal calls `stop`, with which a command that writes ends in good order. The second signal,
    and the first one without `stop`, ends the block at once.
    """
    signals = [0]

    def stop_command(number: int, _frame: FrameType | None) -> None:
        signals.append(number)
        if stop is None or signals[0]:
            raise StoppedError(number)
        signals[0] = number
        stop(number)

    def time_out(_number: int, _frame: FrameType | None) -> None:
        message = f"timed out: --timeout is {connection.timeout:g} s"
        raise ClusterError(message)

    previous = {number: signal.signal(number, stop_command) for number in _find_stop_signals()}
    previous[signal.SIGALRM] = signal.signal(signal.SIGALRM, time_out)
    signal.setitimer(signal.ITIMER_REAL, connection.timeout + _GRACE_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in previous.items():
            signal.signal(number, handler)


def _find_stop_signals() -> list[signal.Signals]:
    """Return the signals that end a command; under `nohup`, the closing of its terminal is none of them."""
    is_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return [signal.SIGINT, signal.SIGTERM, *([] if is_ignored else [signal.SIGHUP])]


@contextmanager
def stop_at_first_signal() -> Iterator[None]:
    """Let the first signal end the block at once: during a prompt, no change is in progress."""

    def stop_command(number: int, _frame: FrameType | None) -> None:
        raise StoppedError(number)

    previous = {number: signal.signal(number, stop_command) for number in _find_stop_signals()}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def parse_seconds(flag: str, text: str) -> float:
    """Parse a duration such as 90s, 10m or 1h.

    Raises:
        UsageError: for any other text; the message names the option.
    """
    number, unit = (text[:-1], text[-1:]) if text[-1:] in _UNITS else (text, "s")
    try:
        duration = float(number) * _UNITS[unit]
    except ValueError:
        duration = 0.0
    if not 0 < duration < float("inf"):
        message = f"{flag} {text}: expected a duration such as 90s, 10m or 1h"
        raise UsageError(message)
    return duration
