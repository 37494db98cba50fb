"""NodeClaims: the machines of a pool, how far each of them is, and which are to be replaced."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.listing import list_all
from gpupool.cluster.resources import EC2_NODE_CLASS, NODE_CLAIM, NODE_POOL
from gpupool.errors import ClusterError
from gpupool.karpenter.budgets import count_allowed, read_budgets
from gpupool.karpenter.labels import CAPACITY_TYPE, DO_NOT_DISRUPT, INSTANCE_TYPE, NODEPOOL, ZONE
from gpupool.planning.pruning import class_of
from gpupool.rollout.live_state import name_of
from gpupool.rollout.watch.waiting import PATIENCE_SECONDS, UNSEEN, Readiness, Watch, conditions
from gpupool.yamlio.located import plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from gpupool.cluster.client import Cluster
    from gpupool.cluster.deadline import Deadline
    from gpupool.cluster.resources import ResourceKind
    from gpupool.rollout.watch.waiting import Condition, Key, Progress
    from gpupool.yamlio.located import Plain


STAGES: Final = ("Launched", "Registered", "Initialized")
"""How far a machine is, in this order; Ready is all of them."""

_DRIFTED, _CHOSEN = "Drifted", "DisruptionReason"
_HASHES: Final = ("karpenter.sh/nodepool-hash", "karpenter.k8s.aws/ec2nodeclass-hash")
"""Where a pool and a class keep the digest of what is in their nodes, and each NodeClaim that of its own."""


class LaunchedInstance(NamedTuple):
    """What was launched for a NodeClaim; each word is empty where it is not known yet."""

    instance_type: str
    capacity_type: str
    zone: str


class NodeClaim(NamedTuple):
    """One NodeClaim."""

    name: str
    pool: str
    node: str
    """Empty before it is registered."""

    machine: LaunchedInstance
    conditions: Mapping[str, Condition]
    leaving: str
    """Since when it is being deleted; empty where it is not."""

    annotations: Mapping[str, Plain]

    def has(self, condition: str) -> bool:
        """Return whether a condition is True."""
        return condition in self.conditions and self.conditions[condition].status == "True"

    @property
    def drift(self) -> str:
        """Return why Karpenter is to replace it; empty where it is not."""
        return (self.conditions[_DRIFTED].reason or _DRIFTED) if self.has(_DRIFTED) else ""


def read_claim(body: Mapping[str, Plain]) -> NodeClaim:
    """Read a NodeClaim."""
    metadata, status = plain_map(body.get("metadata")), plain_map(body.get("status"))
    labels = plain_map(metadata.get("labels"))
    return NodeClaim(
        name=name_of(body),
        pool=plain_text(labels.get(NODEPOOL)),
        node=plain_text(status.get("nodeName")),
        machine=LaunchedInstance(
            *(plain_text(labels.get(key)) for key in (INSTANCE_TYPE, CAPACITY_TYPE, ZONE))
        ),
        conditions={each.type: each for each in conditions(body)},
        leaving=plain_text(metadata.get("deletionTimestamp")),
        annotations=plain_map(metadata.get("annotations")),
    )


def outdated(claim: NodeClaim, pool: Mapping[str, Plain], node_class: Mapping[str, Plain]) -> str:
    """Return why a NodeClaim is to be replaced; empty where it is not.

    Karpenter needs a moment to mark what a change made outdated; the digests show it at once.
    """
    if claim.drift:
        return claim.drift
    for owner, key in zip((pool, node_class), _HASHES, strict=True):
        current = plain_map(plain_map(owner.get("metadata")).get("annotations"))
        keys = (key, f"{key}-version")
        wanted, version = (plain_text(current.get(each)) for each in keys)
        own, own_version = (plain_text(claim.annotations.get(each)) for each in keys)
        if wanted and own and version == own_version and wanted != own:
            return "created before the last change"
    return ""


def held_up(claim: NodeClaim, pool: Mapping[str, Plain], size: int) -> str:
    """Return what keeps Karpenter from replacing an outdated NodeClaim, or how far it is.

    `size` is the number of the pool's nodes that are Initialized: budgets are parts of it.
    """
    if claim.leaving:
        return f"its node is being drained since {claim.leaving}"
    if claim.has(_CHOSEN):
        return "being replaced: the new node is starting"
    if not claim.has("Initialized"):
        return "Karpenter replaces no node that is not Initialized"
    if claim.annotations.get(DO_NOT_DISRUPT) == "true":
        return f"its annotation {DO_NOT_DISRUPT} forbids it"
    if count_allowed(read_budgets(dict(pool)), "Drifted", datetime.now(UTC), size) <= 0:
        return "the budgets of the pool allow no disruption now"
    return "waiting for its turn; Pods with do-not-disrupt and PodDisruptionBudgets can hold it as well"


def of_pools(bodies: Iterable[Mapping[str, Plain]]) -> dict[str, list[NodeClaim]]:
    """Sort NodeClaims by their pool."""
    found: dict[str, list[NodeClaim]] = {}
    for body in bodies:
        claim = read_claim(body)
        found.setdefault(claim.pool, []).append(claim)
    return found


QUIET_SECONDS: Final = 5.0
"""Karpenter marks nodes that a change made outdated only after a moment: so long nothing may turn up."""

_EMPTY: Final = Readiness(is_ready=True, reason="no NodeClaims")
_TOO_SOON: Final = Readiness(is_ready=False, reason="Karpenter may not have looked at its nodes yet")
_REPLACED: Final = Readiness(is_ready=True, reason="replaced")


def wait_rolled(
    cluster: Cluster,
    deadline: Deadline,
    pools: Collection[str],
    say: Callable[[Progress], None],
    seconds: float | None = None,
) -> dict[Key, Readiness]:
    """Wait until no NodeClaim of some pools is outdated; give how the pools are, and those that were.

    It ends in good order when so many seconds have passed, or the command's time is up.

    Raises:
        ClusterError: where the NodeClaims can't be listed, and never could.
        StoppedError: where a signal came.
    """
    cluster, watch = cluster.patient(PATIENCE_SECONDS), Watch(deadline, say, seconds)
    quiet = min(QUIET_SECONDS, deadline.left / 2)
    known: dict[Key, Readiness] = {(NODE_POOL.name, pool): UNSEEN for pool in pools}
    loud_at = time.monotonic()
    while True:
        waiting = {key for key, each in known.items() if not each.is_ready}
        try:
            found = _look(cluster, pools)
            known |= {**dict.fromkeys(waiting, _REPLACED), **found}
            nodes = any(each is not _EMPTY for each in found.values())
        except ClusterError as problem:
            known |= watch.without_answer(waiting or known, problem)
            nodes, loud_at = True, time.monotonic()
        watch.tell(known)
        is_well = all(each.is_ready for each in known.values())
        loud_at = loud_at if is_well else time.monotonic()
        if not nodes or time.monotonic() - loud_at >= quiet:
            return known
        if not watch.pause():
            return known | dict.fromkeys(((NODE_POOL.name, pool) for pool in pools if is_well), _TOO_SOON)


def _look(cluster: Cluster, pools: Collection[str]) -> dict[Key, Readiness]:
    """Return each pool, and each of its NodeClaims that is outdated."""
    bodies, classes = _by_name(cluster, NODE_POOL), _by_name(cluster, EC2_NODE_CLASS)
    claims = of_pools(list_all(cluster, NODE_CLAIM))
    found: dict[Key, Readiness] = {}
    for pool in pools:
        body, own = bodies.get(pool, {}), claims.get(pool, [])
        node_class = classes.get(class_of(body)[1], {})
        outdated_ones = dict(_outdated(own, body, node_class))
        found[NODE_POOL.name, pool] = _of_pool(len(own), len(outdated_ones))
        found |= outdated_ones
    return found


def _of_pool(nodes: int, old: int) -> Readiness:
    if not nodes:
        return _EMPTY
    said = f"{old} of {nodes} NodeClaims are to be replaced"
    return Readiness(is_ready=False, reason=said, state=said) if old else Readiness(is_ready=True)


def _outdated(
    claims: list[NodeClaim], pool: Mapping[str, Plain], node_class: Mapping[str, Plain]
) -> Iterator[tuple[Key, Readiness]]:
    size = sum(claim.has("Initialized") for claim in claims)
    for claim in claims:
        if why := outdated(claim, pool, node_class):
            held = held_up(claim, pool, size)
            said = Readiness(is_ready=False, reason=f"{why}: {held}", state=held)
            yield (NODE_CLAIM.name, claim.name), said


def _by_name(cluster: Cluster, kind: ResourceKind) -> dict[str, Mapping[str, Plain]]:
    return {name_of(body): body for body in list_all(cluster, kind)}
