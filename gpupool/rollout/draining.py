"""Let NodePools that are to go launch no more nodes, and wait until those that they have are gone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from gpupool.cluster.kinds import NODE_POOL
from gpupool.cluster.refusals import message
from gpupool.errors import ClusterError, GpupoolError
from gpupool.planning.guards import is_kept
from gpupool.planning.ownership import applied, extracted
from gpupool.rollout.assess import apply_request, without_secrets
from gpupool.rollout.observed import generation_of, name_of, read, uid_of, version_of
from gpupool.rollout.termination import NO_NODES, wait_for
from gpupool.rollout.wishes import Wish
from gpupool.yamlio.nodes import plain_map

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gpupool.cluster.port import Request
    from gpupool.planning.plan import Change
    from gpupool.rollout.termination import Deleting
    from gpupool.yamlio.nodes import Plain

_MOST_TRIES: Final = 10
_CONFLICT: Final = 409


def drained(how: Deleting, pools: Sequence[Change]) -> list[Change]:
    """Drain pools that have nodes; give the changes that delete them as they are then."""
    found = [_closed_if_in_use(how, each) for each in pools]
    closed = [new.address for new, old in zip(found, pools, strict=True) if new is not old]
    if closed and how.is_waited_for:
        wait_for(how, dict.fromkeys(closed, NO_NODES))
    return found


def _closed_if_in_use(how: Deleting, change: Change) -> Change:
    if how.deadline.is_stopped or not is_kept(change, how.asking.consent):
        return change
    try:
        how.ensure_held()
        return _closed(how, change)
    except GpupoolError as problem:
        # It still has its nodes, and so it is held back when its turn comes.
        said = without_secrets(how.asking, change.address, str(problem))
        how.say(f"{change.address} is not drained: {said}")
        return change


def _closed(how: Deleting, change: Change) -> Change:
    """Take from a pool what it may launch; give the change that deletes it as it is after that."""
    for _ in range(_MOST_TRIES):
        live = read(how.asking.cluster, change.address)
        if live is None or uid_of(live) != change.pre.uid or generation_of(live) != change.pre.generation:
            return change
        answer = how.asking.cluster.ask(_request(live))
        if answer.ok:
            how.say(f"{change.address} launches no more nodes")
            return replace(change, pre=replace(change.pre, generation=generation_of(answer.body)))
        if answer.status != _CONFLICT:
            said = f"the API server answers {answer.status}: {message(answer)}"
            raise ClusterError(said)
    said = "it keeps changing"
    raise ClusterError(said)


def _request(live: Mapping[str, Plain]) -> Request:
    """Apply all that gpupool said of a pool, and a limit: the next apply of a blueprint takes that back."""
    entry = applied(live)
    said = plain_map(extracted(dict(live), entry.fields)) if entry is not None else {}
    spec = plain_map(said.get("spec"))
    # Karpenter refuses to limit the CPUs of a pool with a fixed number of nodes: that number is its limit.
    is_static = "replicas" in plain_map(live.get("spec"))
    limits: dict[str, Plain] = {**plain_map(spec.get("limits")), "cpu": "0"}
    closed: dict[str, Plain] = {**spec, **({"replicas": 0} if is_static else {"limits": limits})}
    body: dict[str, Plain] = {
        "apiVersion": NODE_POOL.api_version,
        "kind": NODE_POOL.name,
        "metadata": {**plain_map(said.get("metadata")), "name": name_of(live)},
        "spec": closed,
    }
    wish = Wish(NODE_POOL, name_of(live), body)
    return apply_request(wish, force=True, dry_run=False, uid=uid_of(live), version=version_of(live))
