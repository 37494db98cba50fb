"""What is known at the end of an apply about objects that did not get Ready."""

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
"""So much of the last moments stays for the lock, which has to be given back."""


class Late(NamedTuple):
    """What was waited for in vain, and what helps to explain it."""

    asking: DryRunContext
    reasons: Mapping[Ref, str]
    history: Sequence[Plain]
    """The inventory's, without this apply."""

    who: Mapping[str, Plain]
    """Who applies now, and from which commit."""


def explain_not_ready(result: Result, late: Late, last: Deadline) -> Result:
    """Return a result with what is known of the objects that are not Ready, found out before `last` is over.

    After a signal, and where the server did not answer in the end, nothing more is asked.
    """
    if not late.reasons or result.signal:
        return result
    left = min(SECONDS, last.left - _MARGIN_SECONDS)
    warnings = Warnings({})
    if left > 0 and not result.unrecorded:
        cluster = late.asking.cluster.with_deadline(left)
        warnings = read_warnings(cluster, _uids(result, late), late.asking.secrets)
    unready = Unready(
        classes=tuple(_classes(result, late)),
        events=warnings.events,
        note=warnings.note,
        commit=last_good_commit(late.history, plain_text(late.who.get("commit"))),
        is_first=not late.history,
    )
    return result._replace(unready=unready)


def _uids(result: Result, late: Late) -> dict[Ref, str]:
    written = {outcome.ref: outcome.uid for outcome in result.outcomes if outcome.uid}
    live = late.asking.observed.live
    return {ref: written.get(ref) or uid_of(live.get(ref, {})) for ref in late.reasons}


def _classes(result: Result, late: Late) -> Iterator[LateClass]:
    actions = {outcome.ref: outcome.action for outcome in result.outcomes}
    for ref, reason in late.reasons.items():
        if ref.kind == EC2_NODE_CLASS.name:
            yield LateClass(ref, actions.get(ref, ""), reason)
