"""Which NodeClaims are to be replaced, and what keeps them from it."""

from typing import Any

import pytest

from gpupool.rollout.watch.nodeclaims import explain_delay, explain_outdated, read_claim

POOL_HASH, CLASS_HASH = "karpenter.sh/nodepool-hash", "karpenter.k8s.aws/ec2nodeclass-hash"
Body = dict[str, Any]


def claim(*conditions: str, annotations: dict[str, str] | None = None, **metadata: object) -> Body:
    """Return a NodeClaim; a condition is as in `Drifted:NodePoolDrifted`, and True."""
    said = [
        dict(zip(("type", "reason"), f"{each}:{each}".split(":")[:2], strict=True)) for each in conditions
    ]
    return {
        "metadata": {"name": "c", "annotations": annotations or {}, **metadata},
        "status": {"conditions": [{**each, "status": "True"} for each in said]},
    }


def annotated(**annotations: str) -> Body:
    """Return a pool or class with annotations of Karpenter's."""
    return {"metadata": {"annotations": annotations}}


def hashed(key: str, value: str, version: str = "v3") -> dict[str, str]:
    """Return a digest with its version."""
    return {key: value, f"{key}-version": version}


OUTDATED = {
    "a current one": (claim("Launched"), {}, {}, ""),
    "Drifted": (claim("Drifted:AMIDrift"), {}, {}, "AMIDrift"),
    "of an older pool": (
        claim(annotations=hashed(POOL_HASH, "1")),
        annotated(**hashed(POOL_HASH, "2")),
        {},
        "created before the last change",
    ),
    "of the same pool": (
        claim(annotations=hashed(POOL_HASH, "2")),
        annotated(**hashed(POOL_HASH, "2")),
        {},
        "",
    ),
    "of an older class": (
        claim(annotations=hashed(CLASS_HASH, "1")),
        {},
        annotated(**hashed(CLASS_HASH, "2")),
        "created before the last change",
    ),
    "of another way to make digests, which Karpenter writes anew": (
        claim(annotations=hashed(POOL_HASH, "1", "v2")),
        annotated(**hashed(POOL_HASH, "2")),
        {},
        "",
    ),
    "without a digest": (
        claim(),
        annotated(**hashed(POOL_HASH, "2")),
        annotated(**hashed(CLASS_HASH, "2")),
        "",
    ),
}


@pytest.mark.parametrize(("body", "pool", "node_class", "why"), OUTDATED.values(), ids=OUTDATED)
def test_which_are_to_be_replaced(body: Body, pool: Body, node_class: Body, why: str) -> None:
    assert explain_outdated(read_claim(body), pool, node_class) == why


def budget(**words: object) -> Body:
    """Return a pool with one budget."""
    return {"spec": {"disruption": {"budgets": [words]}}}


NEVER = budget(nodes="0")
HELD = {
    "leaving": (
        claim("Initialized", deletionTimestamp="2026-11-21T10:00:00Z"),
        NEVER,
        "its node is being drained since 2026-11-21T10:00:00Z",
    ),
    "chosen": (
        claim("Initialized", "DisruptionReason:Drifted"),
        NEVER,
        "being replaced: the new node is starting",
    ),
    "not Initialized": (claim("Launched"), NEVER, "Karpenter replaces no node that is not Initialized"),
    "protected": (
        claim("Initialized", annotations={"karpenter.sh/do-not-disrupt": "true"}),
        {},
        "its annotation karpenter.sh/do-not-disrupt forbids it",
    ),
    "a budget of nothing": (claim("Initialized"), NEVER, "the budgets of the pool allow no disruption now"),
    "a budget of no part": (
        claim("Initialized"),
        budget(nodes="0%", reasons=["Drifted"]),
        "the budgets of the pool allow no disruption now",
    ),
    "a budget for something else": (
        claim("Initialized"),
        budget(nodes="0", reasons=["Empty"]),
        "waiting for its turn",
    ),
    "nothing that is seen from here": (claim("Initialized"), {}, "waiting for its turn"),
}


@pytest.mark.parametrize(("body", "pool", "words"), HELD.values(), ids=HELD)
def test_what_keeps_them_from_it(body: Body, pool: Body, words: str) -> None:
    said = explain_delay(read_claim(body), pool, 4)

    assert said.startswith(words)
    assert ("PodDisruptionBudgets" in said) == (words == "waiting for its turn")
