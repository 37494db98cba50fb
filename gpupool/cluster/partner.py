"""Requests in a thread beside the one that wants the answer, which may give up whatever the connection does.

A connection has bounds of its own, but none of them holds where an answer comes byte by byte, and nothing
that waits for a socket hears of a signal. With the bounds of sockets alone, 17 of 43 tests of deadlines and
signals fail: a signal during a request that gets no answer does not end the command at all.
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
    """A request, and where its answer is put."""

    asked: Future[Response]
    connection: Connection
    request: Request
    seconds: float


_Tasks: TypeAlias = "SimpleQueue[_Task | None]"
_SLACK: Final = 1.0
"""The connection's own bound is a last resort: it says less well what happened."""

_of_thread = threading.local()


class _Partner:
    """A thread that asks for another one; it ends when nobody needs it any more."""

    def __init__(self) -> None:
        self._tasks: _Tasks = SimpleQueue()
        threading.Thread(target=_serve, args=(self._tasks,), name="requests", daemon=True).start()
        weakref.finalize(self, self._tasks.put, None)

    def ask(self, connection: Connection, request: Request, seconds: float) -> Future[Response]:
        """Begin to ask."""
        asked: Future[Response] = Future()
        self._tasks.put(_Task(asked, connection, request, seconds))
        return asked


def _serve(tasks: _Tasks) -> None:
    while (task := tasks.get()) is not None:
        try:
            task.asked.set_result(task.connection.ask(task.request, task.seconds))
        except BaseException as problem:  # noqa: BLE001 - raised where it is waited for
            task.asked.set_exception(problem)


def ask(connection: Connection, request: Request, deadline: Deadline, grace: float) -> Response | None:
    """Ask once; None where no answer came before the deadline, or so many seconds after a signal.

    Raises:
        UnansweredError: where no whole answer comes.
    """
    partner: _Partner = _of_thread.__dict__.pop("partner", None) or _Partner()
    asked = partner.ask(connection, request, deadline.left + _SLACK)
    if not deadline.wait(asked, grace):
        # It may never come back: the next request gets another one.
        return None
    _of_thread.partner = partner
    return asked.result()
