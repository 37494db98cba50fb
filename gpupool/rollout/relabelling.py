"""Labels of one live object changed, and nothing else: guarded by its uid and its version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.kinds import KINDS
from gpupool.cluster.refusals import field_conflicts, message
from gpupool.errors import ClusterError, GpupoolError, StoppedError
from gpupool.objects import labels_of
from gpupool.planning.ownership import applied, extracted
from gpupool.planning.quoted import without
from gpupool.rollout.assess import apply_request
from gpupool.rollout.observed import generation_of, name_of, read, uid_of, version_of
from gpupool.rollout.results import Outcome
from gpupool.rollout.wishes import Wish
from gpupool.yamlio.nodes import plain_map

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpupool.cluster.port import Request
    from gpupool.rollout.hiding import Secrets
    from gpupool.rollout.reach import Reached
    from gpupool.yamlio.nodes import Plain

_MOST_TRIES: Final = 10
_CONFLICT: Final = 409
_STOPPED: Final = "the command was stopped"


class Relabelled(NamedTuple):
    """What came of one object, and how it is now."""

    outcome: Outcome
    live: Mapping[str, Plain]


class Relabelling(NamedTuple):
    """What every object is relabelled with."""

    reached: Reached
    labels: Mapping[str, Plain]
    secrets: Secrets
    ensure_held: Callable[[], None]
    """Raises where a lock is lost; asked before each write."""

    done: Callable[[Outcome], None]


def relabel(work: Relabelling, address: str, live: Mapping[str, Plain]) -> Relabelled:
    """Give an object its new labels.

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


def _relabelled(work: Relabelling, address: str, known: Mapping[str, Plain]) -> Mapping[str, Plain]:
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
    wish = Wish(kind, name_of(live), body)
    # Nothing is taken from others but the two labels: all other fields are gpupool's, and stay as they are.
    return apply_request(wish, force=True, dry_run=False, uid=uid_of(live), version=version_of(live))
