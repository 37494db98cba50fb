"""Warning events of objects that are not Ready."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.client import Request
from gpupool.cluster.resources import EVENTS
from gpupool.errors import ClusterError
from gpupool.planning.message_redaction import redact_secrets
from gpupool.yamlio.located import plain_list, plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gpupool.cluster.client import Cluster
    from gpupool.objects import Ref
    from gpupool.rollout.redaction import Secrets
    from gpupool.yamlio.located import Plain

SECONDS: Final = 2.0
"""The time limit for events, which are optional."""

_OBJECTS, _EVENTS, _PAGE = 8, 3, "500"
"""How many objects are queried, how many events of each are kept, and the page size. All events of one object
within the hour for which a server keeps them fit on one page."""

_LONGEST: Final = 300
_FORBIDDEN: Final = 403
_DENIED: Final = (
    "may not list events in the namespace default, where the reason may be: grant what `gpupool rbac` prints"
)


class WarningEvent(NamedTuple):
    """A warning event, recorded once or several times."""

    reason: str
    message: str
    times: int
    last: str
    """The time of the last record, as the server writes it; empty where it is not set."""

    @property
    def text(self) -> str:
        """Return the event on one line."""
        times = "once" if self.times == 1 else f"{self.times} times"
        last = f", last at {self.last}" if self.last else ""
        return f"{' '.join(filter(None, (self.reason, f'({times}{last})')))}: {self.message}"


class Warnings(NamedTuple):
    """The events of several objects."""

    events: Mapping[Ref, tuple[WarningEvent, ...]]
    """The newest of each object that has any."""

    note: str = ""
    """Why there are none; empty where they could be read."""


def read_warnings(cluster: Cluster, uids: Mapping[Ref, str], secrets: Secrets) -> Warnings:
    """Read the newest warnings of objects by their uids, with one request for each.

    Without an answer of the server there are none, as events are optional.
    """
    events: dict[Ref, tuple[WarningEvent, ...]] = {}
    try:
        for ref, uid in islice(uids.items(), _OBJECTS):
            query = {"fieldSelector": f"involvedObject.uid={uid},type=Warning", "limit": _PAGE}
            answer = cluster.ask(Request("GET", EVENTS, query))
            if answer.status == _FORBIDDEN:
                return Warnings(events, _DENIED)
            if answer.ok and (newest := _newest(answer.body, secrets)):
                events[ref] = newest
    except ClusterError:
        pass
    return Warnings(events)


def _newest(body: Mapping[str, Plain], secrets: Secrets) -> tuple[WarningEvent, ...]:
    events: dict[tuple[str, str], WarningEvent] = {}
    for event in _events(plain_list(body.get("items")), secrets):
        previous = events.get((event.reason, event.message))
        times = event.times + (previous.times if previous else 0)
        last = max(event.last, previous.last, key=_second) if previous else event.last
        events[event.reason, event.message] = event._replace(times=times, last=last)
    newest = sorted(events.values(), key=lambda event: _second(event.last), reverse=True)
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
    """Return the time of an event's last record, which the two event APIs keep in different fields."""
    metadata = plain_map(item.get("metadata"))
    fields = ((series, "lastObservedTime"), (item, "lastTimestamp"), (item, "eventTime"))
    times = (plain_text(body.get(key)) for body, key in (*fields, (metadata, "creationTimestamp")))
    return next(filter(None, times), "")


def _second(moment: str) -> str:
    """Return a time up to the second, so that times of different precision compare."""
    return moment[:19]


def _short(text: str, secrets: Secrets) -> str:
    shown = redact_secrets(" ".join(text.split()), secrets())
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
