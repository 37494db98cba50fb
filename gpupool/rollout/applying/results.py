"""Results of an apply: outcomes by object, and the error that they amount to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from gpupool.errors import GuardError, NotReadyError, PartialError, StoppedError
from gpupool.planning.plan import Consent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gpupool.objects import Ref
    from gpupool.rollout.watch.events import WarningEvent
    from gpupool.yamlio.located import Plain

_MOST: Final = 8
"""The number of names in a message; further ones are only counted."""

OutcomeState: TypeAlias = Literal["done", "failed", "not tried", "held back", "not ready", "deleting"]
"""`deleting` is an object that still exists after its deletion, or whose nodes do."""


class Outcome(NamedTuple):
    """The outcome of an apply for one object."""

    ref: Ref
    action: str
    """`create`, `update`, `adopt`, `delete`, `move`, or `keep` for an object without changes."""

    state: OutcomeState
    message: str = ""
    uid: str = ""
    generation: int = 0

    @property
    def address(self) -> str:
        """Return `KIND/NAME`."""
        return str(self.ref)


class LateClass(NamedTuple):
    """An EC2NodeClass that did not get Ready."""

    ref: Ref
    action: str
    """The action of its outcome; empty for a class that the blueprint only refers to."""

    reason: str

    @property
    def address(self) -> str:
        """Return `KIND/NAME`."""
        return str(self.ref)


class Unready(NamedTuple):
    """The state of the objects that did not get Ready."""

    classes: tuple[LateClass, ...]
    events: Mapping[Ref, tuple[WarningEvent, ...]]
    """The newest warnings about them."""

    note: str
    """Why there are no events; empty where they could be read."""

    commit: str
    """The commit of the last complete apply; empty where it is unknown or the present one."""

    is_first: bool
    """Whether this is the first apply."""


class Result(NamedTuple):
    """The result of a plan."""

    plan: str
    """The plan's id."""

    outcomes: tuple[Outcome, ...]
    notes: tuple[str, ...]
    charts: tuple[str, ...]
    """Helm commands for the charts whose values the blueprint renders."""

    uid: str
    """The uid of the namespace kube-system, for the blueprint's `cluster.uid`."""

    signal: int = 0
    """The signal that ended the apply; 0 for none."""

    is_waited_for: bool = True
    """Whether the apply waited for the end of deletions."""

    unrecorded: str = ""
    """Why the inventory could not be written at the end; empty where it was written."""

    unready: Unready | None = None
    """None where everything that was waited for got Ready."""

    files: tuple[str, ...] = ()
    """The blueprint's files."""

    consent: Consent = Consent()

    @property
    def has_written(self) -> bool:
        """Return whether any object was changed."""
        return any(
            outcome.state in {"done", "not ready", "deleting"} and outcome.action != "keep"
            for outcome in self.outcomes
        )

    def of(self, *states: OutcomeState) -> list[Outcome]:
        """Return the outcomes in some states."""
        return [outcome for outcome in self.outcomes if outcome.state in states]

    def record(self) -> Mapping[str, Plain]:
        """Count the outcomes for the inventory's history."""
        counts: dict[str, Plain] = {}
        for outcome in self.outcomes:
            key = outcome.action if outcome.state == "done" else outcome.state
            count = counts.get(key, 0)
            counts[key] = (count if isinstance(count, int) else 0) + 1
        return counts


def ensure_complete(result: Result) -> None:
    """Raise an error where a plan is not completely applied.

    Raises:
        StoppedError: where a signal ended it.
        PartialError: where an object failed or was skipped, or the inventory could not be written.
        NotReadyError: where everything is written, but an object is not Ready or not deleted in time.
        GuardError: where a deletion was blocked.
    """
    if result.signal:
        raise StoppedError(result.signal, _progress(result))
    if undone := result.of("failed", "not tried"):
        addresses = join_names(_addresses(undone))
        message = f"apply incomplete: {addresses} not applied. Run the same command again to continue"
        raise PartialError(message)
    if result.unrecorded:
        message = f"the inventory is not up to date: {result.unrecorded}. Run the same command again"
        raise PartialError(message)
    if unready := result.of("not ready"):
        message = f"applied, but not Ready in time: {join_names(_addresses(unready))}"
        raise NotReadyError(message)
    deleting = result.of("deleting")
    if deleting and result.is_waited_for:
        reasons = join_names([f"{outcome.address} {outcome.message}" for outcome in deleting], "; ")
        message = f"not deleted in time: {reasons}"
        raise NotReadyError(message)
    if blocked := result.of("held back"):
        reasons = join_names([f"{outcome.address}: {outcome.message}" for outcome in blocked], "; ")
        message = f"the rest was applied; blocked: {reasons}"
        raise GuardError(message)


def _progress(result: Result) -> str:
    done = len(result.of("done"))
    return f"{done} of {len(result.outcomes)} objects are done. Run the same command again to continue"


def join_names(names: Sequence[str], separator: str = ", ") -> str:
    """Return the first names of a list, and the number of further ones."""
    more = len(names) - _MOST
    return separator.join([*names[:_MOST], *([f"{more} more"] if more > 0 else [])])


def _addresses(outcomes: Sequence[Outcome]) -> list[str]:
    return [outcome.address for outcome in outcomes]
