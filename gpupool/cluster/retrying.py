"""Which answers are worth another try, and after which pause; the deadline says how often.

The client library tries no PATCH again, and every write of ours is one. Every request that is sent here can
be sent twice without harm: server-side apply says what shall be, a deletion names the uid that it means.
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
"""How long a write that is under way is waited for after a signal; whoever sent it may soon send SIGKILL."""

_LONGEST_PAUSE: Final = 30.0
_FIRST_PAUSE: Final = 0.25
_DOUBLINGS: Final = 16
_SILENT_SECONDS: Final = 5.0
"""So long nobody needs to know that something is asked again."""

_PATIENT: Final = frozenset({429, 503})
_BROKEN: Final = frozenset({502, 504})
_UNAUTHORIZED: Final = 401
_SERVER_ERROR: Final = 500
_PASSING: Final = (
    "failed calling webhook",
    "failed to call webhook",
    "etcdserver:",
    "context deadline exceeded",
    "connection refused",
    "connection reset",
    "unexpected EOF",
)
"""What a 500 says that may be gone in a moment. Others are the user's own mistakes: server-side apply answers
a field that the schema does not have with 500 as well."""


class Retrying:
    """A cluster that is asked again where that may help; one deadline counts for everything."""

    def __init__(
        self,
        connect: Callable[[], Connection],
        deadline: Deadline,
        bound: str = "--timeout",
        say: Callable[[str], None] | None = None,
        patience: float = math.inf,
    ) -> None:
        """Connect; `connect` is called again where credentials have expired.

        `bound` names the deadline; `say` is told once what is waited for. One request is tried again for
        `patience` seconds at most.
        """
        self._patience = patience
        self._connect = connect
        self._bound = bound
        self._say = say
        self._said: set[str] = set()
        self._deadline = deadline
        self._connection = connect()
        self._renewing = threading.Lock()

    @property
    def server(self) -> str:
        """Return the server's address."""
        return self._connection.server

    def ask(self, request: Request) -> Response:
        """Ask, and ask again where that is safe and may help.

        Raises:
            ClusterError: where no answer comes in time.
            StoppedError: where the user wants it to end; an UnsureError for a write that was sent.
        """
        self._deadline.ensure_wanted()
        try:
            return self._answer(request)
        except StoppedError as problem:
            if request.is_dry_run:
                raise
            raise UnsureError(problem.signal) from problem

    def _answer(self, request: Request) -> Response:
        tries, renewed, began = 0, False, time.monotonic()
        while True:
            tries += 1
            used = self._connection
            answer, why, is_final = self._once(used, request)
            if answer is not None and answer.status == _UNAUTHORIZED and not renewed:
                # EKS tokens last 15 minutes, and a command may wait longer for nodes.
                self._deadline.ensure_wanted()
                self._renew(used)
                renewed = True
                continue
            pause = None if is_final else _pause(answer, tries)
            if answer is not None and pause is None:
                return answer._replace(asked=tries)
            spent = time.monotonic() - began
            if pause is None or pause >= self._deadline.left or spent + pause > self._patience:
                if answer is not None and not self._deadline.is_over:
                    return answer._replace(asked=tries)
                raise ClusterError(self._given_up(request, why, tries))
            if spent > _SILENT_SECONDS:
                self._tell(why)
            self._deadline.pause(pause)

    def _tell(self, why: str) -> None:
        if self._say is not None and why not in self._said:
            self._said.add(why)
            bound = f"{self._bound} is {self._deadline.seconds:g} s"
            self._say(f"still trying to reach {self.server}: {why}; {bound}")

    def patient(self, seconds: float) -> Retrying:
        """Return the same cluster for whoever asks again by himself: each request gives up after so long."""
        return Retrying(self._reconnect(), self._deadline, self._bound, self._say, seconds)

    def afresh(self, seconds: float) -> Retrying:
        """Return the same cluster with a deadline of its own, for what has to be done after a signal too."""
        return Retrying(self._reconnect(), Deadline(seconds), "the time for it")

    def _reconnect(self) -> Callable[[], Connection]:
        """Return what connects: first with the connection that there is, then anew."""
        connections = iter([self._connection])
        return lambda: next(connections, None) or self._connect()

    def _once(self, connection: Connection, request: Request) -> tuple[Response | None, str, bool]:
        """Return an answer, or what happened in its place and whether that is for good."""
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

    def _given_up(self, request: Request, why: str, tries: int) -> str:
        times = f" ({tries} attempts)" if tries > 1 else ""
        is_late = self._deadline.is_over or tries > 1
        late = f"; {self._bound} is {self._deadline.seconds:g} s" if is_late else ""
        return f"{request.method} {request.path} on {self.server}: {why}{times}{late}"


def _pause(answer: Response | None, tries: int) -> float | None:
    """Return the seconds to wait before the next try; None where there is to be none."""
    if answer is None or answer.status in _BROKEN:
        return _growing(tries)
    if answer.status in _PATIENT:
        return _growing(tries) if answer.retry_after is None else min(answer.retry_after, _LONGEST_PAUSE)
    if answer.status == _SERVER_ERROR:
        message = str(answer.body.get("message", ""))
        return _growing(tries) if any(sign in message for sign in _PASSING) else None
    return None


def _growing(tries: int) -> float:
    """Return a pause that doubles, with chance in it: many jobs may have been refused at the same moment."""
    doubled: float = _FIRST_PAUSE * 2.0 ** min(tries - 1, _DOUBLINGS)
    return min(doubled, _LONGEST_PAUSE) * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
