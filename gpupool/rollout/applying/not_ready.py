"""Explanation of objects that did not get Ready: events, classes and the last good commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.resources import EC2_NODE_CLASS
from gpupool.rollout.applying.recording import last_good_commit
from gpupool.rollout.applying.results import LateClass, Unready
from gpupool.rollout.live_state import uid_of
from gpupool.rollout.watch.events import SECONDS, Warnings, read_warnings
from gpupool.yamlio.located import plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gpupool.cluster.deadline import Deadline
    from gpupool.objects import Ref
    from gpupool.rollout.applying.results import Result
    from gpupool.rollout.planning.assess import DryRunContext
    from gpupool.yamlio.located import Plain

_MARGIN_SECONDS: Final = 1.0
"""The time that remains for the release of the lock."""


class LateObjects(NamedTuple):
    """The objects that did not get Ready, and the context to explain them."""

    context: DryRunContext
    reasons: Mapping[Ref, str]
    history: Sequence[Plain]
    """The inventory's history, without this apply."""

    who: Mapping[str, Plain]
    """User and commit of this apply."""


def explain_not_ready(result: Result, late: LateObjects, last: Deadline) -> Result:
    """Return a result with an explanation of the objects that are not Ready, read before the deadline `last`.

    After a signal, and where the server did not answer in the end, no request is sent.
    """
    if not late.reasons or result.signal:
        return result
    left = min(SECONDS, last.left - _MARGIN_SECONDS)
    warnings = Warnings({})
    if left > 0 and not result.unrecorded:
        cluster = late.context.cluster.with_deadline(left)
        warnings = read_warnings(cluster, _uids(result, late), late.context.secrets)
    unready = Unready(
        classes=tuple(_classes(result, late)),
        events=warnings.events,
        note=warnings.note,
        commit=last_good_commit(late.history, plain_text(late.who.get("commit"))),
        is_first=not late.history,
    )
    return result._replace(unready=unready)


def _uids(result: Result, late: LateObjects) -> dict[Ref, str]:
    written = {outcome.ref: outcome.uid for outcome in result.outcomes if outcome.uid}
    live = late.context.observed.live
    return {ref: written.get(ref) or uid_of(live.get(ref, {})) for ref in late.reasons}


def _classes(result: Result, late: LateObjects) -> Iterator[LateClass]:
    actions = {outcome.ref: outcome.action for outcome in result.outcomes}
    for ref, reason in late.reasons.items():
        if ref.kind == EC2_NODE_CLASS.name:
            yield LateClass(ref, actions.get(ref, ""), reason)
