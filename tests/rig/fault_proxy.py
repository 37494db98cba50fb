"""A way to the API server on which things go wrong as a test wants it, and which remembers what went over it.

faulty.rules += [Rule(real_writes, unavailable(retry_after=1), times=2)]
... run a command with faulty.kubeconfig(folder) ...
assert [each.status for each in faulty.seen if each.is_write] == [503, 503, 200]
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from tests.rig.access import Access
from tests.rig.faults import Fault, Through
from tests.rig.forwarding import Answered, Asked, Exchange, Forwarding

Match = Callable[[str, str, Mapping[str, str], int], bool]
"""Gets method, path, query, and which request this is of all since the rules were set, from 1 on."""

_OK: Final = 300


@dataclass(slots=True)
class Rule:
    """Which requests something happens to, and what; of several rules the first that fits counts."""

    match: Match
    fault: Fault
    times: int | None = 1
    """After so many it no longer fits; None for never."""

    skip: int = 0
    """So many requests that it would fit are let through first."""

    token: str | None = None
    """Only requests with this bearer token."""

    struck: int = 0
    """How often it happened."""

    def fits(self, asked: Asked, nth: int) -> bool:
        """Return whether it happens to this request, and count."""
        if self.times is not None and self.struck >= self.times:
            return False
        if self.token not in {None, asked.token} or not self.match(
            asked.method, asked.path, asked.query, nth
        ):
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.struck += 1
        return True


@dataclass(slots=True)
class Seen:
    """A request that came, and what became of it."""

    method: str
    path: str
    query: dict[str, str]
    is_write: bool
    """Neither a read nor a dry run."""

    body: bytes
    at: float
    """When it came, in seconds of the monotonic clock."""

    status: int = 0
    """What the client was told; 0 for nothing."""

    answered: int = 0
    """What the server said; 0 where it was not asked."""

    @property
    def is_committed(self) -> bool:
        """Return whether the server has stored something for it."""
        return self.is_write and 0 < self.answered < _OK


Hook = Callable[[int, Seen, Answered], None]
"""Gets which committed write this is, from 1 on, the request and the server's answer."""


class FaultProxy:
    """The way itself, and all that went over it."""

    def __init__(self, access: Access) -> None:
        self.rules: list[Rule] = []
        self.seen: list[Seen] = []
        """In the order in which they came."""

        self.committed: Hook | None = None
        """Called when the server has stored a write and the client does not know yet; no other write is then
        at this point."""

        self.delivered: Hook | None = None
        """Called when the answer to such a write has been sent to the client.

        What a client has sent before a hook killed it and saw it end is not passed on any more.
        """

        self._access = access
        self._asked = self._stored = 0
        self._lock, self._hooking = threading.Lock(), threading.RLock()
        self._forwarding = Forwarding(access, self._serve)

    @property
    def url(self) -> str:
        """Return the address for clients."""
        return self._forwarding.url

    @property
    def access(self) -> Access:
        """Return the way in of the user who may do everything."""
        return replace(self._access, url=self.url)

    @property
    def writes(self) -> list[Seen]:
        """Return the real writes that came, in their order."""
        return [each for each in self.seen if each.is_write]

    def kubeconfig(self, folder: Path, token: str | None = None) -> Path:
        """Write a kubeconfig whose server is this, for the user with that token."""
        access = self.access if token is None else replace(self.access, token=token)
        return access.write_kubeconfig(folder / "kubeconfig-faulty")

    def forget(self) -> None:
        """Begin anew: no rules, no hooks, nothing seen, all counts from 1."""
        with self._lock:
            self.rules, self.seen = [], []
            self.committed = self.delivered = None
            self._asked = self._stored = 0

    def start(self) -> None:
        """Take connections."""
        self._forwarding.start()

    def end(self) -> None:
        """End all connections.

        Raises:
            Exception: what a rule's match or a hook raised in the meantime.
        """
        self._forwarding.end()
        if self._forwarding.problems:
            raise self._forwarding.problems[0]

    def _serve(self, exchange: Exchange) -> None:
        seen, fault = self._arrive(exchange.asked)
        stored: list[tuple[int, Answered]] = []
        exchange.arrived = partial(self._answer, seen, stored)
        exchange.telling = partial(setattr, seen, "status")
        fault.strike(exchange)
        for nth, answered in stored:
            self._call(self.delivered, nth, seen, answered)

    def _arrive(self, asked: Asked) -> tuple[Seen, Fault]:
        seen = Seen(asked.method, asked.path, asked.query, asked.is_write, asked.body, time.monotonic())
        with self._lock:
            self._asked += 1
            self.seen.append(seen)
            rule = next((each for each in self.rules if each.fits(asked, self._asked)), None)
        return seen, rule.fault if rule else Through()

    def _answer(self, seen: Seen, stored: list[tuple[int, Answered]], answered: Answered) -> None:
        seen.answered = answered.status
        if not seen.is_committed:
            return
        with self._hooking:
            self._stored += 1
            stored.append((self._stored, answered))
            self._call(self.committed, self._stored, seen, answered)

    def _call(self, hook: Hook | None, nth: int, seen: Seen, answered: Answered) -> None:
        if hook is None:
            return
        try:
            hook(nth, seen, answered)
        except Exception as problem:  # noqa: BLE001 - raised at the end, in the test's own thread
            self._forwarding.problems.append(problem)


@contextmanager
def fault_proxy(access: Access) -> Iterator[FaultProxy]:
    """Run a way to a server, on which all goes well at first, while the block runs."""
    found = FaultProxy(access)
    found.start()
    try:
        yield found
    finally:
        found.end()


# Which requests.


def everything(_method: str, _path: str, _query: Mapping[str, str], _nth: int) -> bool:
    """Fit every request."""
    return True


def reads(method: str, _path: str, _query: Mapping[str, str], _nth: int) -> bool:
    """Fit what only reads."""
    return method == "GET"


def dry_runs(_method: str, _path: str, query: Mapping[str, str], _nth: int) -> bool:
    """Fit what the server answers as if it stored it."""
    return query.get("dryRun") == "All"


def real_writes(method: str, path: str, query: Mapping[str, str], nth: int) -> bool:
    """Fit what the server stores."""
    return not reads(method, path, query, nth) and not dry_runs(method, path, query, nth)
