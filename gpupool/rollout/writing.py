"""Write one object: guarded by its uid and its version, judged anew when it has moved on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpupool.cluster.port import UnsureError
from gpupool.cluster.refusals import field_conflicts, message
from gpupool.errors import GpupoolError, StoppedError
from gpupool.rollout.assess import apply_request, without_secrets
from gpupool.rollout.observed import generation_of, read, uid_of, version_of
from gpupool.rollout.results import Outcome
from gpupool.rollout.verify import standing

if TYPE_CHECKING:
    from gpupool.cluster.port import Answer
    from gpupool.planning.plan import Change
    from gpupool.rollout.assess import Asking, Assessed

_MOST_TRIES: Final = 10
_UNSURE: Final = "it was stopped before the server's answer came: it may be done"
_CREATED, _CONFLICT = 201, 409


def write(asking: Asking, known: Assessed) -> Outcome:
    """Apply one object as its change says.

    What goes wrong is part of the outcome: other objects are still to be written and recorded.
    """
    change = known.change
    if not change.writes:
        live = asking.observed.live[change.address]
        return Outcome(change.address, "keep", "done", change.reason, uid_of(live), generation_of(live))
    try:
        return _write(asking, known)
    except UnsureError:
        return Outcome(change.address, change.actions[0], "failed", _UNSURE)
    except StoppedError:
        return Outcome(change.address, change.actions[0], "not tried", "it was stopped")
    except GpupoolError as problem:
        said = without_secrets(asking, known.wish, str(problem))
        return Outcome(change.address, change.actions[0], "failed", said)


def _write(asking: Asking, known: Assessed) -> Outcome:
    change, wish = known.change, known.wish
    live = asking.observed.live.get(change.address)
    for _ in range(_MOST_TRIES):
        uid, version = ("", "") if live is None else (uid_of(live), version_of(live))
        request = apply_request(wish, force=change.force, dry_run=False, uid=uid, version=version)
        answer = asking.cluster.ask(request)
        if answer.ok:
            return _written(change, answer)
        if answer.status != _CONFLICT or field_conflicts(answer):
            said = without_secrets(asking, wish, message(answer))
            said = f"the API server answers {answer.status}: {said}"
            return Outcome(change.address, change.actions[0], "failed", said)
        # It was written by somebody else between the reading and the writing, most likely its status alone.
        live = read(asking.cluster, change.address)
        standing(asking, known, live)
    return Outcome(change.address, change.actions[0], "failed", "it changes all the time")


def _written(change: Change, answer: Answer) -> Outcome:
    note = ""
    if change.actions == ("create",) and answer.status != _CREATED and answer.asked == 1:
        note = "somebody else created it meanwhile: look at what it says beside the blueprint"
    uid, generation = uid_of(answer.body), generation_of(answer.body)
    return Outcome(change.address, change.actions[0], "done", note, uid, generation)
