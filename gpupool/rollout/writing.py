"""Write one object: guarded by its uid and its version, judged anew when it has moved on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpupool.cluster.port import UnsureError
from gpupool.cluster.refusals import field_conflicts, message
from gpupool.errors import GpupoolError, StoppedError
from gpupool.planning.admission import admitted
from gpupool.planning.compare import stripped
from gpupool.planning.ownership import is_applied_already
from gpupool.rollout.assess import admissions_of, apply_request, without_secrets
from gpupool.rollout.observed import generation_of, read, uid_of, version_of
from gpupool.rollout.results import Outcome
from gpupool.rollout.verify import standing
from gpupool.yamlio.nodes import plain_map

if TYPE_CHECKING:
    from gpupool.cluster.port import Answer
    from gpupool.rollout.assess import Asking, Assessed

_MOST_TRIES: Final = 10
_UNSURE: Final = "interrupted before the API server answered: it may have been applied"
_CREATED, _CONFLICT = 201, 409
_NO_VERSION: Final = "1"
"""No object has it. The API server creates what is not there whatever version is named, and refuses where
something is: so a request of a run that is long dead changes nothing that a later run made."""


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
        said = without_secrets(asking, change.address, str(problem))
        return Outcome(change.address, change.actions[0], "failed", said)


def _write(asking: Asking, known: Assessed) -> Outcome:
    change, wish = known.change, known.wish
    live, absent = asking.observed.live.get(change.address), _NO_VERSION
    for _ in range(_MOST_TRIES):
        uid, version = ("", absent) if live is None else (uid_of(live), version_of(live))
        request = apply_request(wish, force=change.force, dry_run=False, uid=uid, version=version)
        answer = asking.cluster.ask(request)
        if answer.ok:
            return _written(asking, known, answer)
        if answer.status != _CONFLICT or field_conflicts(answer):
            said = without_secrets(asking, change.address, message(answer))
            said = f"the API server answers {answer.status}: {said}"
            return Outcome(change.address, change.actions[0], "failed", said)
        # It was written by somebody else between the reading and the writing, most likely its status alone.
        was_absent, live = live is None, read(asking.cluster, change.address)
        standing(asking, known, live)
        if was_absent and live is None:
            absent = ""  # a server that takes no version for what is not there
        if was_absent and live is not None and is_applied_already(live, wish.body):
            return _written(asking, known, answer._replace(status=_CREATED, body=live))
    return Outcome(change.address, change.actions[0], "failed", "it keeps changing")


def _written(asking: Asking, known: Assessed, answer: Answer) -> Outcome:
    change = known.change
    stored = plain_map(stripped(dict(answer.body)))
    note = "; ".join(map(admitted, admissions_of(asking, known.wish, stored)))
    if change.actions == ("create",) and answer.status != _CREATED and answer.asked == 1:
        note = "someone else created it in the meantime: check its other fields"
    uid, generation = uid_of(answer.body), generation_of(answer.body)
    return Outcome(change.address, change.actions[0], "done", note, uid, generation)
