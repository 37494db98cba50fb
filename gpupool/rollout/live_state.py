"""What there is in a cluster: one LIST for each kind, and the inventory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.client import Request
from gpupool.cluster.listing import list_if_served
from gpupool.cluster.parallel import threads
from gpupool.cluster.rejections import message
from gpupool.cluster.resources import KINDS
from gpupool.errors import ClusterError
from gpupool.objects import Ref, is_pool
from gpupool.planning.pruning import Listed, fates, unless_referred
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
    """A cluster at one moment."""

    live: Mapping[Ref, Mapping[str, Plain]]
    """Every object of the kinds that gpupool writes."""

    served: frozenset[str]
    """The kinds that the server knows."""

    inventory: Inventory


def observe(cluster: Cluster, place: InventoryRef, workers: int) -> LiveState:
    """Read what there is.

    Raises:
        ClusterError: where the server refuses, or the inventory can't be read.
    """
    with threads(workers) as pool:
        listed = {name: pool.submit(list_if_served, cluster, kind) for name, kind in KINDS.items()}
        known = pool.submit(store.read, cluster, place)
        found = {name: future.result() for name, future in listed.items()}
        return LiveState(
            live=by_ref(found),
            served=frozenset(name for name, bodies in found.items() if bodies is not None),
            inventory=known.result(),
        )


def by_ref(listed: Mapping[str, Iterable[Mapping[str, Plain]] | None]) -> dict[Ref, Mapping[str, Plain]]:
    """Return the listed objects of all kinds by kind and name; None is a kind that the server does not know."""
    return {Ref(kind, name_of(body)): body for kind, bodies in listed.items() for body in bodies or ()}


def find_removed(observed: LiveState, desired: Mapping[Ref, Mapping[str, Plain]]) -> list[Fate]:
    """Return what becomes of each live object that the inventory lists and that is no longer desired.

    A class stays with the NodePools that refer to it, whether gpupool manages them or not.
    """
    inventory = observed.inventory
    listed = [Listed(entry.ref, entry.uid) for entry in inventory.known.values()]
    removed = fates(listed, observed.live, desired, inventory.place.id)
    deleted = {fate.ref for fate in removed if fate.deleted}
    later = {**observed.live, **desired}
    pools = (body for ref, body in later.items() if is_pool(ref) and ref not in deleted)
    return unless_referred(removed, pools)


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
    found = plain_map(body.get("metadata")).get("generation")
    return found if isinstance(found, int) else 0


def version_of(body: Mapping[str, Plain]) -> str:
    """Return an object's resourceVersion."""
    return plain_text(plain_map(body.get("metadata")).get("resourceVersion"))


def read_finalizers(body: Mapping[str, Plain]) -> list[str]:
    """Return what an object that is being deleted waits for."""
    return [str(each) for each in plain_list(plain_map(body.get("metadata")).get("finalizers"))]


def describe_termination(body: Mapping[str, Plain]) -> str:
    """Return what holds an object that is being deleted; the empty text for one that is not."""
    metadata = plain_map(body.get("metadata"))
    if not metadata.get("deletionTimestamp"):
        return ""
    names = ", ".join(read_finalizers(body)) or "no finalizer"
    return f"it is being deleted since {metadata['deletionTimestamp']}, held by {names}"
