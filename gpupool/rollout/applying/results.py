"""What came of an apply, object by object, and the exit code that this is."""

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
"""More names than these say no more than their number."""

State: TypeAlias = Literal["done", "failed", "not tried", "held back", "not ready", "deleting"]
"""`deleting` is what was asked to go and is still there, or its nodes are."""


class Outcome(NamedTuple):
    """The outcome of an apply for one object."""

    ref: Ref
    action: str
    """`create`, `update`, `adopt`, `delete`, `move`, or `keep` for what was as it should be."""

    state: State
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
    """As of its outcome; empty for a class that the blueprint only refers to."""

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
    """Why there are no events; empty where they could be asked for."""

    commit: str
    """That of the last apply that left nothing undone; empty where it is not known, or is this one."""

    is_first: bool
    """Whether nothing was applied before."""


class Result(NamedTuple):
    """What came of a whole plan."""

    plan: str
    """Its id."""

    outcomes: tuple[Outcome, ...]
    notes: tuple[str, ...]
    charts: tuple[str, ...]
    """Helm commands for the charts whose values the blueprint renders."""

    uid: str
    """Of the cluster's kube-system namespace, for the blueprint's `cluster.uid`."""

    signal: int = 0
    """The signal that ended it early; 0 for none."""

    is_waited_for: bool = True
    """Whether the end of deletions was waited for."""

    unrecorded: str = ""
    """Why the inventory could not be written at the end; empty where it was."""

    unready: Unready | None = None
    """None where all that was waited for got Ready."""

    files: tuple[str, ...] = ()
    """Of the blueprint."""

    consent: Consent = Consent()

    @property
    def has_written(self) -> bool:
        """Return whether anything was changed."""
        return any(
            each.state in {"done", "not ready", "deleting"} and each.action != "keep"
            for each in self.outcomes
        )

    def of(self, *states: State) -> list[Outcome]:
        """Return the outcomes in some states."""
        return [each for each in self.outcomes if each.state in states]

    def record(self) -> Mapping[str, Plain]:
        """Count the outcomes for the inventory's history."""
        counts: dict[str, Plain] = {}
        for each in self.outcomes:
            done = each.action if each.state == "done" else each.state
            number = counts.get(done, 0)
            counts[done] = (number if isinstance(number, int) else 0) + 1
        return counts


def ensure_complete(result: Result) -> None:
    """Raise where something of a plan was not done.

    Raises:
        StoppedError: where a signal ended it.
        PartialError: where something failed, or was not tried, or could not be written down.
        NotReadyError: where all is written, and something is not Ready, or not gone.
        GuardError: where a deletion was held back.
    """
    if result.signal:
        raise StoppedError(result.signal, _progress(result))
    if left := result.of("failed", "not tried"):
        message = (
            f"apply incomplete: {join_names(_of(left))} not applied. Run the same command again to continue"
        )
        raise PartialError(message)
    if result.unrecorded:
        message = f"the inventory is not up to date: {result.unrecorded}. Run the same command again"
        raise PartialError(message)
    if waiting := result.of("not ready"):
        message = f"applied, but not Ready in time: {join_names(_of(waiting))}"
        raise NotReadyError(message)
    going = result.of("deleting")
    if going and result.is_waited_for:
        message = (
            f"not gone in time: {join_names([f'{each.address} {each.message}' for each in going], '; ')}"
        )
        raise NotReadyError(message)
    if held := result.of("held back"):
        why = join_names([f"{each.address}: {each.message}" for each in held], "; ")
        message = f"the rest was applied; blocked: {why}"
        raise GuardError(message)


def _progress(result: Result) -> str:
    done = len(result.of("done"))
    return f"{done} of {len(result.outcomes)} objects are done. Run the same command again to continue"


def join_names(found: Sequence[str], between: str = ", ") -> str:
    """Return the first names of a list that may be long, and how many more there are."""
    more = len(found) - _MOST
    return between.join([*found[:_MOST], *([f"{more} more"] if more > 0 else [])])


def _of(outcomes: Sequence[Outcome]) -> list[str]:
    return [each.address for each in outcomes]
