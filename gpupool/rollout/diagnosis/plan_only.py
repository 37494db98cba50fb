"""Proof that an identity can't write: real writes, made so that little comes of one that is not denied.

Nothing at all does where the cluster has a NodePool: another of its name can't be created, and an empty patch
changes nothing. Otherwise the create is of a NodePool that can launch nothing, and that is deleted at once.
"""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.kinds import KINDS, NODE_POOL
from gpupool.cluster.port import FIELD_MANAGER, MERGE, Request
from gpupool.cluster.refusals import message
from gpupool.errors import GpupoolError
from gpupool.rollout.diagnosis.check import Check, State
from gpupool.yamlio.nodes import plain_list, plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpupool.cluster.kinds import Kind
    from gpupool.cluster.port import Answer, Cluster
    from gpupool.yamlio.nodes import Plain

_NAME: Final = "plan only"
_CREATED, _FORBIDDEN, _NOT_FOUND, _CONFLICT = 201, 403, 404, 409
_POLICY: Final = re.compile(r"ValidatingAdmissionPolicy '([^']+)'")
_CLEANUP_SECONDS: Final = 5.0


class Attempt(NamedTuple):
    """A write that was tried."""

    what: str
    """As in `a create`."""

    answer: Answer
    left: str = ""
    """What it left behind, and could not be deleted."""

    @property
    def is_allowed(self) -> bool:
        """Say whether the server did it, or would have."""
        return self.answer.ok or self.answer.status == _CONFLICT

    @property
    def is_denied(self) -> bool:
        """Say whether it is not allowed to this user."""
        return self.answer.status == _FORBIDDEN

    @property
    def policy(self) -> str:
        """Give the policy that denied it; empty where another thing did."""
        found = _POLICY.search(message(self.answer))
        return found[1] if found and self.is_denied else ""


def prove_plan_only(cluster: Cluster) -> Check:
    """Try to create and to update, and say whether both were denied.

    Raises:
        ClusterError: where the server does not answer.
        StoppedError: where a signal came.
    """
    there = {kind: name for kind in KINDS.values() if (name := _one_of(cluster, kind))}
    attempts = [_create(cluster, there.get(NODE_POOL, ""))]
    if there:
        kind, name = next(iter(there.items()))
        request = Request("PATCH", kind.path_of(name), {"fieldManager": FIELD_MANAGER}, {}, MERGE)
        attempts.append(Attempt("an update", cluster.ask(request)))
    return _judged(attempts)


def _judged(attempts: Sequence[Attempt]) -> Check:
    if allowed := [attempt for attempt in attempts if attempt.is_allowed]:
        words = f"{_were(allowed)} not denied: this user can write"
        fix = "take its other roles from it, and grant it all that `gpupool rbac plan` prints"
        left = tuple(f"delete {attempt.left}: it was created" for attempt in allowed if attempt.left)
        return Check(_NAME, State.FAILED, words if left else f"{words}; nothing is left of it", fix, left)
    if unclear := [attempt for attempt in attempts if not attempt.is_denied]:
        said = f"{_were(unclear)} refused, but not denied: {message(unclear[0].answer)}"
        return Check(_NAME, State.FAILED, said, "that proves nothing; ask again once it is mended")
    policies = sorted({attempt.policy for attempt in attempts if attempt.policy})
    if not policies:
        words = f"{_were(attempts)} denied, but for want of the right: it can't dry-run either"
        return Check(_NAME, State.OK, words)
    return Check(_NAME, State.OK, f"{_were(attempts)} denied by {', '.join(policies)}")


def _were(attempts: Sequence[Attempt]) -> str:
    return f"{' and '.join(attempt.what for attempt in attempts)} {'were' if len(attempts) > 1 else 'was'}"


def _create(cluster: Cluster, existing: str) -> Attempt:
    name = existing or f"gpupool-doctor-probe-{secrets.token_hex(4)}"
    request = Request("POST", NODE_POOL.path, {"fieldManager": FIELD_MANAGER}, _probe(name))
    try:
        answer = cluster.ask(request)
    except GpupoolError:
        if not existing:
            _delete(cluster, name)
        raise
    # A conflict over a name that nobody else has: an earlier try, whose answer was lost, made it.
    made = not existing and answer.status in {_CREATED, _CONFLICT}
    left = "" if not made or _delete(cluster, name) else f"NodePool/{name}"
    return Attempt("a create", answer, left)


def _delete(cluster: Cluster, name: str) -> bool:
    """Delete the probe, also after a signal; say whether it is gone."""
    try:
        answer = cluster.afresh(_CLEANUP_SECONDS).ask(Request("DELETE", NODE_POOL.path_of(name)))
    except GpupoolError:
        return False
    return answer.ok or answer.status == _NOT_FOUND


def _one_of(cluster: Cluster, kind: Kind) -> str:
    """Give the name of any object of a kind; empty where there is none, or they can't be listed."""
    answer = cluster.ask(Request("GET", kind.path, {"limit": "1"}))
    items = plain_list(answer.body.get("items")) if answer.ok else []
    return plain_text(plain_map(plain_map(items[0]).get("metadata")).get("name")) if items else ""


def _probe(name: str) -> Plain:
    """Give a NodePool that launches nothing: it has no room, and its class does not exist."""
    reference: Plain = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": name}
    return {
        "apiVersion": NODE_POOL.api_version,
        "kind": NODE_POOL.name,
        "metadata": {"name": name},
        "spec": {
            "limits": {"cpu": "0"},
            "template": {"spec": {"nodeClassRef": reference, "requirements": []}},
        },
    }
