"""NodeClaims of a pool: their stages, and which ones Karpenter will replace."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.listing import list_all
from gpupool.cluster.resources import EC2_NODE_CLASS, NODE_CLAIM, NODE_POOL
from gpupool.errors import ClusterError
from gpupool.karpenter.budgets import count_allowed, read_budgets
from gpupool.karpenter.labels import CAPACITY_TYPE, DO_NOT_DISRUPT, INSTANCE_TYPE, NODEPOOL, ZONE
from gpupool.objects import Ref
from gpupool.planning.pruning import read_node_class
from gpupool.rollout.live_state import name_of
from gpupool.rollout.watch.waiting import PATIENCE_SECONDS, UNSEEN, Readiness, Watch, read_conditions
from gpupool.yamlio.located import plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from gpupool.cluster.client import Cluster
    from gpupool.cluster.deadline import Deadline
    from gpupool.cluster.resources import ResourceKind
    from gpupool.rollout.watch.waiting import Condition, Progress
    from gpupool.yamlio.located import Plain


STAGES: Final = ("Launched", "Registered", "Initialized")
"""The stages of a NodeClaim, in this order; Ready is all of them."""

_DRIFTED, _CHOSEN = "Drifted", "DisruptionReason"
_HASHES: Final = ("karpenter.sh/nodepool-hash", "karpenter.k8s.aws/ec2nodeclass-hash")
"""Annotations with the digest of the fields of nodes, on pools, classes and NodeClaims."""
QUIET_SECONDS: Final = 5.0
"""How long no NodeClaim may be outdated before the wait ends, as Karpenter marks them after a moment."""

_EMPTY: Final = Readiness(is_ready=True, reason="no NodeClaims")
_TOO_SOON: Final = Readiness(is_ready=False, reason="Karpenter may not have looked at its nodes yet")
_REPLACED: Final = Readiness(is_ready=True, reason="replaced")


class LaunchedInstance(NamedTuple):
    """The instance of a NodeClaim; fields are empty where they are not known yet."""

    instance_type: str
    capacity_type: str
    zone: str


class NodeClaim(NamedTuple):
    """A NodeClaim."""

    name: str
    pool: str
    node: str
    """The node's name; empty before it is registered."""

    instance: LaunchedInstance
    conditions: Mapping[str, Condition]
    deleted_since: str
    """The time of its deletion; empty where it is not being deleted."""

    annotations: Mapping[str, Plain]

    def has(self, condition: str) -> bool:
        """Return whether a condition is True."""
        return condition in self.conditions and self.conditions[condition].status == "True"

    @property
    def drift(self) -> str:
        """Return why Karpenter will replace it; empty where it will not."""
        return (self.conditions[_DRIFTED].reason or _DRIFTED) if self.has(_DRIFTED) else ""


def read_claim(body: Mapping[str, Plain]) -> NodeClaim:
    """Read a NodeClaim."""
    metadata, status = plain_map(body.get("metadata")), plain_map(body.get("status"))
    labels = plain_map(metadata.get("labels"))
    return NodeClaim(
        name=name_of(body),
        pool=plain_text(labels.get(NODEPOOL)),
        node=plain_text(status.get("nodeName")),
        instance=LaunchedInstance(
            *(plain_text(labels.get(key)) for key in (INSTANCE_TYPE, CAPACITY_TYPE, ZONE))
        ),
        conditions={condition.type: condition for condition in read_conditions(body)},
        deleted_since=plain_text(metadata.get("deletionTimestamp")),
        annotations=plain_map(metadata.get("annotations")),
    )


def explain_outdated(claim: NodeClaim, pool: Mapping[str, Plain], node_class: Mapping[str, Plain]) -> str:
    """Return why a NodeClaim will be replaced; empty where it will not.

    Karpenter marks outdated NodeClaims after a moment; the digests show them at once.
    """
    if claim.drift:
        return claim.drift
    for owner, key in zip((pool, node_class), _HASHES, strict=True):
        current = plain_map(plain_map(owner.get("metadata")).get("annotations"))
        keys = (key, f"{key}-version")
        expected, version = (plain_text(current.get(name)) for name in keys)
        own, own_version = (plain_text(claim.annotations.get(name)) for name in keys)
        if expected and own and version == own_version and expected != own:
            return "created before the last change"
    return ""


def explain_delay(claim: NodeClaim, pool: Mapping[str, Plain], size: int) -> str:
    """Return what blocks the replacement of an outdated NodeClaim, or its progress.

    `size` is the number of the pool's Initialized nodes, which percentages of budgets refer to.
    """
    if claim.deleted_since:
        return f"its node is being drained since {claim.deleted_since}"
    if claim.has(_CHOSEN):
        return "being replaced: the new node is starting"
    if not claim.has("Initialized"):
        return "Karpenter replaces no node that is not Initialized"
    if claim.annotations.get(DO_NOT_DISRUPT) == "true":
        return f"its annotation {DO_NOT_DISRUPT} forbids it"
    if count_allowed(read_budgets(dict(pool)), "Drifted", datetime.now(UTC), size) <= 0:
        return "the budgets of the pool allow no disruption now"
    return "waiting for its turn; Pods with do-not-disrupt and PodDisruptionBudgets can hold it as well"


def group_by_pool(bodies: Iterable[Mapping[str, Plain]]) -> dict[str, list[NodeClaim]]:
    """Return NodeClaims by their pool."""
    by_pool: dict[str, list[NodeClaim]] = {}
    for body in bodies:
        claim = read_claim(body)
        by_pool.setdefault(claim.pool, []).append(claim)
    return by_pool


def wait_rolled(
    cluster: Cluster,
    deadline: Deadline,
    pools: Collection[str],
    say: Callable[[Progress], None],
    seconds: float | None = None,
) -> dict[Ref, Readiness]:
    """Wait until no NodeClaim of some pools is outdated; return the states of pools and NodeClaims.

    It ends without an error after so many seconds, or at the command's deadline.

    Raises:
        ClusterError: where the NodeClaims could never be listed.
        StoppedError: after a signal.
    """
    cluster, watch = cluster.with_patience(PATIENCE_SECONDS), Watch(deadline, say, seconds)
    quiet = min(QUIET_SECONDS, deadline.left / 2)
    states: dict[Ref, Readiness] = {Ref(NODE_POOL.name, pool): UNSEEN for pool in pools}
    changed_at = time.monotonic()
    while True:
        waiting = {ref for ref, state in states.items() if not state.is_ready}
        try:
            current = _read_states(cluster, pools)
            states |= {**dict.fromkeys(waiting, _REPLACED), **current}
            has_nodes = any(state is not _EMPTY for state in current.values())
        except ClusterError as problem:
            states |= watch.without_answer(waiting or states, problem)
            has_nodes, changed_at = True, time.monotonic()
        watch.report(states)
        are_ready = all(state.is_ready for state in states.values())
        changed_at = changed_at if are_ready else time.monotonic()
        if not has_nodes or time.monotonic() - changed_at >= quiet:
            return states
        if not watch.pause():
            return states | dict.fromkeys(
                (Ref(NODE_POOL.name, pool) for pool in pools if are_ready), _TOO_SOON
            )


def _read_states(cluster: Cluster, pools: Collection[str]) -> dict[Ref, Readiness]:
    """Return the readiness of each pool and of each outdated NodeClaim."""
    bodies, classes = _by_name(cluster, NODE_POOL), _by_name(cluster, EC2_NODE_CLASS)
    claims = group_by_pool(list_all(cluster, NODE_CLAIM))
    states: dict[Ref, Readiness] = {}
    for pool in pools:
        body, own = bodies.get(pool, {}), claims.get(pool, [])
        node_class = classes.get(read_node_class(body)[1], {})
        old = dict(_outdated(own, body, node_class))
        states[Ref(NODE_POOL.name, pool)] = _pool_state(len(own), len(old))
        states |= old
    return states


def _pool_state(nodes: int, old: int) -> Readiness:
    if not nodes:
        return _EMPTY
    text = f"{old} of {nodes} NodeClaims are to be replaced"
    return Readiness(is_ready=False, reason=text, state=text) if old else Readiness(is_ready=True)


def _outdated(
    claims: list[NodeClaim], pool: Mapping[str, Plain], node_class: Mapping[str, Plain]
) -> Iterator[tuple[Ref, Readiness]]:
    size = sum(claim.has("Initialized") for claim in claims)
    for claim in claims:
        if why := explain_outdated(claim, pool, node_class):
            delay = explain_delay(claim, pool, size)
            state = Readiness(is_ready=False, reason=f"{why}: {delay}", state=delay)
            yield Ref(NODE_CLAIM.name, claim.name), state


def _by_name(cluster: Cluster, kind: ResourceKind) -> dict[str, Mapping[str, Plain]]:
    return {name_of(body): body for body in list_all(cluster, kind)}
