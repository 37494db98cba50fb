"""Requests in a thread of their own, so that a deadline or a signal can end the wait for a response.

A connection has timeouts of its own, but they do not apply to a response that arrives byte by byte, and a
thread that waits for a socket does not notice signals. With the timeouts of sockets alone, 17 of 43 tests of
deadlines and signals fail: a signal during a request without an answer does not end the command at all.
"""

from __future__ import annotations

import threading
import weakref
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from gpupool.cluster.client import Connection, Request, Response
    from gpupool.cluster.deadline import Deadline


class _Task(NamedTuple):
    """A request, and the future of its response."""

    future: Future[Response]
    connection: Connection
    request: Request
    seconds: float


_Tasks: TypeAlias = "SimpleQueue[_Task | None]"
_SLACK: Final = 1.0
"""The connection's own timeout comes later than the deadline, as its error says less about the cause."""

_of_thread = threading.local()


class _Partner:
    """A thread that sends the requests of another one; it ends when it is no longer referenced."""

    def __init__(self) -> None:
        self._tasks: _Tasks = SimpleQueue()
        threading.Thread(target=_serve, args=(self._tasks,), name="requests", daemon=True).start()
        weakref.finalize(self, self._tasks.put, None)

    def ask(self, connection: Connection, request: Request, seconds: float) -> Future[Response]:
        """Start a request."""
        future: Future[Response] = Future()
        self._tasks.put(_Task(future, connection, request, seconds))
        return future


def _serve(tasks: _Tasks) -> None:
    while (task := tasks.get()) is not None:
        try:
            task.future.set_result(task.connection.ask(task.request, task.seconds))
        except BaseException as problem:  # noqa: BLE001 - raised where it is waited for
            task.future.set_exception(problem)


def ask(connection: Connection, request: Request, deadline: Deadline, grace: float) -> Response | None:
    """Send a request once; None without a response before the deadline, or so many seconds after a signal.

    Raises:
        UnansweredError: where no complete response arrives.
    """
    partner: _Partner = _of_thread.__dict__.pop("partner", None) or _Partner()
    future = partner.ask(connection, request, deadline.left + _SLACK)
    if not deadline.wait(future, grace):
        # The thread may never return: the next request gets another one.
        return None
    _of_thread.partner = partner
    return future.result()
