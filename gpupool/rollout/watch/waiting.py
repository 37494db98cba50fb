"""Readiness of Karpenter's objects, and waits for it."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.listing import list_all
from gpupool.cluster.resources import KINDS
from gpupool.errors import ClusterError
from gpupool.objects import Ref
from gpupool.planning.masking import find_sensitive_values
from gpupool.planning.message_redaction import redact_secrets
from gpupool.rollout.live_state import describe_termination, generation_of, name_of
from gpupool.rollout.watch.empty_conditions import describe_no_result, has_class_conditions
from gpupool.yamlio.located import plain_list, plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from gpupool.cluster.client import Cluster
    from gpupool.cluster.deadline import Deadline
    from gpupool.yamlio.located import Plain

READY: Final = "Ready"
INFORMATIONAL: Final = frozenset({READY, "NodeRegistrationHealthy"})
"""Conditions that Ready does not depend on."""

_ROOTS: Final = (
    "SubnetsReady",
    "SecurityGroupsReady",
    "AMIsReady",
    "PlacementGroupReady",
    "CapacityReservationsReady",
    "InstanceProfileReady",
    "NodeClassReady",
    "ValidationSucceeded",
)
"""Conditions that others depend on, in the order in which they are reported."""

_NOT_BEGUN: Final = "AwaitingReconciliation"
_DEPENDENT: Final = "DependenciesNotReady"
"""A reason that only refers to other conditions."""

_FIRST_PAUSE, _LONGEST_PAUSE, _GROWTH = 0.2, 2.0, 1.5
PATIENCE_SECONDS: Final = 5.0
"""How long a request is retried before the server counts as unreachable."""

STILL_SECONDS: Final = 10.0
"""The pause between messages about an object without news."""


class Condition(NamedTuple):
    """A condition of a status."""

    type: str
    status: str
    reason: str
    message: str
    generation: int | None
    """The observed generation; None where it is not set."""

    @property
    def text(self) -> str:
        """Return the condition on one line, without a reason that repeats the type."""
        reason = "" if self.reason == self.type else self.reason
        message = "" if self.message == self.reason else " ".join(self.message.split())
        return ": ".join(part for part in (self.state, reason, message) if part)

    @property
    def state(self) -> str:
        """Return type and status."""
        return f"{self.type}={self.status}"

    def is_about(self, generation: int) -> bool:
        """Return whether the condition has a result for this generation of the object."""
        is_old = self.generation is not None and self.generation < generation
        return not is_old and self.reason != _NOT_BEGUN

    def holds(self, generation: int) -> bool:
        """Return whether it is True for this generation, or Ready does not depend on it."""
        return self.type in INFORMATIONAL or (self.status == "True" and self.is_about(generation))


class Readiness(NamedTuple):
    """Whether an object is Ready."""

    is_ready: bool
    reason: str = ""
    """Why it is not."""

    state: str = ""
    """The part of the reason that changes only with news, as messages of AWS have a new id each time."""

    is_hopeless: bool = False
    """Whether a wait is useless: the object does not exist, or is being deleted."""


class Progress(NamedTuple):
    """The progress of a wait for one object."""

    kind: str
    name: str
    readiness: Readiness
    seconds: float
    """The duration of the wait."""

    is_news: bool
    """Whether the state changed; False for a repeated message."""


UNSEEN: Final = Readiness(is_ready=False, reason="not checked: timed out")
GONE: Final = Readiness(is_ready=False, reason="does not exist", is_hopeless=True)


def read_readiness(body: Mapping[str, Plain], sensitive: Sequence[str] = ()) -> Readiness:
    """Return whether Karpenter has accepted the present object; `sensitive` are the blueprint's patterns."""
    if deletion := describe_termination(body):
        return Readiness(is_ready=False, reason=deletion, is_hopeless=True)
    conditions = {condition.type: condition for condition in read_conditions(body, sensitive)}
    if not conditions:
        return _not_ready(["no status yet: is Karpenter running?"])
    root, generation = conditions.get(READY), generation_of(body)
    if root is not None and root.generation is not None and root.generation < generation:
        return _not_ready([f"not reconciled by Karpenter since the last change ({root.state} before)"])
    if root is not None and root.status == "True":
        return Readiness(is_ready=True)
    return _unready(conditions, root, body)


def _unready(
    conditions: Mapping[str, Condition], root: Condition | None, body: Mapping[str, Plain]
) -> Readiness:
    """Return the conditions that are not met, without those that only refer to others."""
    generation = generation_of(body)
    unmet = sorted(
        (condition for condition in conditions.values() if not condition.holds(generation)), key=_rank
    )
    with_result = [condition for condition in unmet if condition.is_about(generation)]
    silent = [condition.type for condition in unmet if not condition.is_about(generation)]
    causes = [condition for condition in with_result if condition.reason != _DEPENDENT]
    texts = [condition.text for condition in (causes if causes or silent else with_result)]
    if silent:
        # Karpenter writes all conditions of a class in one pass, and skips those that it fails on.
        has_tried = has_class_conditions(conditions) and any(
            condition.is_about(generation)
            for condition in conditions.values()
            if condition.type not in INFORMATIONAL
        )
        texts.append(
            describe_no_result(silent, body) if has_tried else f"not reconciled yet: {', '.join(silent)}"
        )
    if not unmet:
        texts = [root.text if root else "it has no condition Ready yet"]
    states = [f"{condition.state} {condition.reason} {condition.is_about(generation)}" for condition in unmet]
    return _not_ready(texts, "; ".join(states))


def _not_ready(texts: Iterable[str], state: str = "") -> Readiness:
    reason = "; ".join(texts)
    return Readiness(is_ready=False, reason=reason, state=state or reason)


def _rank(condition: Condition) -> tuple[bool, int, str]:
    is_root = condition.type in _ROOTS
    return (
        condition.status != "False",
        _ROOTS.index(condition.type) if is_root else len(_ROOTS),
        condition.type,
    )


def read_conditions(body: Mapping[str, Plain], sensitive: Sequence[str] = ()) -> Iterator[Condition]:
    """Yield the conditions of an object's status, without sensitive values of the object in their messages.

    Values are sensitive by the rules for every blueprint and by the patterns of `sensitive`.
    """
    for item in map(plain_map, plain_list(plain_map(body.get("status")).get("conditions"))):
        generation, message = item.get("observedGeneration"), plain_text(item.get("message"))
        if message and item.get("status") != "True":
            message = redact_secrets(message, find_sensitive_values(sensitive, dict(body)))
        yield Condition(
            plain_text(item.get("type")),
            plain_text(item.get("status")),
            plain_text(item.get("reason")),
            message,
            generation if isinstance(generation, int) else None,
        )


def wait_ready(
    cluster: Cluster,
    deadline: Deadline,
    names: Mapping[str, Collection[str]],
    say: Callable[[Progress], None],
    seconds: float | None = None,
    sensitive: Sequence[str] = (),
) -> dict[Ref, Readiness]:
    """Wait until objects are Ready; return the readiness of each at the end.

    `names` are the objects' names by kind. Messages do not quote values that match `sensitive`. It ends
    without an error after so many seconds, or at the command's deadline. NodeOverlays get Ready only where
    Karpenter's feature gate for them is on.

    Raises:
        ClusterError: where the objects could never be listed.
        StoppedError: after a signal.
    """
    cluster, watch = cluster.with_patience(PATIENCE_SECONDS), Watch(deadline, say, seconds)
    states: dict[Ref, Readiness] = {
        Ref(kind, name): UNSEEN for kind, kind_names in names.items() for name in kind_names
    }
    waiting = set(states)
    while waiting:
        try:
            states |= _read_states(cluster, waiting, states, sensitive)
        except ClusterError as problem:
            states |= watch.without_answer(waiting, problem)
        watch.report(states)
        waiting = {ref for ref, state in states.items() if not (state.is_ready or state.is_hopeless)}
        if waiting and not watch.pause():
            break
    return states


def _read_states(
    cluster: Cluster, waiting: Collection[Ref], refs: Collection[Ref], sensitive: Sequence[str]
) -> dict[Ref, Readiness]:
    """Return the readiness of the objects of kinds that are waited for, with one request for each kind."""
    kinds = [kind for kind in KINDS.values() if any(ref.kind == kind.name for ref in waiting)]
    states: dict[Ref, Readiness] = {}
    for kind in kinds:
        live = {name_of(body): body for body in list_all(cluster, kind)}
        states |= {
            ref: read_readiness(live[ref.name], sensitive) if ref.name in live else GONE
            for ref in refs
            if ref.kind == kind.name
        }
    return states


class Watch:
    """The clock of a wait, and the last messages about it."""

    def __init__(self, deadline: Deadline, say: Callable[[Progress], None], seconds: float | None) -> None:
        """Start a wait of so many seconds at most."""
        self._deadline = deadline
        self._say = say
        self._began = time.monotonic()
        self._until = self._began + (math.inf if seconds is None else seconds)
        self._pause = _FIRST_PAUSE
        self._has_answer = False
        self._reported: dict[Ref, tuple[Readiness, float]] = {}

    def without_answer(self, waiting: Collection[Ref], problem: ClusterError) -> dict[Ref, Readiness]:
        """Return the states after a failed request, as a server may be unreachable for a moment.

        Raises:
            ClusterError: where no request ever succeeded.
        """
        if self._deadline.is_over:
            return {}
        if not self._has_answer:
            raise problem
        return dict.fromkeys(waiting, Readiness(is_ready=False, reason=str(problem), state="no answer"))

    def report(self, states: Mapping[Ref, Readiness]) -> None:
        """Report changed states, and every ten seconds the unchanged ones."""
        now = time.monotonic()
        self._has_answer = True
        for ref, readiness in states.items():
            before, reported_at = self._reported.get(ref, (None, now))
            is_news = before is None or _news(before) != _news(readiness)
            is_open = not (readiness.is_ready or readiness.is_hopeless)
            if is_news or (is_open and now - reported_at >= STILL_SECONDS):
                self._reported[ref] = readiness, now
                self._say(Progress(*ref, readiness, now - self._began, is_news))

    def pause(self) -> bool:
        """Wait for a moment; return False after the time limit.

        Raises:
            StoppedError: after a signal.
        """
        left = self._until - time.monotonic()
        if left <= 0 or self._deadline.is_over:
            return False
        self._deadline.pause(min(self._pause, left))
        self._pause = min(self._pause * _GROWTH, _LONGEST_PAUSE)
        return True


def _news(readiness: Readiness) -> tuple[bool, str]:
    return readiness.is_ready, readiness.state
