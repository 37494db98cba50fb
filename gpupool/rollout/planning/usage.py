"""NodeClaims of NodePools and node classes, counted for a plan and again before deletions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from gpupool.cluster.listing import read_all
from gpupool.cluster.resources import EC2_NODE_CLASS, NODE_CLAIM, NODE_POOL
from gpupool.karpenter.labels import NODEPOOL
from gpupool.objects import Ref, labels_of
from gpupool.planning.guards import describe_node_claims
from gpupool.planning.pruning import describe_references, group_by_class, read_class_reference
from gpupool.yamlio.located import plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from gpupool.cluster.client import Cluster
    from gpupool.yamlio.located import Plain


class Usage(NamedTuple):
    """The number of NodeClaims of each NodePool and of each node class."""

    by_pool: Counter[str]
    by_class: Counter[Ref]

    def of(self, ref: Ref) -> int | None:
        """Return the number of NodeClaims of an object; None for a kind that has none."""
        counts = {NODE_POOL.name: self.by_pool[ref.name], EC2_NODE_CLASS.name: self.by_class[ref]}
        return counts.get(ref.kind)


class InUse(NamedTuple):
    """The NodeClaims and references that block deletions of one kind."""

    kind: str
    usage: Usage
    pools: Mapping[Ref, list[str]]
    """The NodePools that refer to each node class."""

    size: int = 0
    """The number of objects that were listed for it."""

    def why(self, name: str) -> str:
        """Return why an object can't be deleted; empty where it can."""
        ref = Ref(self.kind, name)
        if pools := self.pools.get(ref):
            return describe_references(pools)
        count = self.usage.of(ref)
        return f"it still has {describe_node_claims(count)}" if count else ""


def empty_use(kind: str) -> InUse:
    """Return an empty use, for kinds that have no NodeClaims."""
    return InUse(kind, Usage(Counter(), Counter()), {})


def count_use_of_pools(cluster: Cluster, names: Collection[str]) -> InUse:
    """Count the NodeClaims of some NodePools, which the server selects by label.

    Raises:
        ClusterError: where the server rejects a request.
    """
    if not names:
        return empty_use(NODE_POOL.name)
    selector = f"{NODEPOOL} in ({','.join(sorted(names))})"
    claims = read_all(cluster, NODE_CLAIM, _references, selector)
    return InUse(NODE_POOL.name, _usage(claims), {}, len(claims))


def count_use_of_classes(cluster: Cluster) -> InUse:
    """Count the NodePools and NodeClaims that refer to node classes.

    The API server has no selector for the class, so all of them are listed.

    Raises:
        ClusterError: where the server rejects a request.
    """
    pools = read_all(cluster, NODE_POOL, read_class_reference)
    claims = read_all(cluster, NODE_CLAIM, _references)
    return InUse(EC2_NODE_CLASS.name, _usage(claims), group_by_class(pools), len(pools) + len(claims))


def count_claims(claims: Iterable[Mapping[str, Plain]]) -> Usage:
    """Count listed NodeClaims."""
    return _usage(map(_references, claims))


def count_all_claims(cluster: Cluster) -> Usage:
    """Count the NodeClaims of a cluster.

    Raises:
        ClusterError: where the server rejects a request.
    """
    return _usage(read_all(cluster, NODE_CLAIM, _references))


def _usage(references: Iterable[tuple[str, Ref]]) -> Usage:
    usage = Usage(Counter(), Counter())
    for pool, node_class in references:
        usage.by_pool[pool] += 1
        usage.by_class[node_class] += 1
    return usage


def _references(claim: Mapping[str, Plain]) -> tuple[str, Ref]:
    """Return the NodePool of a NodeClaim, empty for none, and its node class."""
    reference = plain_map(plain_map(claim.get("spec")).get("nodeClassRef"))
    node_class = Ref(plain_text(reference.get("kind")), plain_text(reference.get("name")))
    return plain_text(labels_of(claim).get(NODEPOOL)), node_class
