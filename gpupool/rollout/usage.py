"""What runs on NodePools and node classes: counted for a plan, and again right before each deletion."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from gpupool.cluster.kinds import NODE_CLAIM
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


def usage_of(claims: Iterable[Mapping[str, Plain]]) -> Usage:
    """Count NodeClaims."""
    bodies = list(claims)
    return Usage(Counter(map(pool_of, bodies)), Counter(map(class_of_claim, bodies)))


def node_claims(cluster: Cluster) -> Usage:
    """Count the NodeClaims of a cluster.

    Raises:
        ClusterError: where the server refuses.
    """
    return usage_of(list_all(cluster, NODE_CLAIM))


def node_claims_of(cluster: Cluster, pool: str) -> list[Mapping[str, Plain]]:
    """Return the NodeClaims of one NodePool.

    Raises:
        ClusterError: where the server refuses.
    """
    return list_all(cluster, NODE_CLAIM, f"{NODEPOOL}={pool}")


def pool_of(claim: Mapping[str, Plain]) -> str:
    """Return the name of a NodeClaim's NodePool; empty for one that belongs to none."""
    return plain_text(labels_of(claim).get(NODEPOOL))


def class_of_claim(claim: Mapping[str, Plain]) -> ClassRef:
    """Return kind and name of the node class that a NodeClaim was launched from."""
    reference = plain_map(plain_map(claim.get("spec")).get("nodeClassRef"))
    return plain_text(reference.get("kind")), plain_text(reference.get("name"))
