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
from gpupool.planning.ownership import applied, extracted, is_applied_already
from gpupool.rollout.applying.results import Outcome
from gpupool.rollout.live_state import generation_of, name_of, read, uid_of, version_of
from gpupool.rollout.planning.assess import admissions_of, apply_request, without_secrets
from gpupool.rollout.planning.desired_objects import DesiredObject
from gpupool.rollout.planning.verify import standing
from gpupool.yamlio.located import plain_map

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpupool.cluster.client import Request, Response
    from gpupool.rollout.connection import Reached
    from gpupool.rollout.planning.assess import Assessed, DryRunContext
    from gpupool.rollout.redaction import Secrets
    from gpupool.yamlio.located import Plain


_MOST_TRIES: Final = 10
_UNSURE: Final = "interrupted before the API server answered: it may have been applied"
_STOPPED: Final = "the command was stopped"
_CREATED, _CONFLICT = 201, 409
_NO_VERSION: Final = "1"
"""No object has it. The API server creates what is not there whatever version is named, and refuses where
something is: so a request of a run that is long dead changes nothing that a later run made."""


def write(asking: DryRunContext, known: Assessed) -> Outcome:
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


def _write(asking: DryRunContext, known: Assessed) -> Outcome:
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


def _written(asking: DryRunContext, known: Assessed, answer: Response) -> Outcome:
    change = known.change
    stored = plain_map(stripped(dict(answer.body)))
    note = "; ".join(map(admitted, admissions_of(asking, known.wish, stored)))
    if change.actions == ("create",) and answer.status != _CREATED and answer.asked == 1:
        note = "someone else created it in the meantime: check its other fields"
    uid, generation = uid_of(answer.body), generation_of(answer.body)
    return Outcome(change.address, change.actions[0], "done", note, uid, generation)


class Relabelled(NamedTuple):
    """What came of one object, and how it is now."""

    outcome: Outcome
    live: Mapping[str, Plain]


class RelabelContext(NamedTuple):
    """What every object is relabelled with."""

    reached: Reached
    labels: Mapping[str, Plain]
    secrets: Secrets
    ensure_held: Callable[[], None]
    """Raises where a lock is lost; asked before each write."""

    done: Callable[[Outcome], None]


def relabel(work: RelabelContext, address: str, live: Mapping[str, Plain]) -> Relabelled:
    """Return an object its new labels.

    What goes wrong is part of the outcome: other objects are still to be relabelled.
    """
    if all(labels_of(live).get(key) == value for key, value in work.labels.items()):
        return Relabelled(Outcome(address, "keep", "done", "", uid_of(live), generation_of(live)), live)
    if work.reached.deadline.is_stopped:
        return Relabelled(Outcome(address, "move", "not tried", _STOPPED), live)
    try:
        work.ensure_held()
        live = _relabelled(work, address, live)
        outcome = Outcome(address, "move", "done", "", uid_of(live), generation_of(live))
    except StoppedError:
        outcome = Outcome(address, "move", "not tried", _STOPPED)
    except GpupoolError as problem:
        outcome = Outcome(address, "move", "failed", without(str(problem), work.secrets()))
    work.done(outcome)
    return Relabelled(outcome, live)


def _relabelled(work: RelabelContext, address: str, known: Mapping[str, Plain]) -> Mapping[str, Plain]:
    live: Mapping[str, Plain] | None = known
    for _ in range(_MOST_TRIES):
        if live is None or uid_of(live) != uid_of(known):
            said = "it was deleted in the meantime"
            raise ClusterError(said)
        answer = work.reached.cluster.ask(_request(address, live, work.labels))
        if answer.ok:
            return answer.body
        if answer.status != _CONFLICT or field_conflicts(answer):
            said = f"the API server answers {answer.status}: {message(answer)}"
            raise ClusterError(said)
        # Somebody else wrote it between the reading and the writing, most likely its status alone.
        live = read(work.reached.cluster, address)
    said = "it keeps changing"
    raise ClusterError(said)


def _request(address: str, live: Mapping[str, Plain], labels: Mapping[str, Plain]) -> Request:
    """Return a server-side apply of all that gpupool owns of an object as it is, with other labels.

    So gpupool owns what it did, and the next apply finds nothing to change.
    """
    kind = KINDS[address.partition("/")[0]]
    entry = applied(live)
    own = plain_map(extracted(dict(live), entry.fields)) if entry is not None else {}
    metadata = plain_map(own.get("metadata"))
    body: dict[str, Plain] = {
        **own,
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": {
            **metadata,
            "name": name_of(live),
            "labels": {**plain_map(metadata.get("labels")), **labels},
        },
    }
    wish = DesiredObject(kind, name_of(live), body)
    # Nothing is taken from others but the two labels: all other fields are gpupool's, and stay as they are.
    return apply_request(wish, force=True, dry_run=False, uid=uid_of(live), version=version_of(live))
