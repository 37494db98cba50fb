"""Writes of an object or of its labels, guarded by uid and resourceVersion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.client import UnsureError
from gpupool.cluster.rejections import field_conflicts, message
from gpupool.cluster.resources import KINDS
from gpupool.errors import ClusterError, GpupoolError, StoppedError
from gpupool.objects import labels_of
from gpupool.planning.admission import describe_admission
from gpupool.planning.compare import strip_server_fields
from gpupool.planning.message_redaction import redact_secrets
from gpupool.planning.ownership import is_applied_already
from gpupool.rollout.applying.reapplying import (
    CONFLICT,
    KEEPS_CHANGING,
    MOST_TRIES,
    UNSURE,
    applied_fields,
    reapply_request,
    send_until_current,
)
from gpupool.rollout.applying.results import Outcome
from gpupool.rollout.live_state import generation_of, read, uid_of, version_of
from gpupool.rollout.planning.assess import build_apply_request, find_admissions, without_secrets
from gpupool.rollout.planning.verify import ensure_approved
from gpupool.yamlio.located import plain_map

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpupool.cluster.client import Request, Response
    from gpupool.objects import Ref
    from gpupool.rollout.connection import ReachedCluster
    from gpupool.rollout.planning.assess import AssessedObject, DryRunContext
    from gpupool.rollout.redaction import Secrets
    from gpupool.yamlio.located import Plain


_STOPPED: Final = "the command was stopped"
_CREATED: Final = 201
_NO_VERSION: Final = "1"
"""A version that no object has. The API server creates an object whatever version is named, and rejects the
write where it exists: so a late request of a dead run does not change the object of a later run."""


def write(context: DryRunContext, approved: AssessedObject) -> Outcome:
    """Make one change; errors are part of the outcome, as other objects are still to be written."""
    change = approved.change
    if not change.writes:
        live = context.observed.live[change.ref]
        return Outcome(change.ref, "keep", "done", change.reason, uid_of(live), generation_of(live))
    try:
        return _write(context, approved)
    except UnsureError:
        return Outcome(change.ref, change.actions[0], "failed", UNSURE)
    except StoppedError:
        return Outcome(change.ref, change.actions[0], "not tried", "it was stopped")
    except GpupoolError as problem:
        text = without_secrets(context, change.ref, str(problem))
        return Outcome(change.ref, change.actions[0], "failed", text)


def _write(context: DryRunContext, approved: AssessedObject) -> Outcome:
    change, desired = approved.change, approved.desired
    live, missing_version = context.observed.live.get(change.ref), _NO_VERSION
    for _ in range(MOST_TRIES):
        uid, version = ("", missing_version) if live is None else (uid_of(live), version_of(live))
        request = build_apply_request(desired, force=change.force, dry_run=False, uid=uid, version=version)
        answer = context.cluster.ask(request)
        if answer.ok:
            return _written(context, approved, answer)
        if answer.status != CONFLICT or field_conflicts(answer):
            text = without_secrets(context, change.ref, message(answer))
            text = f"the API server answers {answer.status}: {text}"
            return Outcome(change.ref, change.actions[0], "failed", text)
        # Another client wrote it between the reading and the writing, most likely its status alone.
        was_missing, live = live is None, read(context.cluster, change.ref)
        ensure_approved(context, approved, live)
        if was_missing and live is None:
            missing_version = ""  # a server that accepts no version for a missing object
        if was_missing and live is not None and is_applied_already(live, desired.body):
            return _written(context, approved, answer._replace(status=_CREATED, body=live))
    return Outcome(change.ref, change.actions[0], "failed", KEEPS_CHANGING)


def _written(context: DryRunContext, approved: AssessedObject, answer: Response) -> Outcome:
    change = approved.change
    stored = plain_map(strip_server_fields(dict(answer.body)))
    note = "; ".join(map(describe_admission, find_admissions(context, approved.desired, stored)))
    if change.actions == ("create",) and answer.status != _CREATED and answer.tries == 1:
        note = "someone else created it in the meantime: check its other fields"
    uid, generation = uid_of(answer.body), generation_of(answer.body)
    return Outcome(change.ref, change.actions[0], "done", note, uid, generation)


class RelabelledObject(NamedTuple):
    """The outcome for one object, and the live object after it."""

    outcome: Outcome
    live: Mapping[str, Plain]


class RelabelContext(NamedTuple):
    """The context of relabelling objects."""

    reached: ReachedCluster
    labels: Mapping[str, Plain]
    secrets: Secrets
    ensure_held: Callable[[], None]
    """Raises an error where a lock is lost; called before each write."""

    done: Callable[[Outcome], None]


def relabel(context: RelabelContext, ref: Ref, live: Mapping[str, Plain]) -> RelabelledObject:
    """Write an object's new labels.

    Errors are part of the outcome, as other objects are still to be relabelled.
    """
    if all(labels_of(live).get(key) == value for key, value in context.labels.items()):
        return RelabelledObject(Outcome(ref, "keep", "done", "", uid_of(live), generation_of(live)), live)
    if context.reached.deadline.is_stopped:
        return RelabelledObject(Outcome(ref, "move", "not tried", _STOPPED), live)
    try:
        context.ensure_held()
        live = _relabelled(context, ref, live)
        outcome = Outcome(ref, "move", "done", "", uid_of(live), generation_of(live))
    except StoppedError:
        outcome = Outcome(ref, "move", "not tried", _STOPPED)
    except GpupoolError as problem:
        outcome = Outcome(ref, "move", "failed", redact_secrets(str(problem), context.secrets()))
    context.done(outcome)
    return RelabelledObject(outcome, live)


def _relabelled(context: RelabelContext, ref: Ref, listed: Mapping[str, Plain]) -> Mapping[str, Plain]:
    def request_for(live: Mapping[str, Plain] | None) -> Request | None:
        return _request(ref, live, context.labels) if live and uid_of(live) == uid_of(listed) else None

    answer = send_until_current(context.reached.cluster, ref, listed, request_for)
    if answer is None:
        text = "it was deleted in the meantime"
        raise ClusterError(text)
    if not answer.ok:
        text = f"the API server answers {answer.status}: {message(answer)}"
        raise ClusterError(text)
    return answer.body


def _request(ref: Ref, live: Mapping[str, Plain], labels: Mapping[str, Plain]) -> Request:
    """Return a write of all fields that gpupool applied to an object, with other labels.

    gpupool owns the same fields after it, so the next apply has nothing to change.
    """
    fields = applied_fields(live)
    metadata = plain_map(fields.get("metadata"))
    relabelled: Plain = {**metadata, "labels": {**plain_map(metadata.get("labels")), **labels}}
    # Only the two labels are taken from other owners: all other fields are gpupool's, and keep their values.
    return reapply_request(KINDS[ref.kind], live, {**fields, "metadata": relabelled})
