"""Live objects of a cluster and its inventory, read with one LIST for each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.client import Request
from gpupool.cluster.listing import list_if_served
from gpupool.cluster.parallel import threads
from gpupool.cluster.rejections import message
from gpupool.cluster.resources import KINDS
from gpupool.errors import ClusterError
from gpupool.objects import Ref, is_pool
from gpupool.planning.pruning import ListedObject, decide_fates, keep_referenced_classes
from gpupool.rollout.inventory import store
from gpupool.yamlio.located import plain_list, plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gpupool.cluster.client import Cluster
    from gpupool.planning.pruning import Fate
    from gpupool.rollout.inventory.store import Inventory, InventoryRef
    from gpupool.yamlio.located import Plain


_NOT_FOUND: Final = 404


class LiveState(NamedTuple):
    """The live objects and the inventory at one moment."""

    live: Mapping[Ref, Mapping[str, Plain]]
    """Every object of the kinds that gpupool writes."""

    served: frozenset[str]
    """The kinds that the server serves."""

    inventory: Inventory


def observe(cluster: Cluster, place: InventoryRef, workers: int) -> LiveState:
    """Read the live objects and the inventory.

    Raises:
        ClusterError: where a request is rejected, or the inventory can't be read.
    """
    with threads(workers) as executor:
        futures = {name: executor.submit(list_if_served, cluster, kind) for name, kind in KINDS.items()}
        inventory = executor.submit(store.read, cluster, place)
        bodies = {name: future.result() for name, future in futures.items()}
        return LiveState(
            live=by_ref(bodies),
            served=frozenset(name for name, listed_bodies in bodies.items() if listed_bodies is not None),
            inventory=inventory.result(),
        )


def by_ref(listed: Mapping[str, Iterable[Mapping[str, Plain]] | None]) -> dict[Ref, Mapping[str, Plain]]:
    """Return the listed objects by kind and name; None is a kind that the server does not serve."""
    return {Ref(kind, name_of(body)): body for kind, bodies in listed.items() for body in bodies or ()}


def find_removed(observed: LiveState, desired: Mapping[Ref, Mapping[str, Plain]]) -> list[Fate]:
    """Return what becomes of each live object that the inventory lists and that is no longer desired.

    A class stays with the NodePools that refer to it, whether gpupool manages them or not.
    """
    inventory = observed.inventory
    listed = [ListedObject(entry.ref, entry.uid) for entry in inventory.entries.values()]
    removed = decide_fates(listed, observed.live, desired, inventory.place.id)
    deleted = {fate.ref for fate in removed if fate.is_deleted}
    later = {**observed.live, **desired}
    pools = (body for ref, body in later.items() if is_pool(ref) and ref not in deleted)
    return keep_referenced_classes(removed, pools)


def read(cluster: Cluster, ref: Ref) -> Mapping[str, Plain] | None:
    """Read one object; None where it does not exist.

    Raises:
        ClusterError: where the request is rejected.
    """
    answer = cluster.ask(Request("GET", KINDS[ref.kind].path_of(ref.name)))
    if answer.status == _NOT_FOUND:
        return None
    if not answer.ok:
        text = f"can't read {ref}: {message(answer)}"
        raise ClusterError(text)
    return answer.body


def name_of(body: Mapping[str, Plain]) -> str:
    """Return an object's name."""
    return plain_text(plain_map(body.get("metadata")).get("name"))


def uid_of(body: Mapping[str, Plain]) -> str:
    """Return an object's uid."""
    return plain_text(plain_map(body.get("metadata")).get("uid"))


def generation_of(body: Mapping[str, Plain]) -> int:
    """Return an object's generation."""
    generation = plain_map(body.get("metadata")).get("generation")
    return generation if isinstance(generation, int) else 0


def version_of(body: Mapping[str, Plain]) -> str:
    """Return an object's resourceVersion."""
    return plain_text(plain_map(body.get("metadata")).get("resourceVersion"))


def read_finalizers(body: Mapping[str, Plain]) -> list[str]:
    """Return the finalizers of an object."""
    return [str(name) for name in plain_list(plain_map(body.get("metadata")).get("finalizers"))]


def describe_termination(body: Mapping[str, Plain]) -> str:
    """Return since when an object is being deleted, and its finalizers; empty where it is not."""
    metadata = plain_map(body.get("metadata"))
    if not metadata.get("deletionTimestamp"):
        return ""
    names = ", ".join(read_finalizers(body)) or "no finalizer"
    return f"it is being deleted since {metadata['deletionTimestamp']}, held by {names}"
