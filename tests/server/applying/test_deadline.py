"""One deadline for all that an apply waits for, whatever the way to the server does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.rig.faults import (
    Fault,
    Trickle,
    never,
    unavailable,
)
from tests.server.applying.ends import assert_said, finish
from tests.server.applying.scenes import (
    CREATE,
    DELETE,
    INVENTORY,
    ONE_BY_ONE,
    RELEASE,
    SECOND,
    TAKE,
    UPDATE,
    ended,
)

if TYPE_CHECKING:
    from tests.rig.forwarding import Exchange
    from tests.server.applying.scenes import Clean, Scene


@dataclass(frozen=True)
class Drip:
    """Headers that come one after the other and never end."""

    def strike(self, exchange: Exchange) -> None:
        exchange.send_raw(b"HTTP/1.1 200 OK\r\n")
        while True:
            exchange.pause(0.2)
            exchange.send_raw(b"X-More: and more\r\n")


SILENT = {
    "a list": ("GET NodePool", 1),
    "the lock": (TAKE, 1),
    "an object": (CREATE, 7),
    "one that goes": (DELETE, 7),
}


@pytest.mark.parametrize(("words", "code"), SILENT.values(), ids=SILENT)
def test_the_deadline_counts_for_everything(first: Scene, clean: Clean, words: str, code: int) -> None:
    specs = clean(SECOND)
    first.strike(words, never(), times=None)

    said = ended(first.start("apply", SECOND, "--timeout", "6s", *ONE_BY_ONE))

    assert said.code == code
    assert_said(said, "no answer came in time; --timeout is 6 s")
    assert first.tries(words) == 1
    finish(first, specs)


@pytest.mark.parametrize("fault", [Drip(), Trickle(step=1, seconds=0.2)], ids=["headers", "a body"])
def test_what_comes_bit_by_bit_and_never_ends(first: Scene, fault: Fault) -> None:
    first.strike("GET NodePool", fault, times=None)

    said = ended(first.start("apply", SECOND, "--timeout", "6s"))

    assert said.code == 1
    assert_said(said, "no answer came in time; --timeout is 6 s")
    assert first.written() == []


@pytest.mark.parametrize(("words", "code"), [("GET NodePool", 1), (UPDATE, 7)], ids=["a list", "an object"])
def test_a_pause_that_is_longer_than_what_is_left(first: Scene, words: str, code: int) -> None:
    """Nobody sleeps through the deadline: what the server said last is the end of it."""
    first.strike(words, unavailable(retry_after=30), times=None)

    said = ended(first.start("apply", SECOND, "--timeout", "10s", *ONE_BY_ONE))

    assert said.code == code
    assert_said(said, "the API server answers 503: apiserver is shutting down")
    assert first.tries(words) == 1


@pytest.mark.parametrize(
    ("words", "skip", "code", "seconds"),
    [(INVENTORY, 1, 7, 5), (RELEASE, 0, 0, 4)],
    ids=["inventory", "lock"],
)
def test_last_words_that_nobody_answers(
    first: Scene, clean: Clean, words: str, skip: int, code: int, seconds: int
) -> None:
    specs = clean(SECOND)
    first.strike(words, never(), times=None, skip=skip)

    said = ended(first.start("apply", SECOND))

    assert said.code == code
    assert_said(said, f"no answer came in time; the time for it is {seconds} s")
    finish(first, specs)
