"""The key of the digests that stand for sensitive values in plans: one that plan and apply both find.

It is chance that the first apply keeps in the inventory. Before that the uid of a CRD takes its place: the
API server drew it, both can read it, and no plan holds it. Whoever has only a plan knows neither.
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
    reached: ReachedCluster, patterns: Sequence[str], known: Inventory, bodies: Iterable[Mapping[str, Plain]]
) -> tuple[Masker, str]:
    """Return the masker of a new plan, and its key's digest; empty where that key can't be found again.

    `bodies` are all objects that may be shown. Where none holds anything sensitive, nothing is asked.

    Raises:
        ClusterError: where the server does not answer.
    """
    chance = Masker(tuple(patterns), reached.uid, secrets.token_bytes(_BYTES))
    if known.key:
        found = _with(chance, known.key)
        return found, found.key_digest
    if not any(chance.has_sensitive(dict(body)) for body in bodies):
        return chance, ""
    uid = uid_of_crd(reached.cluster, EC2_NODE_CLASS.crd)
    if not uid:
        return chance, ""
    found = _with(chance, uid)
    return found, found.key_digest


def restore_masker(reached: ReachedCluster, plan: Plan) -> Masker | None:
    """Return the masker that a saved plan was made with; None where its key is gone, or was nowhere kept.

    Raises:
        ClusterError: where the server does not answer, or the inventory can't be read.
    """
    chance = Masker(plan.source.sensitive, reached.uid, secrets.token_bytes(_BYTES))
    if not plan.inventory.key:
        return None
    place = store.InventoryRef(plan.inventory.namespace, plan.inventory.name)
    if key := store.read(reached.cluster, place).key:
        found = _with(chance, key)
        if found.key_digest == plan.inventory.key:
            return found
    uid = uid_of_crd(reached.cluster, EC2_NODE_CLASS.crd)
    found = _with(chance, uid)
    return found if uid and found.key_digest == plan.inventory.key else None


def build_random_masker(reached: ReachedCluster, plan: Plan) -> Masker:
    """Return a masker for a plan without sensitive values: what others wrote meanwhile is hidden as well."""
    return Masker(plan.source.sensitive, reached.uid, secrets.token_bytes(_BYTES))


def _with(masker: Masker, key: str) -> Masker:
    return Masker(masker.patterns, masker.cluster, key.encode())
