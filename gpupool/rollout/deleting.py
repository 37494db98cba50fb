"""Delete what is no longer wanted, but nothing on which anything runs.

The object is read, then what runs on it is counted, and the deletion asks for the object as read: a node
that comes in between changes the status of its NodePool, and so all of it begins anew.
"""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING, Final

from gpupool.cluster.kinds import EC2_NODE_CLASS, KINDS, NODE_OVERLAY, NODE_POOL
from gpupool.cluster.listing import list_all
from gpupool.cluster.parallel import each as in_parallel
from gpupool.cluster.port import Request, UnsureError
from gpupool.cluster.refusals import message
from gpupool.errors import GpupoolError, StoppedError
from gpupool.planning.guards import nodes
from gpupool.planning.pruning import kept_for, referring, refers
from gpupool.rollout.assess import without_secrets
from gpupool.rollout.draining import drained
from gpupool.rollout.observed import generation_of, read, terminating, uid_of, version_of
from gpupool.rollout.results import Outcome
from gpupool.rollout.termination import GONE, leaving, wait_for
from gpupool.rollout.usage import node_claims, node_claims_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gpupool.cluster.port import Cluster
    from gpupool.planning.plan import Change
    from gpupool.rollout.results import State
    from gpupool.rollout.termination import Deleting
    from gpupool.rollout.waiting import Readiness
    from gpupool.yamlio.nodes import Plain

_MOST_TRIES: Final = 10
_UNSURE: Final = "it was stopped before the server's answer came: it may be done"
_NOT_FOUND, _CONFLICT = 404, 409


def delete_all(how: Deleting, doomed: Sequence[Change]) -> list[Outcome]:
    """Delete objects, pools first; what goes wrong is part of the outcomes."""
    outcomes: list[Outcome] = []
    failed = Event()
    for kind in (NODE_POOL, NODE_OVERLAY, EC2_NODE_CLASS):
        stage = [each for each in doomed if each.address.startswith(f"{kind.name}/")]
        if kind == NODE_POOL and how.asking.consent.drain:
            stage = drained(how, stage)
        # In threads, so that a second signal ends it whatever comes of the requests.
        done = in_parallel(how.workers, lambda each: _one(how, each, failed), stage)
        outcomes += _waited(how, done, is_last=kind == EC2_NODE_CLASS)
    return outcomes


def _one(how: Deleting, change: Change, failed: Event) -> Outcome:
    if how.deadline.is_stopped or failed.is_set():
        outcome = _outcome(change, "not tried", "something before it failed")
    else:
        outcome = _delete(how, change)
    if outcome.state == "failed":
        failed.set()
    how.done(outcome)
    return outcome


def _delete(how: Deleting, change: Change) -> Outcome:
    try:
        how.ensure_held()
        for _ in range(_MOST_TRIES):
            if (outcome := _try(how, change)) is not None:
                return outcome
    except UnsureError:
        return _outcome(change, "failed", _UNSURE)
    except StoppedError:
        return _outcome(change, "not tried", "it was stopped")
    except GpupoolError as problem:
        return _outcome(change, "failed", without_secrets(how.asking, change.address, str(problem)))
    return _outcome(change, "failed", "it changes all the time")


def _try(how: Deleting, change: Change) -> Outcome | None:
    """Read, count and delete; None where the object was written by somebody else meanwhile."""
    cluster = how.asking.cluster
    live = read(cluster, change.address)
    if (found := _as_found(how, change, live)) is not None or live is None:
        return found
    if why := in_use(cluster, change, how.asking.consent.allow_delete):
        return _outcome(change, "held back", why)
    answer = cluster.ask(_request(change, version_of(live)))
    if answer.status == _CONFLICT:
        return None
    if answer.ok and terminating(answer.body):
        return _leaving(change, answer.body)
    if answer.ok or answer.status == _NOT_FOUND:
        return _outcome(change, "done")
    said = without_secrets(how.asking, change.address, message(answer))
    return _outcome(change, "failed", f"the API server answers {answer.status}: {said}")


def _as_found(how: Deleting, change: Change, live: Mapping[str, Plain] | None) -> Outcome | None:
    """Give what comes of an object that was just read and is not to be deleted; None for one that is."""
    if live is None or uid_of(live) != change.pre.uid:
        return _outcome(change, "done", "it is gone already")
    if terminating(live):
        return _leaving(change, live)
    if generation_of(live) != change.pre.generation:
        return _outcome(change, "failed", "it was changed since the plan was made")
    why = kept_for(live, change.pre.uid, how.asking.observed.inventory.place.id)
    return _outcome(change, "held back", why) if why else None


def in_use(cluster: Cluster, change: Change, allowed: Sequence[str]) -> str:
    """Say what runs on an object now, where that keeps it; `allowed` are the pools that go with their nodes.

    Raises:
        ClusterError: where the server refuses to say it.
    """
    kind, _, name = change.address.partition("/")
    count = 0
    if kind == NODE_POOL.name and change.address not in allowed:
        count = node_claims_of(cluster, name)
    if kind == EC2_NODE_CLASS.name:
        if pools := referring(list_all(cluster, NODE_POOL)).get((kind, name)):
            return refers(pools)
        count = node_claims(cluster).by_class[kind, name]
    return f"it still has {nodes(count)}" if count else ""


def _request(change: Change, version: str) -> Request:
    kind, _, name = change.address.partition("/")
    preconditions: dict[str, Plain] = {"uid": change.pre.uid, "resourceVersion": version}
    options: dict[str, Plain] = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": preconditions,
    }
    return Request("DELETE", KINDS[kind].path_of(name), body=options)


def _outcome(change: Change, state: State, said: str = "") -> Outcome:
    return Outcome(change.address, "delete", state, said)


def _leaving(change: Change, live: Mapping[str, Plain]) -> Outcome:
    """Give what comes of an object with finalizers: it stays until whoever set them has done his part."""
    uid, generation = change.pre.uid, generation_of(live)
    return Outcome(change.address, "delete", "deleting", leaving(live, 0), uid, generation)


def _waited(how: Deleting, outcomes: Sequence[Outcome], *, is_last: bool) -> list[Outcome]:
    """Wait until what is being deleted is gone, with the nodes that go with it."""
    allowed = how.asking.consent.allow_delete
    wanted = {
        each.address: GONE
        for each in outcomes
        if each.state == "deleting" or (each.state == "done" and each.address in allowed)
    }
    if not (wanted and how.is_waited_for):
        return [*outcomes]
    found = wait_for(how, wanted, is_last=is_last)
    return [_after(each, found[each.address]) if each.address in found else each for each in outcomes]


def _after(outcome: Outcome, found: Readiness) -> Outcome:
    if found.is_ready:
        return outcome._replace(state="done", message="")
    return outcome._replace(state="deleting", message=found.reason)
