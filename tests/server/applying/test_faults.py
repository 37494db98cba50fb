"""An apply on a way on which things go wrong: what passes is waited for, what does not is said, nothing is lost."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from gpupool.cluster import kube
from gpupool.cluster.deadline import Deadline
from tests.cli.run import gpupool
from tests.rig.faults import (
    Cut,
    Fault,
    Instead,
    Late,
    Reset,
    Trickle,
    bad_gateway,
    failing_webhook,
    gateway_timeout,
    too_many_requests,
    typed_patch,
    unavailable,
)
from tests.rig.forwarding import Answered
from tests.server import leases
from tests.server.applying.ends import assert_said, ensure_converged, ensure_own, finish, is_true
from tests.server.applying.scenes import (
    CREATE,
    DELETE,
    INVENTORY,
    ONE_BY_ONE,
    READING,
    RELEASE,
    SECOND,
    TAKE,
    UPDATE,
    WRITING,
)

if TYPE_CHECKING:
    from tests.rig.forwarding import Exchange
    from tests.server.applying.scenes import Clean, Scene


def refusal(status: int, reason: str) -> Instead:
    """Answer as a server that means it."""
    body = {
        "kind": "Status",
        "status": "Failure",
        "reason": reason,
        "message": f"no: {reason}",
        "code": status,
    }
    return Instead(Answered(status, (("Content-Type", "application/json"),), json.dumps(body).encode()))


PAGE = Instead(Answered(200, (("Content-Type", "text/html"),), b"<html>Sign in to this network</html>"))
"""What somebody between the two says in the server's place."""

DEEP = Instead(Answered(200, (("Content-Type", "application/json"),), b"[" * 100_000))
"""JSON that no reader of JSON follows to its end."""

PASSING = {
    "429": too_many_requests(),
    "500 of a webhook": failing_webhook(),
    "502": bad_gateway(),
    "503": unavailable(),
    "504": gateway_timeout(),
    "reset before": Reset(),
    "reset after": Reset(after_answer=True),
    "half a body": Cut(),
    "half a chunk": Cut(chunked=True),
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_what_passes(first: Scene, clean: Clean, fault: Fault) -> None:
    """It happens once to every kind of request; the inventory is written twice."""
    specs = clean(SECOND)
    for words in (*READING, *WRITING):
        first.strike(words, fault)
    first.strike(INVENTORY, fault, skip=1)

    said = first.run("apply", SECOND, *ONE_BY_ONE)

    assert said.code == 0, said.err
    assert "Traceback" not in said.err
    assert [rule.struck for rule in first.faulty.rules] == [1] * len(first.faulty.rules)
    first.faulty.rules = []
    ensure_converged(first, SECOND, specs)


@pytest.mark.parametrize("fault", [Trickle(step=400, seconds=0.01), Late(0.2)], ids=["trickle", "late"])
def test_what_is_slow(first: Scene, clean: Clean, fault: Fault) -> None:
    specs = clean(SECOND)
    first.strike("", fault, times=None)

    said = first.run("apply", SECOND)

    assert said.code == 0, said.err
    first.faulty.rules = []
    ensure_converged(first, SECOND, specs)


@pytest.mark.parametrize("fault", [too_many_requests(1), unavailable(1)], ids=["429", "503"])
def test_the_server_says_when_to_come_again(
    first: Scene, clean: Clean, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    specs = clean(SECOND)
    monkeypatch.undo()  # here the pauses count
    for words in ("GET NodePool", UPDATE, DELETE):
        first.strike(words, fault)

    said = first.run("apply", SECOND, *ONE_BY_ONE)

    assert said.code == 0, said.err
    for words in ("GET NodePool", UPDATE, DELETE):
        one, other = [each.at for each in first.faulty.seen if first.short(each) == words][:2]
        assert other - one >= 1
    first.faulty.rules = []
    ensure_converged(first, SECOND, specs)


@pytest.mark.parametrize("words", ["GET NodePool", UPDATE], ids=["a list", "an object"])
def test_pauses_grow_and_have_chance_in_them(
    first: Scene, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    """Many jobs that were refused at one moment do not come again at one moment."""
    pauses: list[float] = []
    skip = Deadline.pause

    def pause(self: Deadline, seconds: float) -> None:
        pauses.append(seconds)
        skip(self, seconds)

    monkeypatch.setattr(Deadline, "pause", pause)
    first.strike(words, unavailable(), times=None)

    said = first.run("apply", SECOND, *ONE_BY_ONE)

    assert said.code in {1, 7}
    assert len(pauses) >= MANY - 1
    longest = [min(0.25 * 2.0 ** min(nth, 7), 30.0) for nth in range(len(pauses))]
    parts = [pause / most for pause, most in zip(pauses, longest, strict=True)]
    assert [part for part in parts if not 0.5 <= part <= 1] == []
    assert len(set(parts)) > len(parts) / 2


MANY = 20
"""At least so often something is asked within ten minutes, with pauses of up to half a minute."""

LASTING: dict[str, tuple[Fault, int, str]] = {
    "429 with Retry-After": (too_many_requests(5), MANY, "the API server answers 429: Too many requests"),
    "429": (too_many_requests(), MANY, "the API server answers 429: Too many requests"),
    "503": (unavailable(), MANY, "the API server answers 503: apiserver is shutting down"),
    "504": (gateway_timeout(), MANY, "the API server answers 504: Timeout: request did not complete"),
    "500 of a webhook": (
        failing_webhook(),
        MANY,
        "the API server answers 500: Internal error occurred: failed",
    ),
    "500 of a field": (typed_patch(), 1, ".spec.limit: field not declared in schema"),
    "422": (refusal(422, "Invalid"), 1, "the API server answers 422: no: Invalid"),
    "403": (refusal(403, "Forbidden"), 1, "the API server answers 403: no: Forbidden"),
    "400": (refusal(400, "BadRequest"), 1, "the API server answers 400: no: BadRequest"),
    "a page": (PAGE, MANY, "its answer is not JSON: <html>Sign in to this network</html> ("),
    "deep JSON": (DEEP, MANY, "its answer is not JSON: [[["),
    "reset": (Reset(after_answer=True), MANY, " attempts); "),
    "half a body": (Cut(), MANY, "more expected) ("),
}
"""Each with the number of times that it is asked at least, and what is said."""


def assert_asked(scene: Scene, words: str, times: int) -> None:
    """Ensure that something was asked once, or until the time was up."""
    tries = scene.tries(words)
    assert tries == 1 if times == 1 else tries >= times


BEFORE = {
    "which cluster it is": READING[0],
    "a list": READING[1],
    "the inventory": READING[2],
    "a dry run": READING[3],
    "the lock": TAKE,
    "the inventory's first words": INVENTORY,
}
SOME = ("503", "reset", "a page")
MORE = (*SOME, "500 of a webhook", "500 of a field", "422", "half a body")


@pytest.mark.parametrize(
    ("what", "fault"),
    [("a list", fault) for fault in LASTING]
    + [(what, fault) for what in BEFORE if what != "a list" for fault in SOME],
)
def test_what_lasts_before_anything_is_written(first: Scene, what: str, fault: str) -> None:
    before = first.versions()
    happens, times, words = LASTING[fault]
    first.strike(BEFORE[what], happens, times=None)

    said = first.run("apply", SECOND, *ONE_BY_ONE)

    assert said.code == 1
    assert_said(said, words)
    # A list of all kinds goes on while one of them fails, so that others may be asked as well.
    assert_asked(first, BEFORE[what], times)
    assert first.versions() == before
    assert leases.read(first.server, first.lock) is None
    ensure_own(first)


AFTER = {"an object to come": CREATE, "an object that changes": UPDATE, "one that goes": DELETE}


@pytest.mark.parametrize(
    ("what", "fault"),
    [("an object that changes", fault) for fault in MORE]
    + [(what, fault) for what in AFTER if what != "an object that changes" for fault in SOME],
)
def test_what_lasts_while_it_is_written(first: Scene, clean: Clean, what: str, fault: str) -> None:
    specs = clean(SECOND)
    happens, times, words = LASTING[fault]
    first.strike(AFTER[what], happens, times=None)

    said = first.run("apply", SECOND, *ONE_BY_ONE)

    assert said.code == 7
    assert_said(said, words)
    assert "not applied. Run the same command again to continue" in said.err
    assert_asked(first, AFTER[what], times)
    assert set(first.listed()) >= set(first.live())
    assert "pending" not in first.inventory()
    finish(first, specs)


@pytest.mark.parametrize("fault", SOME)
def test_the_inventory_s_last_words(first: Scene, clean: Clean, fault: str) -> None:
    """All is done, and nobody could write it down."""
    specs = clean(SECOND)
    happens, _times, words = LASTING[fault]
    first.strike(INVENTORY, happens, times=None, skip=1)

    said = first.run("apply", SECOND, *ONE_BY_ONE)

    assert said.code == 7
    assert_said(said, words)
    assert "the inventory is not up to date" in said.err
    assert "2 configured, 2 unchanged, 2 created, 2 deleted" in said.err
    assert first.tries(INVENTORY) > 2
    finish(first, specs)


@pytest.mark.parametrize("fault", SOME)
def test_the_lock_s_end(first: Scene, clean: Clean, fault: str) -> None:
    specs = clean(SECOND)
    happens, _times, words = LASTING[fault]
    first.strike(RELEASE, happens, times=None)

    said = first.run("apply", SECOND, *ONE_BY_ONE)

    assert said.code == 0
    assert_said(said, words)
    assert "it expires by itself" in said.err
    assert first.tries(RELEASE) > 2
    assert is_true(first)
    finish(first, specs)


MISTAKES = {
    "422": refusal(422, "Invalid"),
    "400": refusal(400, "BadRequest"),
    "500 of a field": typed_patch(),
}


@pytest.mark.parametrize("fault", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_said_at_once(first: Scene, fault: Fault) -> None:
    first.strike("dry NodePool/change", fault, times=None)

    said = first.run("apply", SECOND)

    assert said.code == 1
    assert f"the API server rejects NodePool/{first.name}-change; nothing was applied" in said.err
    assert first.tries("dry NodePool/change") == 1
    assert first.written() == []


@dataclass
class Endless:
    """A body that never ends."""

    sent: int = 0

    def strike(self, exchange: Exchange) -> None:
        answered = Answered(200, (("Content-Type", "application/json"),), b"")
        exchange.send_head(answered, ("Transfer-Encoding", "chunked"))
        while True:
            exchange.send_raw(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
            self.sent += 0x10000


def test_an_answer_without_an_end_is_given_up(first: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long before it fills the memory; nobody asks for it again."""
    monkeypatch.setattr(kube, "_MOST_BYTES", 1 << 20)
    endless = Endless()
    first.strike("GET NodePool", endless)

    said = first.run("apply", SECOND, *ONE_BY_ONE)

    assert said.code == 1
    assert_said(said, "its answer has more than 1 MiB")
    # What the sockets hold in between is sent as well.
    assert endless.sent < 16 << 20
    assert first.written() == []


def test_nobody_listens(scene: Scene) -> None:
    words = scene.words("apply", SECOND)
    scene.faulty.end()

    said = gpupool(scene.capsys, *words)

    assert said.code == 1
    assert_said(said, "Connection refused (")
