"""Delete a lock that a run left behind, and only that one."""

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
    """Return the lock; None where nobody holds it.

    Raises:
        ClusterError: where the server refuses.
    """
    found = lease.read(cluster, namespace, name)
    return found if found is not None and found.holder else None


def raise_unnamed(found: Lease, line: str) -> NoReturn:
    """End the command with the words that delete this lock; `line` is the command, `{}` the id.

    Raises:
        GuardError: always.
    """
    right = line.format(shlex.quote(read_holder(found.holder).id))
    message = f"the lock {found.title} is held; if its run is dead, delete it: {right}"
    raise GuardError(message)


def unlock(cluster: Cluster, found: Lease, wanted: str, line: str) -> Lease:
    """Delete a lock if its holder's id is `wanted`; give it as it was. `line` is the command, `{}` the id.

    Raises:
        GuardError: where somebody else holds it.
        ClusterError: where the server refuses.
    """
    now: Lease | None = found
    for tried in range(_TRIES):
        if now is None:
            return found
        if wanted not in {now.holder, read_holder(now.holder).id}:
            if tried:
                # What was meant is gone, and the next run has begun.
                return found
            raise GuardError(_other(now, wanted, line))
        found = now
        if lease.delete(cluster, found):
            return found
        now = find_lock(cluster, found.namespace, found.name)
    message = f"the lock {found.title} keeps being renewed: its run is alive"
    raise ClusterError(message)


def _other(found: Lease, wanted: str, line: str) -> str:
    right = line.format(shlex.quote(read_holder(found.holder).id))
    return f"the lock {found.title} is not {wanted}'s, it is {describe_holder(found)}; to delete that one: {right}"
