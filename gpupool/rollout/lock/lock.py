"""Lock of a blueprint: a Lease beside the inventory, so that one run at a time writes its objects.

A thread renews the Lease as long as the run is alive.
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
"""The pause between renewals: a live holder renews four times before the Lease expires."""

MARGIN: Final = 10.0
"""The time before the Lease expires in which its holder starts no write, so that pending ones can finish."""

SKEW: Final = 300.0
"""The tolerated difference between two clocks; AWS rejects requests with a larger one."""

TRUST_SECONDS: Final = 1.0
"""How long a read of the Lease is valid."""

_ATTEMPT_SECONDS, _AGAIN_SECONDS = 10.0, 1.0
_JOIN_SECONDS, _RELEASE_SECONDS = 1.0, 4.0
"""Both fit into the five seconds that a command has after a signal."""

_POLL_SECONDS, _STILL_SECONDS = 1.0, 10.0
_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""A clock that runs while the machine sleeps, as the Lease expires then too."""


def _clock() -> float:
    return time.clock_gettime(_CLOCK)


class Lock:
    """A lock that this process holds or held."""

    def __init__(self, cluster: Cluster, namespace: str, name: str, say: Callable[[str], None]) -> None:
        """Prepare a lock without acquiring it."""
        self.holder = current_owner()
        self._cluster = cluster
        self._say = say
        self._lease = lease.Lease(namespace, name, self.holder.text, SECONDS, "", "", 0)
        self._renewed_at = self._seen_at = 0.0
        self._reading = threading.Lock()
        self._is_requested = False
        self._loss = ""
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="lock", daemon=True)

    @property
    def title(self) -> str:
        """Return `NAMESPACE/NAME`."""
        return self._lease.title

    @property
    def is_lost(self) -> bool:
        """Return whether another run holds the lock, or may soon."""
        return bool(self._loss) or _clock() - self._renewed_at >= SECONDS - MARGIN

    def ensure_held(self) -> None:
        """Raise an error where the lock is lost; called before each write.

        Raises:
            GuardError: with the reason.
        """
        with self._reading:
            if not self.is_lost and _clock() - max(self._seen_at, self._renewed_at) > TRUST_SECONDS:
                self._read()
        if self.is_lost:
            why = self._loss or f"it could not be renewed for {SECONDS - MARGIN:.0f} seconds"
            message = f"the lock {self.title} is lost: {why}. Nothing more is applied; run the command again"
            raise GuardError(message)

    def _read(self) -> None:
        """Read the Lease, which a user may have deleted because this run seemed dead."""
        began = _clock()
        # Without a response the renewals decide, which are tried all the time.
        with suppress(ClusterError):
            self._own(self._cluster.with_deadline(_ATTEMPT_SECONDS))
            self._seen_at = began

    def acquire(self, wait: LockWait) -> None:
        """Acquire the lock as soon as it is free, and renew it from then on.

        Raises:
            GuardError: where another run holds it for too long.
            ClusterError: where the server rejects a request, or does not answer.
            StoppedError: after a signal.
        """
        live: Lease | None = None
        rounds = 0
        while not self._try(live, wait):
            if rounds:
                wait.wait(self.title, live)
            live = lease.read(self._cluster, self._lease.namespace, self._lease.name)
            # Unless another run holds it, a request whose response was lost may have acquired it.
            self._is_requested = live is None or live.holder == self.holder.text
            rounds += 1
        self._thread.start()

    def _try(self, live: Lease | None, wait: LockWait) -> bool:
        if live is not None and live.holder == self.holder.text:
            # The response to the request that acquired it was lost.
            self._lease = live
            return True
        if live is not None and not wait.is_free(live):
            return False
        self._is_requested, self._renewed_at = True, _clock()
        now = lease.now()
        desired = self._lease._replace(acquired=now, renewed=now)
        if live is None:
            acquired = lease.create(self._cluster, desired)
        else:
            # Another run may do the same at this moment: the server accepts one of the two.
            transitions = live.transitions + 1
            acquired = lease.replace(
                self._cluster,
                desired._replace(transitions=transitions, uid=live.uid, version=live.version),
            )
        self._lease = acquired or self._lease
        return acquired is not None

    def release(self) -> None:
        """Release the lock, also after a signal and after the command's deadline."""
        self._done.set()
        if self._thread.is_alive():
            self._thread.join(_JOIN_SECONDS)
        if not self._is_requested:
            return
        cluster = self._cluster.with_deadline(_RELEASE_SECONDS)
        try:
            if not (self._lease.uid and lease.delete(cluster, self._lease)):
                live = self._own(cluster)
                if live is not None:
                    lease.delete(cluster, live)
        except ClusterError as problem:
            if self._lease.uid:
                self._say(f"could not release the lock {self.title}; it expires by itself: {problem}")

    def _own(self, cluster: Cluster) -> Lease | None:
        """Read the Lease; None where this run does not hold it."""
        live = lease.read(cluster, self._lease.namespace, self._lease.name)
        if live is not None and live.holder == self.holder.text:
            return live
        self._loss = f"{describe_owner(read_holder(live.holder))} acquired it" if live else "it was deleted"
        return None

    def _keep(self) -> None:
        """Renew the lock until it is released or lost."""
        pause = EVERY
        while not self._done.wait(pause) and not self._loss:
            pause = EVERY if self._renew() else _AGAIN_SECONDS

    def _renew(self) -> bool:
        cluster = self._cluster.with_deadline(_ATTEMPT_SECONDS)
        try:
            # A second time, where the Lease is newer than expected and still ours: a response was lost.
            return self._renew_once(cluster) or (not self._loss and self._renew_once(cluster))
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
    """A wait for the lock: its holder, and the time limit."""

    def __init__(self, deadline: Deadline, seconds: float, unlock: str, say: Callable[[str], None]) -> None:
        """Start; `unlock` is the command that deletes a lock, with `{}` for its id."""
        self._deadline = deadline
        self._seconds = seconds
        self._unlock = unlock
        self._say = say
        self._until: float | None = None
        self._reported_at = 0.0
        self._seen_version = ""
        self._seen_at = 0.0

    def is_free(self, live: Lease) -> bool:
        """Return whether the lock is free or expired.

        It has expired where it was not renewed during its duration while this run watched it, whatever the
        clocks say; or where its last renewal is so long ago that no clock can be that wrong, so that a run
        that was killed an hour ago causes no wait.
        """
        if not live.holder:
            return True
        if live.version != self._seen_version:
            self._seen_version, self._seen_at = live.version, time.monotonic()
        duration = live.seconds or SECONDS
        age = live.age
        is_old = age is not None and age > duration + SKEW
        return is_old or time.monotonic() - self._seen_at >= duration

    def wait(self, title: str, live: Lease | None) -> None:
        """Wait for a moment.

        Raises:
            GuardError: after the time limit.
            StoppedError: after a signal.
        """
        now = time.monotonic()
        if self._until is None:
            # Counted from the first read: with --lock-timeout 60s, a dead holder's lock expires in time.
            self._until = (self._seen_at or now) + self._seconds
        if now >= self._until:
            raise GuardError(self._timeout(title, live))
        if now - self._reported_at >= _STILL_SECONDS:
            self._say(f"waiting for the lock {title}: {describe_holder(live)}")
            self._reported_at = now
        self._deadline.pause(min(_POLL_SECONDS, self._until - now))
        if self._deadline.is_over:
            raise GuardError(self._timeout(title, live))

    def _timeout(self, title: str, live: Lease | None) -> str:
        if live is None:
            return f"the lock {title} could not be acquired: other runs keep acquiring it"
        line = self._unlock.format(shlex.quote(read_holder(live.holder).id))
        return (
            f"the lock {title} is {describe_holder(live)}. Wait for that run with a longer --lock-timeout"
            f" or, if it is dead, delete its lock: {line}"
        )


@contextmanager
def hold_lock(
    reached: ReachedCluster, namespace: str, name: str, *,
    lock_timeout: float, say: Callable[[str], None], files: Iterable[str] = (),
) -> Iterator[Lock]:  # fmt: skip
    """Hold a lock while the block runs; `files` are the blueprint's, for the command that would delete it.

    Raises:
        GuardError: where another run holds it for longer than `lock_timeout` seconds.
        ClusterError: where the server rejects a request, or does not answer.
        StoppedError: after a signal.
    """
    lock = Lock(reached.cluster, namespace, name, say)
    try:
        lock.acquire(LockWait(reached.deadline, lock_timeout, unlock_line(reached.options, files), say))
        yield lock
    finally:
        lock.release()


def unlock_line(options: ClusterOptions, files: Iterable[str]) -> str:
    """Return the command that deletes a lock, with `{}` for its id."""
    flags = [*(("-f", file) for file in files)]
    cluster = ("--kubeconfig", options.kubeconfig), ("--context", options.context), ("--as", options.user)
    flags += [(flag, value) for flag, value in cluster if value]
    text = "".join(f" {flag} {shlex.quote(value)}" for flag, value in flags)
    return "gpupool unlock {}" + text.replace("{", "{{").replace("}", "}}")


def describe_holder(lock: Lease | None) -> str:
    """Return who holds a lock, and since when."""
    if lock is None or not lock.holder:
        return "held by nobody"
    age = lock.age
    since = f", since {lock.acquired}" if lock.acquired else ""
    renewed = "" if age is None else f" (renewed {max(0.0, age):.0f} s ago)"
    return f"held by {describe_owner(read_holder(lock.holder))}{since}{renewed}"
