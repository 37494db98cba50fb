"""An apply that is told to end: it finishes what is under way, writes down what it did, and says so."""

from __future__ import annotations

import signal
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.rig.faults import Late, Reset, Through, never, unavailable
from tests.server import leases
from tests.server.applying.ends import finish, is_true
from tests.server.applying.scenes import (
    ONE_BY_ONE,
    SECOND,
    SECOND_WRITES,
    at_write,
    ended,
)
from tests.tiers import is_thorough

if TYPE_CHECKING:
    import subprocess

    from tests.rig.fault_proxy import Rule
    from tests.rig.faults import Fault
    from tests.server.applying.scenes import Clean, Scene

LAST = len(SECOND_WRITES)
SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
AT_EACH_WRITE = [
    (nth, number)
    for nth in range(1, LAST + 1)
    for place, number in enumerate(SIGNALS)
    if is_thorough() or nth % len(SIGNALS) == place
]
"""By default each write gets one of the signals, in turn."""

LAST_WORDS = SECOND_WRITES[-2:]
"""The inventory, and the lock given back."""

NOTICE_SECONDS = 0.3
"""So long after a process has got a signal, its handler has done its work."""

MOST_SECONDS = 30.0
"""A process that does not run for so long is not waited for any more."""


def tell(child: subprocess.Popen[str], *numbers: int) -> None:
    """Send signals, one after the other."""
    for number in numbers:
        before = went_to_sleep(child)
        child.send_signal(number)
        until = time.monotonic() + MOST_SECONDS
        # On a busy machine the process may not run at all for a while.
        while went_to_sleep(child) == before and child.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(NOTICE_SECONDS)


def went_to_sleep(child: subprocess.Popen[str]) -> str:
    """Return how often the process's main thread went to sleep; it does so again after each signal."""
    with suppress(OSError):
        lines = Path(f"/proc/{child.pid}/status").read_text("ascii").splitlines()
        return next(line for line in lines if line.startswith("voluntary_ctxt_switches"))
    return ""


def tell_when_struck(child: subprocess.Popen[str], rule: Rule, *numbers: int) -> threading.Thread:
    """Send signals once a fault has happened to a request."""

    def wait() -> None:
        while not rule.struck and child.poll() is None:
            time.sleep(0.02)
        time.sleep(NOTICE_SECONDS)
        tell(child, *numbers)

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


@pytest.mark.parametrize(
    ("nth", "number"),
    AT_EACH_WRITE,
    ids=[f"{nth} {SECOND_WRITES[nth - 1]} {number.name}" for nth, number in AT_EACH_WRITE],
)
def test_one_signal(first: Scene, clean: Clean, nth: int, number: signal.Signals) -> None:
    specs = clean(SECOND)
    child = first.start("apply", SECOND, *ONE_BY_ONE)
    first.faulty.committed = at_write(nth, partial(tell, child, number))

    said = ended(child)

    all_done = nth >= LAST - 1
    last_words = LAST_WORDS if nth > 1 else LAST_WORDS[1:]
    expected = SECOND_WRITES if all_done else (*SECOND_WRITES[:nth], *last_words)
    assert first.written() == list(expected)
    assert said.code == (0 if all_done else SIGNALS[number])
    assert leases.read(first.server, first.lock) is None
    assert is_true(first)
    if 1 < nth < LAST - 1:
        # The two objects that are kept count, the lock and the inventory do not.
        assert said.err.endswith(f": {nth} of 8 objects are done. Run the same command again to continue\n")
    finish(first, specs)


def test_with_several_writes_under_way(first: Scene, clean: Clean) -> None:
    specs = clean(SECOND)
    first.strike("PATCH EC2NodeClass", Late(0.5), times=2)
    child = first.start("apply", SECOND)
    first.faulty.committed = at_write(4, partial(tell, child, signal.SIGTERM))

    said = ended(child)

    assert said.code == 143
    assert sorted(first.written()) == sorted((*SECOND_WRITES[:4], *LAST_WORDS))
    assert is_true(first)
    finish(first, specs)


@pytest.mark.parametrize("nth", [3, 5, 7])
def test_two_signals(first: Scene, clean: Clean, nth: int) -> None:
    """Nothing more is written but the end of the lock; what was pending says what was under way."""
    specs = clean(SECOND)
    child = first.start("apply", SECOND, *ONE_BY_ONE)
    first.faulty.committed = at_write(nth, partial(tell, child, signal.SIGINT, signal.SIGTERM))

    said = ended(child)

    assert said.code == 143
    # The write that was under way is not waited for, so its line may come at any moment.
    assert "error: stopped by a signal" in said.err.splitlines()
    assert first.written() == [*SECOND_WRITES[:nth], SECOND_WRITES[-1]]
    assert "pending" in first.inventory()
    finish(first, specs)


READS = {
    "which cluster it is": "GET kube-system",
    "a list": "GET NodePool",
    "the inventory": "GET configmaps",
    "a dry run": "dry NodePool",
    "the lock": "POST leases",
}


@pytest.mark.parametrize(
    ("what", "fault"),
    [
        *((what, never()) for what in READS.values()),
        *((what, fault) for what in ("dry NodePool", "POST leases") for fault in (unavailable(30), Reset())),
    ],
    ids=[*READS, *(f"{what} {fault}" for what in ("a dry run", "the lock") for fault in ("away", "broken"))],
)
def test_before_anything_is_written(first: Scene, what: str, fault: Fault) -> None:
    """It waits for an answer, or for the next try, and ends at once."""
    rule = first.strike(what, fault, times=None)
    before = first.inventory()
    child = first.start("apply", SECOND)
    thread = tell_when_struck(child, rule, signal.SIGTERM)

    said = ended(child)

    thread.join()
    assert (said.code, said.err.splitlines()[-1]) == (143, "error: stopped by a signal")
    assert [each for each in first.written() if "leases" not in each] == []
    assert first.inventory() == before


@pytest.mark.parametrize("command", ["diff", "plan"])
def test_a_command_that_only_reads_ends_at_once(first: Scene, command: str) -> None:
    rule = first.strike("dry NodePool", never(), times=None)
    child = first.start(command, SECOND)
    thread = tell_when_struck(child, rule, signal.SIGINT)

    said = ended(child)

    thread.join()
    assert (said.code, said.out, said.err) == (130, "", "error: stopped by a signal\n")


@pytest.mark.parametrize(
    ("what", "after_answer"),
    [("PATCH EC2NodeClass/new", False), ("PATCH NodePool/new", True), ("DELETE NodePool/gone", True)],
    ids=["lost", "stored", "deleted"],
)
def test_a_write_that_is_never_answered(first: Scene, clean: Clean, what: str, after_answer: bool) -> None:
    """It is waited for a few seconds, and then nobody knows: the inventory lists what may be there."""
    specs = clean(SECOND)
    rule = first.strike(what, never(after_answer=after_answer), times=None)
    child = first.start("apply", SECOND, *ONE_BY_ONE)
    thread = tell_when_struck(child, rule, signal.SIGTERM)

    said = ended(child)

    thread.join()
    address = what.partition(" ")[2]
    assert said.code == 143
    assert "failed" in said.err
    assert "interrupted before the API server answered: it may have been applied" in said.err
    assert (what in first.written()) is after_answer
    assert first.written()[-2:] == list(LAST_WORDS)
    assert address in first.listed()
    finish(first, specs)


def test_a_count_that_is_never_answered(first: Scene, clean: Clean) -> None:
    """Nothing is deleted, and all that was written before is noted."""
    specs = clean(SECOND)
    # The plan counts once.
    rule = first.strike("GET NodeClaim", never(), times=None, skip=1)
    child = first.start("apply", SECOND, *ONE_BY_ONE)
    thread = tell_when_struck(child, rule, signal.SIGTERM)

    said = ended(child)

    thread.join()
    assert said.code == 143
    assert f"NodePool/{first.name}-gone not tried (delete): it was stopped" in said.err.splitlines()
    assert first.written() == [*SECOND_WRITES[:6], *LAST_WORDS]
    assert is_true(first)
    finish(first, specs)


def test_waiting_for_somebody_else(first: Scene) -> None:
    leases.held_by_another(first.server, first.lock)
    rule = first.strike("GET leases", Through())
    child = first.start("apply", SECOND)
    thread = tell_when_struck(child, rule, signal.SIGINT)

    said = ended(child)

    thread.join()
    assert (said.code, first.written()) == (130, [])
    assert leases.holder(first.server, first.lock) == leases.OTHER
    leases.delete(first.server, first.lock)


def test_unlock_ends_at_once(first: Scene) -> None:
    """It has nothing to put in order."""
    leases.held_by_another(first.server, first.lock)
    rule = first.strike("DELETE leases", never(), times=None)
    child = first.start("unlock", SECOND, leases.OTHER.split("/")[2])
    thread = tell_when_struck(child, rule, signal.SIGTERM)

    said = ended(child)

    thread.join()
    assert (said.code, said.err) == (143, "error: stopped by a signal\n")
    leases.delete(first.server, first.lock)
