"""Removal of a lock that a dead run left behind."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final, NoReturn

from gpupool.cluster import lease
from gpupool.errors import ClusterError, GuardError
from gpupool.rollout.lock.lock import describe_holder
from gpupool.rollout.lock.lock_owner import read_holder

if TYPE_CHECKING:
    from gpupool.cluster.client import Cluster
    from gpupool.cluster.lease import Lease

_TRIES: Final = 5


def find_lock(cluster: Cluster, namespace: str, name: str) -> Lease | None:
    """Return the lock; None where it is free.

    Raises:
        ClusterError: where the server rejects the request.
    """
    lock = lease.read(cluster, namespace, name)
    return lock if lock is not None and lock.holder else None


def raise_unnamed(lock: Lease, line: str) -> NoReturn:
    """Raise an error with the command that deletes this lock; `line` is the command, with `{}` for the id.

    Raises:
        GuardError: always.
    """
    command = line.format(shlex.quote(read_holder(lock.holder).id))
    message = f"the lock {lock.title} is held; if its run is dead, delete it: {command}"
    raise GuardError(message)


def unlock(cluster: Cluster, lock: Lease, holder_id: str, line: str) -> Lease:
    """Delete a lock if its holder has this id; return it. `line` is the command, with `{}` for the id.

    Raises:
        GuardError: where another run holds it.
        ClusterError: where the server rejects the request.
    """
    live: Lease | None = lock
    for attempt in range(_TRIES):
        if live is None:
            return lock
        if holder_id not in {live.holder, read_holder(live.holder).id}:
            if attempt:
                # The named lock does not exist any more, and the next run holds it.
                return lock
            raise GuardError(_other_holder(live, holder_id, line))
        lock = live
        if lease.delete(cluster, lock):
            return lock
        live = find_lock(cluster, lock.namespace, lock.name)
    message = f"the lock {lock.title} keeps being renewed: its run is alive"
    raise ClusterError(message)


def _other_holder(lock: Lease, holder_id: str, line: str) -> str:
    command = line.format(shlex.quote(read_holder(lock.holder).id))
    return (
        f"the lock {lock.title} is not {holder_id}'s, it is {describe_holder(lock)}; to delete that one:"
        f" {command}"
    )
