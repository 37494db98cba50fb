"""Others that write while an apply is under way: nothing of theirs is lost, and nothing goes on for ever."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

from tests.cli.run import SECONDS
from tests.rig.fault_proxy import Rule
from tests.rig.faults import (
    conflict,
)
from tests.server import statuses
from tests.server.applying.ends import assert_said, ensure_converged, finish, is_true
from tests.server.applying.scenes import (
    CREATE,
    DELETE,
    INVENTORY,
    NAMESPACE,
    ONE_BY_ONE,
    SECOND,
    TAKE,
    UPDATE,
    killed,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.rig.forwarding import Asked, Exchange
    from tests.server.applying.scenes import Clean, Scene

_NUMBERS = count(1)


def test_a_status_that_is_written_all_the_time(first: Scene, clean: Clean) -> None:
    specs = clean(SECOND)
    noise = noisy(first, UPDATE, times=3)
    more = noisy(first, DELETE, times=3)

    said = first.run("apply", SECOND, *ONE_BY_ONE)

    assert said.code == 0, said.err
    assert (noise.struck, more.struck) == (3, 3)
    assert (first.tries(UPDATE), first.tries(DELETE)) == (4, 4)
    first.faulty.rules = []
    ensure_converged(first, SECOND, specs)


@pytest.mark.parametrize("words", [UPDATE, DELETE], ids=["an update", "a deletion"])
def test_a_status_that_never_stands_still(first: Scene, clean: Clean, words: str) -> None:
    specs = clean(SECOND)
    noisy(first, words, times=None)

    said = first.run("apply", SECOND, *ONE_BY_ONE)

    assert said.code == 7
    assert_said(said, "it keeps changing")
    assert first.tries(words) == 10
    assert is_true(first)
    finish(first, specs)


def noisy(scene: Scene, words: str, times: int | None) -> Rule:
    """Let the status of an object be written right before each of some requests."""
    kind, _, name = words.partition(" ")[2].partition("/")
    rule = Rule(scene.matching(words), Noise(scene, kind, name), times)
    scene.faulty.rules.append(rule)
    return rule


@dataclass(frozen=True)
class Noise:
    """A controller that writes an object's status just before the request arrives."""

    scene: Scene
    kind: str
    name: str

    def strike(self, exchange: Exchange) -> None:
        body = {"status": {"resources": {"cpu": str(next(_NUMBERS))}}}
        statuses.patch(self.scene.server, self.kind, f"{self.scene.name}-{self.name}", body, "/status")
        exchange.send(exchange.forward())


def test_what_somebody_says_in_between_is_not_overwritten(first: Scene, clean: Clean) -> None:
    """After the plan was held against the cluster, and before the write."""
    specs = clean(SECOND)
    said_by_him = {"spec": {"weight": 77}}
    first.faulty.rules = [Rule(first.matching(UPDATE), Edit(first, "NodePool", "change", said_by_him))]

    said = first.run("apply", SECOND, *ONE_BY_ONE)

    assert said.code == 7
    assert "Apply failed with 1 conflict" in said.err
    assert ".spec.weight" in said.err
    assert first.live()["NodePool/change"]["spec"]["weight"] == 77
    assert first.run("apply", SECOND).code == 4
    assert first.run("apply", SECOND, "--on-conflict", "take").code == 0
    ensure_converged(first, SECOND, specs)


def test_what_somebody_says_elsewhere_is_kept(first: Scene) -> None:
    """It is not for the blueprint to say, so both are right."""
    said_by_him = {"metadata": {"annotations": {"team.example/note": "his"}}}
    first.faulty.rules = [Rule(first.matching(UPDATE), Edit(first, "NodePool", "change", said_by_him))]

    said = first.run("apply", SECOND, *ONE_BY_ONE)

    assert said.code == 0, said.err
    now = first.live()["NodePool/change"]
    assert (now["metadata"]["annotations"], now["spec"]["weight"]) == ({"team.example/note": "his"}, 20)


def test_what_is_gone_in_between_is_not_made_anew(first: Scene, clean: Clean) -> None:
    specs = clean(SECOND)
    first.faulty.rules = [Rule(first.matching(UPDATE), Gone(first, "NodePool", "change"))]

    said = first.run("apply", SECOND, *ONE_BY_ONE)

    assert said.code == 7
    assert "NodePool/change was deleted since" in said.err.replace(f"{first.name}-", "")
    assert "NodePool/change" not in first.live()
    finish(first, specs)


def test_what_is_gone_already_counts_as_deleted(first: Scene, clean: Clean) -> None:
    specs = clean(SECOND)
    first.faulty.rules = [Rule(first.matching(DELETE), Gone(first, "NodePool", "gone"))]

    said = first.run("apply", SECOND, *ONE_BY_ONE)

    assert said.code == 0, said.err
    first.faulty.rules = []
    ensure_converged(first, SECOND, specs)


@dataclass(frozen=True)
class Edit:
    """Somebody who writes an object just before the request arrives."""

    scene: Scene
    kind: str
    name: str
    body: Mapping[str, object]

    def strike(self, exchange: Exchange) -> None:
        statuses.patch(self.scene.server, self.kind, f"{self.scene.name}-{self.name}", self.body)
        exchange.send(exchange.forward())


@dataclass(frozen=True)
class Gone:
    """Somebody who deletes an object just before the request arrives."""

    scene: Scene
    kind: str
    name: str

    def strike(self, exchange: Exchange) -> None:
        statuses.delete(self.scene.server, self.kind, f"{self.scene.name}-{self.name}")
        exchange.send(exchange.forward())


@dataclass(frozen=True)
class Label:
    """Somebody who labels the inventory just before the request arrives."""

    scene: Scene

    def strike(self, exchange: Exchange) -> None:
        body = json.dumps({"metadata": {"labels": {"team.example/n": str(next(_NUMBERS))}}}).encode()
        path = f"/api/v1/namespaces/{NAMESPACE}/configmaps/{self.scene.lock}"
        answer = self.scene.server.request("PATCH", path, body, "application/merge-patch+json")
        assert answer.status == 200
        exchange.send(exchange.forward())


@pytest.mark.parametrize("skip", [0, 1], ids=["first words", "last words"])
def test_an_inventory_that_somebody_labels(first: Scene, clean: Clean, skip: int) -> None:
    specs = clean(SECOND)
    first.faulty.rules = [Rule(first.matching(INVENTORY), Label(first), times=3, skip=skip)]

    said = first.run("apply", SECOND)

    assert said.code == 0, said.err
    assert first.tries(INVENTORY) == 5
    first.faulty.rules = []
    ensure_converged(first, SECOND, specs)


@pytest.mark.parametrize(("skip", "code"), [(0, 5), (1, 7)], ids=["first words", "last words"])
def test_an_inventory_that_somebody_labels_all_the_time(
    first: Scene, clean: Clean, skip: int, code: int
) -> None:
    specs = clean(SECOND)
    first.faulty.rules = [Rule(first.matching(INVENTORY), Label(first), times=None, skip=skip)]

    said = first.run("apply", SECOND)

    assert said.code == code
    assert_said(said, "was changed by another writer in the meantime")
    assert first.tries(INVENTORY) == 10 + skip
    finish(first, specs)


@pytest.mark.parametrize("times", [1, None], ids=["once", "always"])
def test_a_lock_that_others_snatch_away(first: Scene, clean: Clean, times: int | None) -> None:
    """The server says that there is one, and then there is none."""
    specs = clean(SECOND)
    first.strike(TAKE, conflict(), times)

    said = first.run("apply", SECOND, "--lock-timeout", "2s")

    assert said.code == (3 if times is None else 0)
    if times is None:
        assert "could not be acquired: other runs keep acquiring it" in said.err
        assert first.written() == []
    finish(first, specs)


@dataclass(frozen=True)
class Launch:
    """Karpenter, which launches a node of a pool just before a request arrives, and says so in the pool's status."""

    scene: Scene
    pool: str

    @property
    def node(self) -> str:
        return f"node-of-{self.scene.name}"

    def strike(self, exchange: Exchange) -> None:
        statuses.claim(self.scene.server, self.node, f"{self.scene.name}-{self.pool}")
        Noise(self.scene, "NodePool", self.pool).strike(exchange)


class Moment(NamedTuple):
    """The request before which a node comes."""

    words: str
    skip: int = 0
    """How many requests of these words the plan sends, a good while before."""

    is_second_try: bool = False
    """Whether the pool's status is written before its first deletion, so that all begins anew for it."""


BEFORE_IT_IS_DELETED: Final = {
    "its deletion": Moment(DELETE),
    "its count": Moment("GET NodeClaim", skip=1),
    "it is listed": Moment("GET NodePool", skip=1),
    "its second deletion": Moment(DELETE, is_second_try=True),
    "its second count": Moment("GET NodeClaim", skip=2, is_second_try=True),
    "it is read again": Moment("GET NodePool/gone", is_second_try=True),
}


@pytest.mark.parametrize("moment", BEFORE_IT_IS_DELETED.values(), ids=BEFORE_IT_IS_DELETED)
def test_a_node_that_comes_at_the_last_moment_keeps_its_pool(
    first: Scene, clean: Clean, moment: Moment
) -> None:
    specs = clean(SECOND)
    launch = Launch(first, "gone")
    noise = [noisy(first, DELETE, times=1)] if moment.is_second_try else []
    first.faulty.rules = [*noise, Rule(first.matching(moment.words), launch, skip=moment.skip)]

    said = first.run("apply", SECOND, *ONE_BY_ONE)

    assert [each.struck for each in first.faulty.rules] == [1] * len(first.faulty.rules)
    assert said.code == 3
    assert_said(said, "gone blocked (delete): it still has 1 NodeClaim")
    assert {"NodePool/gone", "EC2NodeClass/gone"} <= set(first.live())
    assert is_true(first)
    statuses.delete(first.server, "NodeClaim", launch.node)
    finish(first, specs)


def test_what_is_protected_at_the_last_moment_stays(first: Scene) -> None:
    protect = {"metadata": {"annotations": {"gpupool.dev/protect": "true"}}}
    first.faulty.rules = [Rule(first.matching(DELETE), Edit(first, "NodePool", "gone", protect))]

    said = first.run("apply", SECOND, *ONE_BY_ONE)

    assert said.code == 3
    assert_said(said, "gone blocked (delete): gpupool.dev/protect protects it")
    assert {"NodePool/gone", "EC2NodeClass/gone"} <= set(first.live())


@dataclass
class Held:
    """A request that is on its way for a long time: nobody knows what became of it."""

    asked: list[Asked]

    def strike(self, exchange: Exchange) -> None:
        self.asked.append(exchange.asked)
        exchange.reset()


@pytest.mark.parametrize("words", [CREATE, UPDATE], ids=["a new object", "a change"])
def test_what_a_killed_run_had_sent_changes_nothing_later(first: Scene, words: str) -> None:
    """It arrives when the lock was deleted, and another blueprint was applied."""
    kind, _, pool = words.partition(" ")[2].partition("/")
    late = Held([])
    first.faulty.rules = [Rule(first.matching(words), late, times=None)]
    child = first.start("apply", SECOND, *ONE_BY_ONE)
    until = time.monotonic() + SECONDS
    while not late.asked and time.monotonic() < until:
        time.sleep(0.02)
    killed(child)
    first.faulty.rules = []
    first.unlock()
    other = SECOND | {pool: {"accelerator": "t4", "weight": 33, "nodeClass": {"tags": {"v": "other"}}}}
    assert first.run("apply", other).code == 0
    before = first.live()[f"{kind}/{pool}"]

    asked = late.asked[0]
    answer = first.server.request(asked.method, asked.target, asked.body, "application/apply-patch+yaml")

    assert answer.status == 409
    assert first.live()[f"{kind}/{pool}"] == before
