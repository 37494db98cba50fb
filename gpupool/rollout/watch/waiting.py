"""Whether Karpenter has taken an object, and waiting until it has."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.listing import list_all
from gpupool.cluster.resources import KINDS
from gpupool.errors import ClusterError
from gpupool.objects import Ref
from gpupool.planning.masking import sensitive_values
from gpupool.planning.message_redaction import without
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
"""What the others wait for comes first."""

_NOT_BEGUN: Final = "AwaitingReconciliation"
_DEPENDENT: Final = "DependenciesNotReady"
"""A reason that says no more than that other conditions come first."""

_FIRST_PAUSE, _LONGEST_PAUSE, _GROWTH = 0.2, 2.0, 1.5
PATIENCE_SECONDS: Final = 5.0
"""So long one look is tried again before it is said that the server does not answer."""

STILL_SECONDS: Final = 10.0
"""After so long without news it is said that nothing is new."""


class Condition(NamedTuple):
    """One condition of a status."""

    type: str
    status: str
    reason: str
    message: str
    generation: int | None
    """The generation of the object that it is about; None where it does not say."""

    @property
    def words(self) -> str:
        """Return it in one line; a reason that says nothing new is left out."""
        reason = "" if self.reason == self.type else self.reason
        message = "" if self.message == self.reason else " ".join(self.message.split())
        return ": ".join(part for part in (self.state, reason, message) if part)

    @property
    def state(self) -> str:
        """Return what it says without why."""
        return f"{self.type}={self.status}"

    def is_about(self, generation: int) -> bool:
        """Return whether Karpenter has come to a result for this generation of the object."""
        is_old = self.generation is not None and self.generation < generation
        return not is_old and self.reason != _NOT_BEGUN

    def holds(self, generation: int) -> bool:
        """Return whether it is True of this generation, as far as Ready depends on it."""
        return self.type in INFORMATIONAL or (self.status == "True" and self.is_about(generation))


class Readiness(NamedTuple):
    """Whether an object is Ready."""

    is_ready: bool
    reason: str = ""
    """Why it is not."""

    state: str = ""
    """The part of the reason that changes only with news: messages of AWS have a new id in each try."""

    is_hopeless: bool = False
    """Whether waiting brings nothing: it is gone, or about to be."""


class Progress(NamedTuple):
    """What is told of an object while it is waited for."""

    kind: str
    name: str
    readiness: Readiness
    seconds: float
    """Since when it is waited for."""

    is_news: bool
    """False where it is as it was ten seconds ago."""


UNSEEN: Final = Readiness(is_ready=False, reason="not checked: timed out")
GONE: Final = Readiness(is_ready=False, reason="does not exist", is_hopeless=True)


def read_readiness(body: Mapping[str, Plain], sensitive: Sequence[str] = ()) -> Readiness:
    """Return whether Karpenter has accepted an object as it is now; `sensitive` is the blueprint's."""
    if leaving := describe_termination(body):
        return Readiness(is_ready=False, reason=leaving, is_hopeless=True)
    found = {each.type: each for each in read_conditions(body, sensitive)}
    if not found:
        return _not_ready(["no status yet: is Karpenter running?"])
    root, generation = found.get(READY), generation_of(body)
    if root is not None and root.generation is not None and root.generation < generation:
        return _not_ready([f"not reconciled by Karpenter since the last change ({root.state} before)"])
    if root is not None and root.status == "True":
        return Readiness(is_ready=True)
    return _unready(found, root, body)


def _unready(found: Mapping[str, Condition], root: Condition | None, body: Mapping[str, Plain]) -> Readiness:
    """Name the conditions at fault; not those that only say that others are."""
    now = generation_of(body)
    missing = sorted((each for each in found.values() if not each.holds(now)), key=_rank)
    judged = [each for each in missing if each.is_about(now)]
    silent = [each.type for each in missing if not each.is_about(now)]
    causes = [each for each in judged if each.reason != _DEPENDENT]
    said = [each.words for each in (causes if causes or silent else judged)]
    if silent:
        # Karpenter judges all conditions of a class in one go; it writes nothing into those it fails on.
        has_tried = has_class_conditions(found) and any(
            each.is_about(now) for each in found.values() if each.type not in INFORMATIONAL
        )
        said.append(
            describe_no_result(silent, body) if has_tried else f"not reconciled yet: {', '.join(silent)}"
        )
    if not missing:
        said = [root.words if root else "it has no condition Ready yet"]
    states = [f"{each.state} {each.reason} {each.is_about(now)}" for each in missing]
    return _not_ready(said, "; ".join(states))


def _not_ready(said: Iterable[str], state: str = "") -> Readiness:
    reason = "; ".join(said)
    return Readiness(is_ready=False, reason=reason, state=state or reason)


def _rank(condition: Condition) -> tuple[bool, int, str]:
    known = condition.type in _ROOTS
    return condition.status != "False", _ROOTS.index(condition.type) if known else len(_ROOTS), condition.type


def read_conditions(body: Mapping[str, Plain], sensitive: Sequence[str] = ()) -> Iterator[Condition]:
    """Yield the conditions of an object's status; what they quote of its own secrets is cut out.

    Those are what is sensitive in every blueprint, and what `sensitive` of this one names.
    """
    for each in plain_list(plain_map(body.get("status")).get("conditions")):
        said = plain_map(each)
        generation, message = said.get("observedGeneration"), plain_text(said.get("message"))
        if message and said.get("status") != "True":
            message = without(message, sensitive_values(sensitive, dict(body)))
        yield Condition(
            plain_text(said.get("type")),
            plain_text(said.get("status")),
            plain_text(said.get("reason")),
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
    """Wait until objects, by kind and name, are Ready, and give how each of them was when that ended.

    What `sensitive` names, as in the blueprint, is cut out of what conditions say. It ends in good order when
    so many seconds have passed, or the command's time is up. Who waits for
    NodeOverlays has to know that Karpenter's feature gate for them is on: nobody looks at them otherwise.

    Raises:
        ClusterError: where the objects can't be listed, and never could.
        StoppedError: where a signal came.
    """
    cluster, watch = cluster.with_patience(PATIENCE_SECONDS), Watch(deadline, say, seconds)
    known: dict[Ref, Readiness] = {Ref(kind, name): UNSEEN for kind, each in names.items() for name in each}
    waiting = set(known)
    while waiting:
        try:
            known |= _look(cluster, waiting, known, sensitive)
        except ClusterError as problem:
            known |= watch.without_answer(waiting, problem)
        watch.tell(known)
        waiting = {key for key, each in known.items() if not (each.is_ready or each.is_hopeless)}
        if waiting and not watch.pause():
            break
    return known


def _look(
    cluster: Cluster, waiting: Collection[Ref], known: Collection[Ref], sensitive: Sequence[str]
) -> dict[Ref, Readiness]:
    """Judge every object of the kinds that are waited for: one request for each kind, whatever there is."""
    kinds = [kind for kind in KINDS.values() if any(kind.name == each for each, _ in waiting)]
    found: dict[Ref, Readiness] = {}
    for kind in kinds:
        live = {name_of(body): body for body in list_all(cluster, kind)}
        found |= {
            ref: read_readiness(live[ref.name], sensitive) if ref.name in live else GONE
            for ref in known
            if ref.kind == kind.name
        }
    return found


class Watch:
    """The clock of a wait, and what was told last."""

    def __init__(self, deadline: Deadline, say: Callable[[Progress], None], seconds: float | None) -> None:
        """Begin to wait, for so many seconds at most."""
        self._deadline = deadline
        self._say = say
        self._began = time.monotonic()
        self._until = self._began + (math.inf if seconds is None else seconds)
        self._pause = _FIRST_PAUSE
        self._has_looked = False
        self._told: dict[Ref, tuple[Readiness, float]] = {}

    def without_answer(self, waiting: Collection[Ref], problem: ClusterError) -> dict[Ref, Readiness]:
        """Return what is known when a look failed: a server may be away for a moment.

        Raises:
            ClusterError: where no look ever succeeded.
        """
        if self._deadline.is_over:
            return {}
        if not self._has_looked:
            raise problem
        return dict.fromkeys(waiting, Readiness(is_ready=False, reason=str(problem), state="no answer"))

    def tell(self, known: Mapping[Ref, Readiness]) -> None:
        """Tell what is new, and every ten seconds what is still so."""
        now = time.monotonic()
        self._has_looked = True
        for ref, readiness in known.items():
            before, at = self._told.get(ref, (None, now))
            is_news = before is None or _news(before) != _news(readiness)
            is_open = not (readiness.is_ready or readiness.is_hopeless)
            if is_news or (is_open and now - at >= STILL_SECONDS):
                self._told[ref] = readiness, now
                self._say(Progress(*ref, readiness, now - self._began, is_news))

    def pause(self) -> bool:
        """Wait for a moment; False where it is over.

        Raises:
            StoppedError: where a signal came.
        """
        left = self._until - time.monotonic()
        if left <= 0 or self._deadline.is_over:
            return False
        self._deadline.pause(min(self._pause, left))
        self._pause = min(self._pause * _GROWTH, _LONGEST_PAUSE)
        return True


def _news(readiness: Readiness) -> tuple[bool, str]:
    return readiness.is_ready, readiness.state
