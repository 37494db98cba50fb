"""Writes of one object, or of its labels alone, guarded by its uid and resourceVersion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.client import UnsureError
from gpupool.cluster.rejections import field_conflicts, message
from gpupool.cluster.resources import KINDS
from gpupool.errors import ClusterError, GpupoolError, StoppedError
from gpupool.objects import labels_of
from gpupool.planning.admission import admitted
from gpupool.planning.compare import stripped
from gpupool.planning.message_redaction import without
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
    from gpupool.rollout.planning.assess import Assessed, DryRunContext
    from gpupool.rollout.redaction import Secrets
    from gpupool.yamlio.located import Plain


_STOPPED: Final = "the command was stopped"
_CREATED: Final = 201
_NO_VERSION: Final = "1"
"""No object has it. The API server creates what is not there whatever version is named, and refuses where
something is: so a request of a run that is long dead changes nothing that a later run made."""


def write(asking: DryRunContext, known: Assessed) -> Outcome:
    """Apply one object as its change says.

    What goes wrong is part of the outcome: other objects are still to be written and recorded.
    """
    change = known.change
    if not change.writes:
        live = asking.observed.live[change.ref]
        return Outcome(change.ref, "keep", "done", change.reason, uid_of(live), generation_of(live))
    try:
        return _write(asking, known)
    except UnsureError:
        return Outcome(change.ref, change.actions[0], "failed", UNSURE)
    except StoppedError:
        return Outcome(change.ref, change.actions[0], "not tried", "it was stopped")
    except GpupoolError as problem:
        said = without_secrets(asking, change.ref, str(problem))
        return Outcome(change.ref, change.actions[0], "failed", said)


def _write(asking: DryRunContext, known: Assessed) -> Outcome:
    change, wish = known.change, known.wish
    live, absent = asking.observed.live.get(change.ref), _NO_VERSION
    for _ in range(MOST_TRIES):
        uid, version = ("", absent) if live is None else (uid_of(live), version_of(live))
        request = build_apply_request(wish, force=change.force, dry_run=False, uid=uid, version=version)
        answer = asking.cluster.ask(request)
        if answer.ok:
            return _written(asking, known, answer)
        if answer.status != CONFLICT or field_conflicts(answer):
            said = without_secrets(asking, change.ref, message(answer))
            said = f"the API server answers {answer.status}: {said}"
            return Outcome(change.ref, change.actions[0], "failed", said)
        # It was written by somebody else between the reading and the writing, most likely its status alone.
        was_absent, live = live is None, read(asking.cluster, change.ref)
        ensure_approved(asking, known, live)
        if was_absent and live is None:
            absent = ""  # a server that takes no version for what is not there
        if was_absent and live is not None and is_applied_already(live, wish.body):
            return _written(asking, known, answer._replace(status=_CREATED, body=live))
    return Outcome(change.ref, change.actions[0], "failed", KEEPS_CHANGING)


def _written(asking: DryRunContext, known: Assessed, answer: Response) -> Outcome:
    change = known.change
    stored = plain_map(stripped(dict(answer.body)))
    note = "; ".join(map(admitted, find_admissions(asking, known.wish, stored)))
    if change.actions == ("create",) and answer.status != _CREATED and answer.tries == 1:
        note = "someone else created it in the meantime: check its other fields"
    uid, generation = uid_of(answer.body), generation_of(answer.body)
    return Outcome(change.ref, change.actions[0], "done", note, uid, generation)


class Relabelled(NamedTuple):
    """What came of one object, and how it is now."""

    outcome: Outcome
    live: Mapping[str, Plain]


class RelabelContext(NamedTuple):
    """What every object is relabelled with."""

    reached: ReachedCluster
    labels: Mapping[str, Plain]
    secrets: Secrets
    ensure_held: Callable[[], None]
    """Raises where a lock is lost; asked before each write."""

    done: Callable[[Outcome], None]


def relabel(work: RelabelContext, ref: Ref, live: Mapping[str, Plain]) -> Relabelled:
    """Write an object's new labels.

    What goes wrong is part of the outcome: other objects are still to be relabelled.
    """
    if all(labels_of(live).get(key) == value for key, value in work.labels.items()):
        return Relabelled(Outcome(ref, "keep", "done", "", uid_of(live), generation_of(live)), live)
    if work.reached.deadline.is_stopped:
        return Relabelled(Outcome(ref, "move", "not tried", _STOPPED), live)
    try:
        work.ensure_held()
        live = _relabelled(work, ref, live)
        outcome = Outcome(ref, "move", "done", "", uid_of(live), generation_of(live))
    except StoppedError:
        outcome = Outcome(ref, "move", "not tried", _STOPPED)
    except GpupoolError as problem:
        outcome = Outcome(ref, "move", "failed", without(str(problem), work.secrets()))
    work.done(outcome)
    return Relabelled(outcome, live)


def _relabelled(work: RelabelContext, ref: Ref, listed: Mapping[str, Plain]) -> Mapping[str, Plain]:
    def request_for(live: Mapping[str, Plain] | None) -> Request | None:
        return _request(ref, live, work.labels) if live and uid_of(live) == uid_of(listed) else None

    answer = send_until_current(work.reached.cluster, ref, listed, request_for)
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
