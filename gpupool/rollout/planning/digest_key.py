"""Key of the digests that replace sensitive values in plans.

The first apply generates a random key and keeps it in the inventory. Before that, the uid of a CRD is the
key: it is random, plan and apply can both read it, and no plan holds it. A plan file alone reveals neither.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

from gpupool.cluster.crds import uid_of_crd
from gpupool.cluster.resources import EC2_NODE_CLASS
from gpupool.planning.masking import Masker
from gpupool.rollout.inventory import store

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gpupool.planning.plan import Plan
    from gpupool.rollout.connection import ReachedCluster
    from gpupool.rollout.inventory.store import Inventory
    from gpupool.yamlio.located import Plain

_BYTES: Final = 32
UNKNOWN: Final = (
    "`gpupool apply` will refuse this plan: it has sensitive values, and neither the inventory nor the CRD"
    f" {EC2_NODE_CLASS.crd} gives a key for their digests. Grant what `gpupool rbac plan` prints"
)


def build_masker(
    reached: ReachedCluster,
    patterns: Sequence[str],
    inventory: Inventory,
    bodies: Iterable[Mapping[str, Plain]],
) -> tuple[Masker, str]:
    """Return the masker of a new plan, and its key's digest; empty where the key can't be restored later.

    `bodies` are all objects that may be shown. Where none has sensitive values, no request is sent.

    Raises:
        ClusterError: where the server does not answer.
    """
    random_masker = Masker(tuple(patterns), reached.uid, secrets.token_bytes(_BYTES))
    if inventory.key:
        masker = _with(random_masker, inventory.key)
        return masker, masker.key_digest
    if not any(random_masker.has_sensitive(dict(body)) for body in bodies):
        return random_masker, ""
    uid = uid_of_crd(reached.cluster, EC2_NODE_CLASS.crd)
    if not uid:
        return random_masker, ""
    masker = _with(random_masker, uid)
    return masker, masker.key_digest


def restore_masker(reached: ReachedCluster, plan: Plan) -> Masker | None:
    """Return the masker of a saved plan; None where its key no longer exists, or was not kept.

    Raises:
        ClusterError: where the server does not answer, or the inventory can't be read.
    """
    random_masker = Masker(plan.source.sensitive, reached.uid, secrets.token_bytes(_BYTES))
    if not plan.inventory.key:
        return None
    place = store.InventoryRef(plan.inventory.namespace, plan.inventory.name)
    if key := store.read(reached.cluster, place).key:
        masker = _with(random_masker, key)
        if masker.key_digest == plan.inventory.key:
            return masker
    uid = uid_of_crd(reached.cluster, EC2_NODE_CLASS.crd)
    masker = _with(random_masker, uid)
    return masker if uid and masker.key_digest == plan.inventory.key else None


def build_random_masker(reached: ReachedCluster, plan: Plan) -> Masker:
    """Return a masker for a plan without sensitive values, which hides those that others wrote since."""
    return Masker(plan.source.sensitive, reached.uid, secrets.token_bytes(_BYTES))


def _with(masker: Masker, key: str) -> Masker:
    return Masker(masker.patterns, masker.cluster, key.encode())
