"""What there is in a cluster: one LIST for each kind, and the inventory."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from gpupool.cluster.kinds import KINDS, NODE_CLAIM
from gpupool.cluster.listing import list_all, list_if_served
from gpupool.cluster.parallel import threads
from gpupool.karpenter.labels import NODEPOOL
from gpupool.objects import labels_of
from gpupool.planning.pruning import Listed, fates
from gpupool.rollout import inventory
from gpupool.yamlio.nodes import plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gpupool.cluster.port import Cluster
    from gpupool.planning.pruning import Fate
    from gpupool.rollout.inventory import Inventory, Place
    from gpupool.yamlio.nodes import Plain


class Observed(NamedTuple):
    """A cluster at one moment."""

    live: Mapping[str, Mapping[str, Plain]]
    """Every object of the kinds that gpupool writes, by `KIND/NAME`."""

    served: frozenset[str]
    """The kinds that the server knows."""

    inventory: Inventory


def observe(cluster: Cluster, place: Place, workers: int) -> Observed:
    """Read what there is.

    Raises:
        ClusterError: where the server refuses, or the inventory can't be read.
    """
    with threads(workers) as pool:
        listed = {name: pool.submit(list_if_served, cluster, kind) for name, kind in KINDS.items()}
        known = pool.submit(inventory.read, cluster, place)
        found = {name: future.result() for name, future in listed.items()}
        return Observed(
            live=by_address(found),
            served=frozenset(name for name, bodies in found.items() if bodies is not None),
            inventory=known.result(),
        )


def by_address(listed: Mapping[str, Iterable[Mapping[str, Plain]] | None]) -> dict[str, Mapping[str, Plain]]:
    """Sort what was listed of each kind by `KIND/NAME`; None is a kind that the server does not know."""
    return {f"{kind}/{name_of(body)}": body for kind, bodies in listed.items() for body in bodies or ()}


def gone(observed: Observed, wanted: Iterable[str]) -> list[Fate]:
    """Say what becomes of the objects that the inventory lists, that are there, and are no longer wanted."""
    known = observed.inventory
    listed = [Listed(each.address, each.uid) for each in known.known.values()]
    return fates(listed, observed.live, wanted, known.place.id)


def node_claims(cluster: Cluster) -> Counter[str]:
    """Count the NodeClaims of each NodePool.

    Raises:
        ClusterError: where the server refuses.
    """
    return Counter(_pools(cluster))


def _pools(cluster: Cluster) -> Iterator[str]:
    for body in list_all(cluster, NODE_CLAIM):
        labels = labels_of(body)
        yield plain_text(labels.get(NODEPOOL))


def name_of(body: Mapping[str, Plain]) -> str:
    """Give an object's name."""
    return plain_text(plain_map(body.get("metadata")).get("name"))


def uid_of(body: Mapping[str, Plain]) -> str:
    """Give an object's uid."""
    return plain_text(plain_map(body.get("metadata")).get("uid"))


def generation_of(body: Mapping[str, Plain]) -> int:
    """Give an object's generation."""
    found = plain_map(body.get("metadata")).get("generation")
    return found if isinstance(found, int) else 0


def version_of(body: Mapping[str, Plain]) -> str:
    """Give an object's resourceVersion."""
    return plain_text(plain_map(body.get("metadata")).get("resourceVersion"))


def terminating(body: Mapping[str, Plain]) -> str:
    """Say what holds an object that is being deleted; the empty text for one that is not."""
    metadata = plain_map(body.get("metadata"))
    if not metadata.get("deletionTimestamp"):
        return ""
    finalizers = metadata.get("finalizers")
    names = ", ".join(map(str, finalizers)) if isinstance(finalizers, list) and finalizers else "no finalizer"
    return f"it is being deleted since {metadata['deletionTimestamp']}, held by {names}"
