"""NodeClaims: the machines of a pool, how far each of them is, and which are to be replaced."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.karpenter.budgets import allowed, budgets_of
from gpupool.karpenter.labels import CAPACITY_TYPE, DO_NOT_DISRUPT, INSTANCE_TYPE, NODEPOOL, ZONE
from gpupool.rollout.observed import name_of
from gpupool.rollout.waiting import conditions
from gpupool.yamlio.nodes import plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gpupool.rollout.waiting import Condition
    from gpupool.yamlio.nodes import Plain

STAGES: Final = ("Launched", "Registered", "Initialized")
"""How far a machine is, in this order; Ready is all of them."""

_DRIFTED, _CHOSEN = "Drifted", "DisruptionReason"
_HASHES: Final = ("karpenter.sh/nodepool-hash", "karpenter.k8s.aws/ec2nodeclass-hash")
"""Where a pool and a class keep the digest of what is in their nodes, and each NodeClaim that of its own."""


class Machine(NamedTuple):
    """What was launched for a NodeClaim; each word is empty where it is not known yet."""

    instance_type: str
    capacity_type: str
    zone: str


class Claim(NamedTuple):
    """One NodeClaim."""

    name: str
    pool: str
    node: str
    """Empty before it is registered."""

    machine: Machine
    conditions: Mapping[str, Condition]
    leaving: str
    """Since when it is being deleted; empty where it is not."""

    annotations: Mapping[str, Plain]

    def has(self, condition: str) -> bool:
        """Say whether a condition is True."""
        return condition in self.conditions and self.conditions[condition].status == "True"

    @property
    def drift(self) -> str:
        """Say why Karpenter is to replace it; empty where it is not."""
        return (self.conditions[_DRIFTED].reason or _DRIFTED) if self.has(_DRIFTED) else ""


def read_claim(body: Mapping[str, Plain]) -> Claim:
    """Read a NodeClaim."""
    metadata, status = plain_map(body.get("metadata")), plain_map(body.get("status"))
    labels = plain_map(metadata.get("labels"))
    return Claim(
        name=name_of(body),
        pool=plain_text(labels.get(NODEPOOL)),
        node=plain_text(status.get("nodeName")),
        machine=Machine(*(plain_text(labels.get(key)) for key in (INSTANCE_TYPE, CAPACITY_TYPE, ZONE))),
        conditions={each.type: each for each in conditions(body)},
        leaving=plain_text(metadata.get("deletionTimestamp")),
        annotations=plain_map(metadata.get("annotations")),
    )


def outdated(claim: Claim, pool: Mapping[str, Plain], node_class: Mapping[str, Plain]) -> str:
    """Say why a NodeClaim is to be replaced; empty where it is not.

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


def held_up(claim: Claim, pool: Mapping[str, Plain], size: int) -> str:
    """Say what keeps Karpenter from replacing an outdated NodeClaim, or how far it is.

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
    if allowed(budgets_of(dict(pool)), "Drifted", datetime.now(UTC), size) <= 0:
        return "the budgets of the pool allow no disruption now"
    return "waiting for its turn; Pods with do-not-disrupt and PodDisruptionBudgets can hold it as well"


def of_pools(bodies: Iterable[Mapping[str, Plain]]) -> dict[str, list[Claim]]:
    """Sort NodeClaims by their pool."""
    found: dict[str, list[Claim]] = {}
    for body in bodies:
        claim = read_claim(body)
        found.setdefault(claim.pool, []).append(claim)
    return found
