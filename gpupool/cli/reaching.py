"""The options with which a command reaches its cluster, and how signals end it; written once for all."""

import inspect
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import FrameType
from typing import Annotated, Any

import typer

from gpupool.errors import ClusterError, StoppedError, UsageError
from gpupool.rollout.reach import Way

_GRACE_SECONDS = 5.0
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_OPTIONS = {
    "kubeconfig": Annotated[
        str | None,
        typer.Option("--kubeconfig", metavar="FILE", help="Unless said: $KUBECONFIG, or ~/.kube/config."),
    ],
    "context": Annotated[
        str | None,
        typer.Option(
            "--context", metavar="NAME", help="The kubeconfig context; the blueprint's unless said."
        ),
    ],
    "impersonate": Annotated[
        str | None, typer.Option("--as", metavar="USER", help="Ask as another user (impersonation).")
    ],
    "timeout": Annotated[
        str, typer.Option("--timeout", metavar="TIME", help="For the whole command, as in 90s, 10m.")
    ],
    "concurrency": Annotated[
        int, typer.Option("--concurrency", metavar="N", min=1, max=64, help="Requests at once.")
    ],
}
_DEFAULTS = {"timeout": "10m", "concurrency": 8}


def reaches_cluster(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command, which takes `way: Way`, the options that a Way is made of."""

    @wraps(command)
    def with_way(**said: Any) -> None:  # noqa: ANN401 - whatever options the command has
        kubeconfig, context, user, timeout, concurrency = (said.pop(name) for name in _OPTIONS)
        command(**said, way=Way(kubeconfig, context, user, _seconds(timeout), concurrency))

    own = [each for each in inspect.signature(command).parameters.values() if each.name != "way"]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_DEFAULTS.get(name), annotation=kind)
        for name, kind in _OPTIONS.items()
    ]
    with_way.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
    with_way.__annotations__ = {each.name: each.annotation for each in (*own, *added)}
    return with_way


@contextmanager
def one_deadline(way: Way, stop: Callable[[int], None] | None = None) -> Iterator[None]:
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
        message = f"the time is up: --timeout is {way.timeout:g} s"
        raise ClusterError(message)

    before = {number: signal.signal(number, stopped) for number in (signal.SIGINT, signal.SIGTERM)}
    before[signal.SIGALRM] = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, way.timeout + _GRACE_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _seconds(said: str) -> float:
    number, unit = (said[:-1], said[-1:]) if said[-1:] in _UNITS else (said, "s")
    try:
        seconds = float(number) * _UNITS[unit]
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        message = f"--timeout {said}: write a time as in 90s, 10m or 1h"
        raise UsageError(message)
    return seconds
