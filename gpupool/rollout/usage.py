"""What runs on NodePools and node classes: counted for a plan, and again right before each deletion."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from gpupool.cluster.kinds import EC2_NODE_CLASS, NODE_CLAIM, NODE_POOL
from gpupool.cluster.listing import list_all
from gpupool.karpenter.labels import NODEPOOL
from gpupool.objects import labels_of
from gpupool.yamlio.nodes import plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gpupool.cluster.port import Cluster
    from gpupool.planning.pruning import ClassRef
    from gpupool.yamlio.nodes import Plain


class Usage(NamedTuple):
    """How many NodeClaims there are of each NodePool, and of each node class."""

    by_pool: Counter[str]
    by_class: Counter[ClassRef]

    def of(self, kind: str, name: str) -> int | None:
        """Return how many there are of an object; None for a kind that has none."""
        counts = {NODE_POOL.name: self.by_pool[name], EC2_NODE_CLASS.name: self.by_class[kind, name]}
        return counts.get(kind)


def usage_of(claims: Iterable[Mapping[str, Plain]]) -> Usage:
    """Count NodeClaims."""
    bodies = list(claims)
    return Usage(Counter(map(_pool, bodies)), Counter(map(_class, bodies)))


def node_claims(cluster: Cluster) -> Usage:
    """Count the NodeClaims of a cluster.

    Raises:
        ClusterError: where the server refuses.
    """
    return usage_of(list_all(cluster, NODE_CLAIM))


def node_claims_of(cluster: Cluster, pool: str) -> int:
    """Count the NodeClaims of one NodePool; the server looks for them.

    Raises:
        ClusterError: where the server refuses.
    """
    return len(list_all(cluster, NODE_CLAIM, f"{NODEPOOL}={pool}"))


def _pool(claim: Mapping[str, Plain]) -> str:
    """Return the name of a NodeClaim's NodePool; empty for one that belongs to none."""
    return plain_text(labels_of(claim).get(NODEPOOL))


def _class(claim: Mapping[str, Plain]) -> ClassRef:
    """Return kind and name of the node class that a NodeClaim was launched from."""
    reference = plain_map(plain_map(claim.get("spec")).get("nodeClassRef"))
    return plain_text(reference.get("kind")), plain_text(reference.get("name"))
