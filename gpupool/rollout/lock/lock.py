"""The lock of a blueprint: one run at a time writes to its objects.

It is a Lease beside the inventory, renewed by a thread of its own for as long as the run lives.
"""

from __future__ import annotations

import shlex
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from gpupool.cluster import lease
from gpupool.errors import ClusterError, GuardError
from gpupool.rollout.lock.lock_owner import current_owner, describe_owner, read_holder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from gpupool.cluster.client import Cluster
    from gpupool.cluster.deadline import Deadline
    from gpupool.cluster.lease import Lease
    from gpupool.rollout.connection import ClusterOptions, ReachedCluster

SECONDS: Final = 60
EVERY: Final = 15.0
"""A live holder renews four times before others may take the lock."""

MARGIN: Final = 10.0
"""So long before others may take it, the holder writes nothing more: what is under way has to land."""

SKEW: Final = 300.0
"""By how much two clocks may differ; AWS itself refuses who is further off."""

TRUST_SECONDS: Final = 1.0
"""For so long what was read of the Lease counts."""

_ATTEMPT_SECONDS, _AGAIN_SECONDS = 10.0, 1.0
_JOIN_SECONDS, _RELEASE_SECONDS = 1.0, 4.0
"""A command that is stopped has five seconds to end in good order."""

_POLL_SECONDS, _STILL_SECONDS = 1.0, 10.0
_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""One that goes on while the machine sleeps: the Lease runs out then as well."""


def _clock() -> float:
    return time.clock_gettime(_CLOCK)


class Lock:
    """A lock that this process holds, or did."""

    def __init__(self, cluster: Cluster, namespace: str, name: str, say: Callable[[str], None]) -> None:
        """Take nothing yet."""
        self.holder = current_owner()
        self._cluster = cluster
        self._say = say
        self._lease = lease.Lease(namespace, name, self.holder.text, SECONDS, "", "", 0)
        self._renewed_at = self._seen_at = 0.0
        self._looking = threading.Lock()
        self._is_asked_for = False
        self._gone = ""
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="lock", daemon=True)

    @property
    def title(self) -> str:
        """Return its namespace and name."""
        return self._lease.title

    @property
    def is_lost(self) -> bool:
        """Return whether somebody else has it, or soon may have."""
        return bool(self._gone) or _clock() - self._renewed_at >= SECONDS - MARGIN

    def ensure_held(self) -> None:
        """Raise where the lock is lost; to be asked before each write.

        Raises:
            GuardError: with what became of it.
        """
        with self._looking:
            if not self.is_lost and _clock() - max(self._seen_at, self._renewed_at) > TRUST_SECONDS:
                self._look()
        if self.is_lost:
            why = self._gone or f"it could not be renewed for {SECONDS - MARGIN:.0f} seconds"
            message = f"the lock {self.title} is lost: {why}. Nothing more is written; run the command again"
            raise GuardError(message)

    def _look(self) -> None:
        """Read the Lease: somebody may have deleted it in the belief that this run is dead."""
        began = _clock()
        # Where nobody answers it is the renewals that decide, which are tried all the time.
        with suppress(ClusterError):
            self._own(self._cluster.with_deadline(_ATTEMPT_SECONDS))
            self._seen_at = began

    def take(self, turn: LockWait) -> None:
        """Take it as soon as it is free, and keep it from then on.

        Raises:
            GuardError: where somebody else holds it for too long.
            ClusterError: where the server refuses, or does not answer.
            StoppedError: where a signal came.
        """
        found: Lease | None = None
        rounds = 0
        while not self._try(found, turn):
            if rounds:
                turn.wait(self.title, found)
            found = lease.read(self._cluster, self._lease.namespace, self._lease.name)
            # As long as nobody else has it, an answer that was lost may have given it to us.
            self._is_asked_for = found is None or found.holder == self.holder.text
            rounds += 1
        self._thread.start()

    def _try(self, found: Lease | None, turn: LockWait) -> bool:
        if found is not None and found.holder == self.holder.text:
            # The answer to the request that took it was lost on the way.
            self._lease = found
            return True
        if found is not None and not turn.is_free(found):
            return False
        self._is_asked_for, self._renewed_at = True, _clock()
        now = lease.now()
        wanted = self._lease._replace(acquired=now, renewed=now)
        if found is None:
            taken = lease.create(self._cluster, wanted)
        else:
            # Who reads the Lease at the same moment may do the same: the server takes one of the two.
            transitions = found.transitions + 1
            taken = lease.replace(
                self._cluster,
                wanted._replace(transitions=transitions, uid=found.uid, version=found.version),
            )
        self._lease = taken or self._lease
        return taken is not None

    def release(self) -> None:
        """Return it back, also after a signal and when the time of the command is up."""
        self._done.set()
        if self._thread.is_alive():
            self._thread.join(_JOIN_SECONDS)
        if not self._is_asked_for:
            return
        cluster = self._cluster.with_deadline(_RELEASE_SECONDS)
        try:
            if not (self._lease.uid and lease.delete(cluster, self._lease)):
                found = self._own(cluster)
                if found is not None:
                    lease.delete(cluster, found)
        except ClusterError as problem:
            if self._lease.uid:
                self._say(f"could not release the lock {self.title}; it expires by itself: {problem}")

    def _own(self, cluster: Cluster) -> Lease | None:
        """Read the Lease; None where it is not ours."""
        found = lease.read(cluster, self._lease.namespace, self._lease.name)
        if found is not None and found.holder == self.holder.text:
            return found
        self._gone = f"{describe_owner(read_holder(found.holder))} acquired it" if found else "it was deleted"
        return None

    def _keep(self) -> None:
        """Renew it until it is given back, or lost to somebody."""
        pause = EVERY
        while not self._done.wait(pause) and not self._gone:
            pause = EVERY if self._renew() else _AGAIN_SECONDS

    def _renew(self) -> bool:
        cluster = self._cluster.with_deadline(_ATTEMPT_SECONDS)
        try:
            # A second time, where the Lease is ours and newer than we know: an answer was lost.
            return self._renew_once(cluster) or (not self._gone and self._renew_once(cluster))
        except ClusterError:
            return False

    def _renew_once(self, cluster: Cluster) -> bool:
        began = _clock()
        renewed = lease.replace(cluster, self._lease._replace(renewed=lease.now()))
        if renewed is None:
            self._lease = self._own(cluster) or self._lease
            return False
        self._lease, self._renewed_at = renewed, began
        return True


class LockWait:
    """Waiting for one's turn: who has the lock, and for how long that is borne."""

    def __init__(self, deadline: Deadline, seconds: float, unlock: str, say: Callable[[str], None]) -> None:
        """Begin; `unlock` are the words of the command line that delete a lock, with `{}` for its id."""
        self._deadline = deadline
        self._seconds = seconds
        self._unlock = unlock
        self._say = say
        self._until: float | None = None
        self._said_at = 0.0
        self._seen = ""
        self._seen_at = 0.0

    def is_free(self, found: Lease) -> bool:
        """Return whether nobody has it any more.

        Either it was not renewed while we looked on for as long as it holds, which is true whatever the
        clocks say, as the renewal's time is the holder's own; or the renewal is so long ago that no clock can
        be that wrong: then nobody has to wait for a run that was killed an hour ago.
        """
        if not found.holder:
            return True
        if found.version != self._seen:
            self._seen, self._seen_at = found.version, time.monotonic()
        lasts = found.seconds or SECONDS
        age = found.age
        is_old = age is not None and age > lasts + SKEW
        return is_old or time.monotonic() - self._seen_at >= lasts

    def wait(self, title: str, found: Lease | None) -> None:
        """Wait for a moment.

        Raises:
            GuardError: where it has been long enough.
            StoppedError: where a signal came.
        """
        at = time.monotonic()
        if self._until is None:
            # From here on, as the look for renewals: with --lock-timeout 60s a dead holder's lock is had.
            self._until = (self._seen_at or at) + self._seconds
        if at >= self._until:
            raise GuardError(self._refusal(title, found))
        if at - self._said_at >= _STILL_SECONDS:
            self._say(f"waiting for the lock {title}: {describe_holder(found)}")
            self._said_at = at
        self._deadline.pause(min(_POLL_SECONDS, self._until - at))
        if self._deadline.is_over:
            raise GuardError(self._refusal(title, found))

    def _refusal(self, title: str, found: Lease | None) -> str:
        if found is None:
            return f"the lock {title} could not be acquired: other runs keep acquiring it"
        line = self._unlock.format(shlex.quote(read_holder(found.holder).id))
        return (
            f"the lock {title} is {describe_holder(found)}. Wait for that run with a longer --lock-timeout or, if it"
            f" is dead, delete its lock: {line}"
        )


@contextmanager
def hold_lock(
    reached: ReachedCluster, namespace: str, name: str, *,
    lock_timeout: float, say: Callable[[str], None], files: Iterable[str] = (),
) -> Iterator[Lock]:  # fmt: skip
    """Hold a lock while the block runs; `files` are the blueprint's, for the words that would delete it.

    Raises:
        GuardError: where somebody else holds it for longer than `lock_timeout` seconds.
        ClusterError: where the server refuses, or does not answer.
        StoppedError: where a signal came.
    """
    lock = Lock(reached.cluster, namespace, name, say)
    try:
        lock.take(LockWait(reached.deadline, lock_timeout, unlock_line(reached.way, files), say))
        yield lock
    finally:
        lock.release()


def unlock_line(way: ClusterOptions, files: Iterable[str]) -> str:
    """Return the command line that deletes a lock, with `{}` where its id belongs."""
    options = [*(("-f", file) for file in files)]
    options += [
        (name, said)
        for name, said in (("--kubeconfig", way.kubeconfig), ("--context", way.context), ("--as", way.user))
        if said
    ]
    said = "".join(f" {name} {shlex.quote(value)}" for name, value in options)
    return "gpupool unlock {}" + said.replace("{", "{{").replace("}", "}}")


def describe_holder(found: Lease | None) -> str:
    """Say who has a lock, and since when."""
    if found is None or not found.holder:
        return "held by nobody"
    age = found.age
    since = f", since {found.acquired}" if found.acquired else ""
    renewed = "" if age is None else f" (renewed {max(0.0, age):.0f} s ago)"
    return f"held by {describe_owner(read_holder(found.holder))}{since}{renewed}"
