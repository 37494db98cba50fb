"""Warning events of objects that are not Ready: what Karpenter, or others, recorded beside the status."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.client import Request
from gpupool.cluster.resources import EVENTS
from gpupool.errors import ClusterError
from gpupool.planning.message_redaction import without
from gpupool.yamlio.located import plain_list, plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gpupool.cluster.client import Cluster
    from gpupool.objects import Ref
    from gpupool.rollout.redaction import Secrets
    from gpupool.yamlio.located import Plain

SECONDS: Final = 2.0
"""So long events are worth waiting for: they are an extra."""

_OBJECTS, _EVENTS, _PAGE = 8, 3, "500"
"""So many objects are asked about, and so many events of each are kept. What one controller records of one
object within the hour that a server keeps events fits on one page."""

_LONGEST: Final = 300
_FORBIDDEN: Final = 403
_REFUSED: Final = (
    "may not list events in the namespace default, where the reason may be: grant what `gpupool rbac` prints"
)


class WarningEvent(NamedTuple):
    """What was recorded of an object, once or several times."""

    reason: str
    message: str
    times: int
    last: str
    """When it was recorded last, as the server writes it; empty where it does not say."""

    @property
    def words(self) -> str:
        """Return it in one line."""
        times = "once" if self.times == 1 else f"{self.times} times"
        last = f", last at {self.last}" if self.last else ""
        return f"{' '.join(filter(None, (self.reason, f'({times}{last})')))}: {self.message}"


class Warnings(NamedTuple):
    """The events of several objects."""

    events: Mapping[Ref, tuple[WarningEvent, ...]]
    """The newest of each object that has any."""

    note: str = ""
    """Why there are none; empty where they could be asked for."""


def read_warnings(cluster: Cluster, uids: Mapping[Ref, str], secrets: Secrets) -> Warnings:
    """Return the newest warnings of objects by their uids; one request for each.

    Where the server does not answer there are none: events are an extra, and fail nothing.
    """
    found: dict[Ref, tuple[WarningEvent, ...]] = {}
    try:
        for ref, uid in islice(uids.items(), _OBJECTS):
            query = {"fieldSelector": f"involvedObject.uid={uid},type=Warning", "limit": _PAGE}
            answer = cluster.ask(Request("GET", EVENTS, query))
            if answer.status == _FORBIDDEN:
                return Warnings(found, _REFUSED)
            if answer.ok and (newest := _newest(answer.body, secrets)):
                found[ref] = newest
    except ClusterError:
        pass
    return Warnings(found)


def _newest(body: Mapping[str, Plain], secrets: Secrets) -> tuple[WarningEvent, ...]:
    events: dict[tuple[str, str], WarningEvent] = {}
    for each in _events(plain_list(body.get("items")), secrets):
        same = events.get((each.reason, each.message))
        times = each.times + (same.times if same else 0)
        last = max(each.last, same.last, key=_second) if same else each.last
        events[each.reason, each.message] = each._replace(times=times, last=last)
    newest = sorted(events.values(), key=lambda each: _second(each.last), reverse=True)
    return tuple(newest[:_EVENTS])


def _events(items: Iterable[Plain], secrets: Secrets) -> Iterator[WarningEvent]:
    for item in map(plain_map, items):
        series = plain_map(item.get("series"))
        count = series.get("count") or item.get("count")
        yield WarningEvent(
            _short(plain_text(item.get("reason")), secrets),
            _short(plain_text(item.get("message")), secrets),
            count if isinstance(count, int) else 1,
            _last(item, series),
        )


def _last(item: Mapping[str, Plain], series: Mapping[str, Plain]) -> str:
    """Return when an event was recorded last, which each of the two APIs for events keeps elsewhere."""
    metadata = plain_map(item.get("metadata"))
    places = ((series, "lastObservedTime"), (item, "lastTimestamp"), (item, "eventTime"))
    said = (plain_text(body.get(key)) for body, key in (*places, (metadata, "creationTimestamp")))
    return next(filter(None, said), "")


def _second(moment: str) -> str:
    """Return a moment without what some texts have behind the second, so that they compare."""
    return moment[:19]


def _short(text: str, secrets: Secrets) -> str:
    shown = without(" ".join(text.split()), secrets())
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
