"""What there is in a cluster: one LIST for each kind, and the inventory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.client import Request
from gpupool.cluster.listing import list_if_served
from gpupool.cluster.parallel import threads
from gpupool.cluster.rejections import message
from gpupool.cluster.resources import KINDS
from gpupool.errors import ClusterError
from gpupool.objects import is_pool
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

    live: Mapping[str, Mapping[str, Plain]]
    """Every object of the kinds that gpupool writes, by `KIND/NAME`."""

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
            live=by_address(found),
            served=frozenset(name for name, bodies in found.items() if bodies is not None),
            inventory=known.result(),
        )


def by_address(listed: Mapping[str, Iterable[Mapping[str, Plain]] | None]) -> dict[str, Mapping[str, Plain]]:
    """Sort what was listed of each kind by `KIND/NAME`; None is a kind that the server does not know."""
    return {f"{kind}/{name_of(body)}": body for kind, bodies in listed.items() for body in bodies or ()}


def gone(observed: LiveState, wanted: Mapping[str, Mapping[str, Plain]]) -> list[Fate]:
    """Return what becomes of the objects that the inventory lists, that are there, and are no longer wanted.

    A class stays with the NodePools that refer to it, be they gpupool's or not.
    """
    known = observed.inventory
    listed = [Listed(each.address, each.uid) for each in known.known.values()]
    found = fates(listed, observed.live, wanted, known.place.id)
    doomed = {each.address for each in found if each.deleted}
    later = {**observed.live, **wanted}
    pools = (body for address, body in later.items() if is_pool(address) and address not in doomed)
    return unless_referred(found, pools)


def read(cluster: Cluster, address: str) -> Mapping[str, Plain] | None:
    """Read one object as it is now; None where does not exist.

    Raises:
        ClusterError: where the server refuses.
    """
    kind, _, name = address.partition("/")
    answer = cluster.ask(Request("GET", KINDS[kind].path_of(name)))
    if answer.status == _NOT_FOUND:
        return None
    if not answer.ok:
        text = f"can't read {address}: {message(answer)}"
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


def finalizers(body: Mapping[str, Plain]) -> list[str]:
    """Return what an object that is being deleted waits for."""
    return [str(each) for each in plain_list(plain_map(body.get("metadata")).get("finalizers"))]


def terminating(body: Mapping[str, Plain]) -> str:
    """Return what holds an object that is being deleted; the empty text for one that is not."""
    metadata = plain_map(body.get("metadata"))
    if not metadata.get("deletionTimestamp"):
        return ""
    names = ", ".join(finalizers(body)) or "no finalizer"
    return f"it is being deleted since {metadata['deletionTimestamp']}, held by {names}"
