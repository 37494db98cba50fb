"""What gpupool keeps in a cluster for a blueprint: its inventory, and its lock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpupool.cluster import lease
from gpupool.errors import ClusterError
from gpupool.rollout import inventory
from gpupool.rollout.diagnosis.check import Check, State
from gpupool.rollout.holder import read_holder
from gpupool.rollout.lock import SECONDS, held_by

if TYPE_CHECKING:
    from gpupool.cluster.port import Cluster


def the_inventory(cluster: Cluster, place: inventory.Place) -> Check:
    """Say what the inventory lists, and whether an apply was interrupted."""
    name = "inventory"
    try:
        found = inventory.read(cluster, place)
    except ClusterError as problem:
        return Check(name, State.FAILED, str(problem), "without it, apply writes nothing")
    at = f"{place.namespace}/{place.name}"
    if not found.uid:
        return Check(name, State.OK, f"there is no {at} yet: nothing was applied from this blueprint")
    words = f"{at}, serial {found.serial}, lists {_objects(len(found.current))}"
    if found.pending:
        under_way = f"{words}; an apply of {_objects(len(found.pending))} is in progress or was interrupted"
        return Check(name, State.WARNING, under_way, "apply again once the lock is free")
    return Check(name, State.OK, words)


def the_lock(cluster: Cluster, place: inventory.Place, unlock: str) -> Check:
    """Say who holds the lock; `unlock` is the command line that deletes it, with `{}` for the holder's id.

    Raises:
        ClusterError: where the server refuses.
    """
    name = "lock"
    found = lease.read(cluster, *place)
    if found is None or not found.holder:
        return Check(name, State.OK, "free")
    age = found.age
    if age is None or age < (found.seconds or SECONDS):
        return Check(name, State.WARNING, held_by(found), "let that run end: others wait for it")
    line = unlock.format(read_holder(found.holder).id)
    fix = f"the next apply takes it over; or delete it: {line}"
    return Check(name, State.WARNING, f"{held_by(found)}, and has expired", fix)


def _objects(count: int) -> str:
    return f"{count} object{'s' * (count != 1)}"
