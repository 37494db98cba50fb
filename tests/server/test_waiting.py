"""Waiting on the real server, for statuses that Karpenter would write."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpupool.errors import ClusterError, StoppedError
from gpupool.objects import Ref
from gpupool.rollout.watch import nodeclaims, waiting
from gpupool.rollout.watch.nodeclaims import wait_rolled
from gpupool.rollout.watch.waiting import Progress, Readiness, wait_ready
from tests.rig.fault_proxy import FaultProxy, Rule, reads
from tests.rig.faults import Reset, unavailable
from tests.rig.server import ApiServer
from tests.server import statuses
from tests.server.reached import reached

BOTH = {"EC2NodeClass": ["a"], "NodePool": ["a"]}
NO_CLASS = ("NodeClassReady", "NodeClassNotReady", "not yet")
NO_SUBNETS = ("SubnetsReady", "SubnetsNotFound", "none matched")


@pytest.fixture(autouse=True)
def _clean(api_server: ApiServer) -> Iterator[None]:
    statuses.delete_all(api_server)
    yield
    statuses.delete_all(api_server)


@pytest.fixture
def told() -> list[Progress]:
    """What was told while waiting."""
    return []


def words(told: list[Progress], kind: str) -> list[str]:
    """Return what was told of the objects of a kind."""
    return [each.readiness.reason or "Ready" for each in told if each.kind == kind]


def act(told: list[Progress], *steps: tuple[str, Callable[[], None]]) -> Callable[[Progress], None]:
    """Keep what is told; where it says what the next step waits for, take that step at once."""
    left = list(steps)

    def say(progress: Progress) -> None:
        told.append(progress)
        said = f"{progress.kind}/{progress.name}: {progress.readiness.reason or 'Ready'}"
        if left and left[0][0] in said:
            left.pop(0)[1]()

    return say


class TestReady:
    """Waiting for what Karpenter says of an object."""

    def test_what_is_ready_costs_one_list_for_each_kind(
        self, api_server: ApiServer, faulty: FaultProxy, tmp_path: Path, told: list[Progress]
    ) -> None:
        names = [f"pool-{number}" for number in range(12)]
        statuses.create_pair(api_server, *names)
        statuses.make_ready(api_server, *names)
        way = reached(faulty.kubeconfig(tmp_path))
        faulty.forget()

        found = wait_ready(way.cluster, way.deadline, {"EC2NodeClass": names, "NodePool": names}, told.append)

        assert set(found.values()) == {Readiness(is_ready=True)}
        assert len(found) == len(told) == 24
        assert [(each.method, each.path) for each in faulty.seen] == [
            ("GET", statuses.SERVED["EC2NodeClass"]),
            ("GET", statuses.SERVED["NodePool"]),
        ]

    def test_nothing_to_wait_for_costs_nothing(
        self, faulty: FaultProxy, tmp_path: Path, told: list[Progress]
    ) -> None:
        way = reached(faulty.kubeconfig(tmp_path))
        faulty.forget()

        assert wait_ready(way.cluster, way.deadline, {"NodePool": []}, told.append) == {}
        assert (faulty.seen, told) == ([], [])

    def test_tells_what_is_new_until_all_is_ready(self, api_server: ApiServer, told: list[Progress]) -> None:
        statuses.create_pair(api_server, "a")
        way = reached(api_server.kubeconfig)

        say = act(
            told,
            ("NodePool/a: no status", lambda: statuses.fail(api_server, "EC2NodeClass", "a", *NO_SUBNETS)),
            ("SubnetsReady=False", lambda: statuses.fail(api_server, "NodePool", "a", *NO_CLASS)),
            ("NodeClassReady=False", lambda: statuses.make_ready(api_server, "a")),
        )

        found = wait_ready(way.cluster, way.deadline, BOTH, say)

        assert set(found.values()) == {Readiness(is_ready=True)}
        assert words(told, "EC2NodeClass") == [
            "no status yet: is Karpenter running?",
            "SubnetsReady=False: SubnetsNotFound: none matched",
            "Ready",
        ]
        assert words(told, "NodePool") == [
            "no status yet: is Karpenter running?",
            "NodeClassReady=False: NodeClassNotReady: not yet",
            "Ready",
        ]
        assert all(each.is_news for each in told)

    def test_a_status_from_before_the_change_is_none(
        self, api_server: ApiServer, told: list[Progress]
    ) -> None:
        statuses.create_pair(api_server, "a")
        statuses.make_ready(api_server, "a")
        statuses.patch(api_server, "NodePool", "a", {"spec": {"weight": 7}})
        way = reached(api_server.kubeconfig)

        say = act(told, ("not reconciled by Karpenter since", lambda: statuses.make_ready(api_server, "a")))

        found = wait_ready(way.cluster, way.deadline, {"NodePool": ["a"]}, say)

        assert found[Ref("NodePool", "a")].is_ready
        assert words(told, "NodePool") == [
            "not reconciled by Karpenter since the last change (Ready=True before)",
            "Ready",
        ]

    @pytest.mark.parametrize("seconds", [0.0, 0.7])
    def test_ends_in_time(self, api_server: ApiServer, told: list[Progress], seconds: float) -> None:
        statuses.create_pair(api_server, "a")
        statuses.make_ready(api_server, "a", kinds=["NodePool"])
        statuses.fail(api_server, "EC2NodeClass", "a", *NO_SUBNETS)
        way = reached(api_server.kubeconfig)

        found = wait_ready(way.cluster, way.deadline, BOTH, told.append, seconds)

        assert found[Ref("NodePool", "a")] == Readiness(is_ready=True)
        late = found[Ref("EC2NodeClass", "a")]
        assert (late.is_ready, late.reason) == (False, "SubnetsReady=False: SubnetsNotFound: none matched")
        assert not way.deadline.is_over

    def test_ends_with_the_time_of_the_command(self, api_server: ApiServer, told: list[Progress]) -> None:
        statuses.create_pair(api_server, "a")
        way = reached(api_server.kubeconfig, 1.5)

        found = wait_ready(way.cluster, way.deadline, BOTH, told.append)

        assert {each.reason for each in found.values()} == {"no status yet: is Karpenter running?"}
        assert way.deadline.is_over

    def test_without_any_time_nothing_is_known(self, api_server: ApiServer, told: list[Progress]) -> None:
        way = reached(api_server.kubeconfig, 1.0)
        way.deadline.pause(2)

        found = wait_ready(way.cluster, way.deadline, BOTH, told.append)

        assert {each.reason for each in found.values()} == {"not checked: timed out"}

    def test_ends_with_a_signal(self, api_server: ApiServer, told: list[Progress]) -> None:
        statuses.create_pair(api_server, "a")
        way = reached(api_server.kubeconfig)

        say = act(told, ("no status", lambda: way.deadline.stop(15)))

        with pytest.raises(StoppedError) as stopped:
            wait_ready(way.cluster, way.deadline, BOTH, say)

        assert stopped.value.exit_code == 143

    def test_what_vanishes_is_not_waited_for(self, api_server: ApiServer, told: list[Progress]) -> None:
        statuses.create_pair(api_server, "a", "b")
        way = reached(api_server.kubeconfig)

        say = act(
            told,
            ("NodePool/a: no status", lambda: statuses.delete(api_server, "NodePool", "a")),
            ("NodePool/a: does not exist", lambda: statuses.make_ready(api_server, "b")),
        )

        found = wait_ready(way.cluster, way.deadline, {"NodePool": ["a", "b"]}, say)

        assert found == {
            ("NodePool", "a"): Readiness(is_ready=False, reason="does not exist", is_hopeless=True),
            ("NodePool", "b"): Readiness(is_ready=True),
        }

    def test_what_is_being_deleted_is_not_waited_for(
        self, api_server: ApiServer, told: list[Progress]
    ) -> None:
        statuses.create_pair(api_server, "a")
        statuses.make_ready(api_server, "a")
        statuses.patch(
            api_server, "EC2NodeClass", "a", {"metadata": {"finalizers": ["karpenter.k8s.aws/termination"]}}
        )
        statuses.delete(api_server, "EC2NodeClass", "a")
        way = reached(api_server.kubeconfig)

        found = wait_ready(way.cluster, way.deadline, {"EC2NodeClass": ["a"]}, told.append)

        (said,) = found.values()
        assert said.is_hopeless
        assert said.reason.startswith("it is being deleted since 2")
        assert said.reason.endswith("held by karpenter.k8s.aws/termination")

    def test_says_now_and_then_that_nothing_is_new(
        self, api_server: ApiServer, told: list[Progress], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(waiting, "STILL_SECONDS", 0.3)
        statuses.create_pair(api_server, "a")
        statuses.make_ready(api_server, "a", kinds=["EC2NodeClass"])
        way = reached(api_server.kubeconfig)

        wait_ready(way.cluster, way.deadline, BOTH, told.append, 2.5)

        assert [each.is_news for each in told if each.kind == "EC2NodeClass"] == [True]
        assert [each.is_news for each in told if each.kind == "NodePool"][:3] == [True, False, False]
        assert told[-1].seconds > told[0].seconds

    def test_a_server_that_is_away_for_a_while(
        self, api_server: ApiServer, faulty: FaultProxy, tmp_path: Path, told: list[Progress],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        statuses.create_pair(api_server, "a")
        way = reached(faulty.kubeconfig(tmp_path))
        monkeypatch.setattr(waiting, "PATIENCE_SECONDS", 0.5)
        faulty.rules = [Rule(reads, unavailable(), times=12, skip=1)]

        say = act(told, ("answers 503", lambda: statuses.make_ready(api_server, "a")))

        found = wait_ready(way.cluster, way.deadline, {"NodePool": ["a"]}, say)

        assert found[Ref("NodePool", "a")].is_ready
        first, away, *_, last = words(told, "NodePool")
        assert (first, last) == ("no status yet: is Karpenter running?", "Ready")
        assert away.startswith("can't list nodepools.karpenter.sh: the API server answers 503")

    def test_a_server_that_was_never_there(
        self, faulty: FaultProxy, tmp_path: Path, told: list[Progress]
    ) -> None:
        way = reached(faulty.kubeconfig(tmp_path))
        faulty.rules = [Rule(reads, Reset(), times=None)]

        with pytest.raises(ClusterError, match=r"\d+ attempts"):
            wait_ready(way.cluster, way.deadline, BOTH, told.append)

        assert told == []


class TestRollout:
    """Waiting until no node is older than the last change."""

    @pytest.fixture(autouse=True)
    def _quick(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(nodeclaims, "QUIET_SECONDS", 0.6)

    def test_a_pool_without_nodes(self, api_server: ApiServer, told: list[Progress]) -> None:
        statuses.create_pair(api_server, "a")
        statuses.claim(api_server, "other-1", "b", "Drifted")
        way = reached(api_server.kubeconfig)

        found = wait_rolled(way.cluster, way.deadline, ["a"], told.append)

        assert found == {("NodePool", "a"): Readiness(is_ready=True, reason="no NodeClaims")}

    def test_waits_until_the_drifted_are_replaced(self, api_server: ApiServer, told: list[Progress]) -> None:
        statuses.create_pair(api_server, "a")
        statuses.claim(api_server, "a-1", "a", "Initialized", "Drifted:NodePoolDrifted")
        statuses.claim(api_server, "a-2", "a", "Initialized")
        way = reached(api_server.kubeconfig)

        say = act(
            told,
            ("1 of 2", lambda: statuses.claim(api_server, "a-3", "a", "Launched")),
            ("1 of 3", lambda: statuses.delete(api_server, "NodeClaim", "a-1")),
        )

        found = wait_rolled(way.cluster, way.deadline, ["a"], say)

        assert found == {
            ("NodePool", "a"): Readiness(is_ready=True),
            ("NodeClaim", "a-1"): Readiness(is_ready=True, reason="replaced"),
        }
        assert words(told, "NodePool") == [
            "1 of 2 NodeClaims are to be replaced",
            "1 of 3 NodeClaims are to be replaced",
            "Ready",
        ]
        assert [each.split(";")[0] for each in words(told, "NodeClaim")] == [
            "NodePoolDrifted: waiting for its turn",
            "replaced",
        ]

    def test_what_turns_out_to_be_drifted_a_moment_later(
        self, api_server: ApiServer, told: list[Progress], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(nodeclaims, "QUIET_SECONDS", 3.0)
        statuses.create_pair(api_server, "a")
        statuses.claim(api_server, "a-1", "a", "Initialized")
        way = reached(api_server.kubeconfig)
        drifted = {"Initialized": statuses.TRUE, "Drifted": ("True", "RequirementsDrifted", "")}

        say = act(
            told,
            ("NodePool/a: Ready", lambda: statuses.say(api_server, "NodeClaim", "a-1", drifted)),
            ("RequirementsDrifted", lambda: statuses.delete(api_server, "NodeClaim", "a-1")),
        )

        found = wait_rolled(way.cluster, way.deadline, ["a"], say)

        assert found[Ref("NodeClaim", "a-1")] == Readiness(is_ready=True, reason="replaced")

    def test_what_karpenter_will_call_drifted(self, api_server: ApiServer, told: list[Progress]) -> None:
        statuses.create_pair(api_server, "a")
        hashes = {"karpenter.sh/nodepool-hash": "2", "karpenter.sh/nodepool-hash-version": "v3"}
        statuses.patch(api_server, "NodePool", "a", {"metadata": {"annotations": hashes}})
        older = {**hashes, "karpenter.sh/nodepool-hash": "1"}
        statuses.claim(api_server, "a-1", "a", "Initialized", annotations=older)
        way = reached(api_server.kubeconfig)

        found = wait_rolled(way.cluster, way.deadline, ["a"], told.append, 1.0)

        late = found[Ref("NodeClaim", "a-1")]
        assert not late.is_ready
        assert late.reason.startswith("created before the last change: waiting for its turn")

    def test_a_server_that_does_not_answer_in_the_end(
        self, api_server: ApiServer, faulty: FaultProxy, tmp_path: Path, told: list[Progress]
    ) -> None:
        statuses.claim(api_server, "a-1", "a", "Initialized")
        way = reached(faulty.kubeconfig(tmp_path), 3.0)
        faulty.rules = [Rule(reads, unavailable(), times=None, skip=3)]

        found = wait_rolled(way.cluster, way.deadline, ["a"], told.append)

        assert not found[Ref("NodePool", "a")].is_ready

    def test_without_any_time_nothing_is_known(self, api_server: ApiServer, told: list[Progress]) -> None:
        way = reached(api_server.kubeconfig, 1.0)
        way.deadline.pause(2)

        found = wait_rolled(way.cluster, way.deadline, ["a"], told.append)

        assert found[Ref("NodePool", "a")].reason == "not checked: timed out"
