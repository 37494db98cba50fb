"""Retries of requests to the API server, with growing pauses, until the deadline.

The client library never retries a PATCH, and every write of gpupool is one. Every request that is sent here
can be sent twice: server-side apply is declarative, and a deletion names the uid of its object.
"""

from __future__ import annotations

import math
import random
import threading
import time
from typing import TYPE_CHECKING, Final

from gpupool.cluster import partner
from gpupool.cluster.client import Response, UnansweredError, UnsureError
from gpupool.cluster.deadline import Deadline
from gpupool.errors import ClusterError, StoppedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpupool.cluster.client import Connection, Request

_GRACE_SECONDS: Final = 5.0
"""How long a write that was sent is waited for after a signal, which SIGKILL may soon follow."""

_LONGEST_PAUSE: Final = 30.0
_FIRST_PAUSE: Final = 0.25
_DOUBLINGS: Final = 16
_QUIET_SECONDS: Final = 5.0
"""How long retries go on without a message."""

_OVERLOADED: Final = frozenset({429, 503})
_BROKEN: Final = frozenset({502, 504})
_UNAUTHORIZED: Final = 401
_SERVER_ERROR: Final = 500
_TEMPORARY: Final = (
    "failed calling webhook",
    "failed to call webhook",
    "etcdserver:",
    "context deadline exceeded",
    "connection refused",
    "connection reset",
    "unexpected EOF",
)
"""Texts of a 500 that may succeed on a retry. Others are mistakes of the user: server-side apply also answers
500 to a field that the schema does not have."""


class Retrying:
    """A cluster whose requests are retried, with one deadline for all of them."""

    def __init__(
        self,
        connect: Callable[[], Connection],
        deadline: Deadline,
        bound: str = "--timeout",
        say: Callable[[str], None] | None = None,
        patience: float = math.inf,
    ) -> None:
        """Connect; `connect` is called again where credentials have expired.

        `bound` names the deadline in messages; `say` gets each reason for a wait once. One request is retried
        for `patience` seconds at most.
        """
        self._patience = patience
        self._connect = connect
        self._bound = bound
        self._say = say
        self._reported: set[str] = set()
        self._deadline = deadline
        self._connection = connect()
        self._renewing = threading.Lock()

    @property
    def server(self) -> str:
        """Return the server's address."""
        return self._connection.server

    def ask(self, request: Request) -> Response:
        """Send a request, with retries where they may help.

        Raises:
            ClusterError: where no response arrives in time.
            StoppedError: after a signal; an UnsureError for a write that was sent.
        """
        self._deadline.ensure_not_stopped()
        try:
            return self._answer(request)
        except StoppedError as problem:
            if request.is_dry_run:
                raise
            raise UnsureError(problem.signal) from problem

    def _answer(self, request: Request) -> Response:
        tries, is_renewed, began = 0, False, time.monotonic()
        while True:
            tries += 1
            connection = self._connection
            answer, why, is_final = self._send(connection, request)
            if answer is not None and answer.status == _UNAUTHORIZED and not is_renewed:
                # EKS tokens last 15 minutes, and a command may wait longer for nodes.
                self._deadline.ensure_not_stopped()
                self._renew(connection)
                is_renewed = True
                continue
            pause = None if is_final else _pause(answer, tries)
            if answer is not None and pause is None:
                return answer._replace(tries=tries)
            elapsed = time.monotonic() - began
            if pause is None or pause >= self._deadline.left or elapsed + pause > self._patience:
                if answer is not None and not self._deadline.is_over:
                    return answer._replace(tries=tries)
                raise ClusterError(self._failure(request, why, tries))
            if elapsed > _QUIET_SECONDS:
                self._report(why)
            self._deadline.pause(pause)

    def _report(self, why: str) -> None:
        if self._say is not None and why not in self._reported:
            self._reported.add(why)
            bound = f"{self._bound} is {self._deadline.seconds:g} s"
            self._say(f"still trying to reach {self.server}: {why}; {bound}")

    def with_patience(self, seconds: float) -> Retrying:
        """Return the same cluster for callers that retry: a request gives up after so many seconds."""
        return Retrying(self._reconnect(), self._deadline, self._bound, self._say, seconds)

    def with_deadline(self, seconds: float) -> Retrying:
        """Return the same cluster with a deadline of its own, for cleanup that a signal must not stop."""
        return Retrying(self._reconnect(), Deadline(seconds), "the time for it")

    def _reconnect(self) -> Callable[[], Connection]:
        """Return a function that returns the present connection at first, and then connects again."""
        connections = iter([self._connection])
        return lambda: next(connections, None) or self._connect()

    def _send(self, connection: Connection, request: Request) -> tuple[Response | None, str, bool]:
        """Return a response, the reason for a retry, and whether a retry is useless."""
        if self._deadline.is_over:
            return None, "timed out", False
        grace = 0.0 if request.is_dry_run else _GRACE_SECONDS
        try:
            answer = partner.ask(connection, request, self._deadline, grace)
        except UnansweredError as problem:
            return None, str(problem), problem.is_final
        if answer is None:
            return None, "no answer came in time", False
        return answer, f"it answers {answer.status}: {answer.body.get('message', '')}", False

    def _renew(self, expired: Connection) -> None:
        with self._renewing:
            if self._connection is expired:
                self._connection = self._connect()

    def _failure(self, request: Request, why: str, tries: int) -> str:
        times = f" ({tries} attempts)" if tries > 1 else ""
        is_late = self._deadline.is_over or tries > 1
        late = f"; {self._bound} is {self._deadline.seconds:g} s" if is_late else ""
        return f"{request.method} {request.path} on {self.server}: {why}{times}{late}"


def _pause(answer: Response | None, tries: int) -> float | None:
    """Return the seconds to wait before the next try; None where there is no next try."""
    if answer is None or answer.status in _BROKEN:
        return _growing(tries)
    if answer.status in _OVERLOADED:
        return _growing(tries) if answer.retry_after is None else min(answer.retry_after, _LONGEST_PAUSE)
    if answer.status == _SERVER_ERROR:
        message = str(answer.body.get("message", ""))
        return _growing(tries) if any(sign in message for sign in _TEMPORARY) else None
    return None


def _growing(tries: int) -> float:
    """Return a pause that doubles, with jitter, as many jobs may have been rejected at the same moment."""
    doubled: float = _FIRST_PAUSE * 2.0 ** min(tries - 1, _DOUBLINGS)
    return min(doubled, _LONGEST_PAUSE) * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
