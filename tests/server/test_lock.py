"""The lock on the real server: one holder at a time, and none that is dead keeps the others out."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import pytest

from gpupool.errors import ClusterError, GuardError, StoppedError
from gpupool.rollout.lock import lock as locks
from gpupool.rollout.lock.lock import Lock, hold_lock
from tests.pauses import skip_pauses
from tests.rig.client import Client
from tests.rig.fault_proxy import FaultProxy, Rule
from tests.rig.faults import Fault, Reset, conflict, never, unavailable
from tests.rig.server import ApiServer
from tests.server import leases
from tests.server.reached import reached

LOCK = "gpupool-lock-test"
PATIENCE = 20.0
"""Seconds after which a test gives up; none of them takes so long."""

Held = Callable[..., AbstractContextManager[Lock]]


@pytest.fixture(autouse=True)
def _free(api_server: ApiServer) -> Iterator[None]:
    yield
    leases.delete(api_server, LOCK)


@pytest.fixture
def said() -> list[str]:
    """What waiting people are told."""
    return []


@pytest.fixture
def lock(api_server: ApiServer, said: list[str]) -> Held:
    """Hold the lock, with a way to the server of one's own."""

    def hold(
        kubeconfig: Path = api_server.kubeconfig, lock_timeout: float = PATIENCE
    ) -> AbstractContextManager[Lock]:
        return hold_lock(
            reached(kubeconfig), leases.NAMESPACE, LOCK, lock_timeout=lock_timeout, say=said.append
        )

    return hold


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that lasts three seconds, is trusted for two and is renewed all the time."""
    for name, seconds in {"SECONDS": 3, "MARGIN": 1.0, "EVERY": 0.1, "_ATTEMPT_SECONDS": 1.0}.items():
        monkeypatch.setattr(locks, name, seconds)


def eventually(is_so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    until = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)


def on_leases(method: str, fault: Fault, times: int | None = 1) -> Rule:
    """Let a fault happen to requests about Leases."""
    return Rule(lambda asked, path, _query, _nth: asked == method and "/leases" in path, fault, times)


def asked(faulty: FaultProxy) -> list[str]:
    """Return what was asked about Leases."""
    return [each.method for each in faulty.seen if "/leases" in each.path]


class TestTaking:
    """Who gets it."""

    def test_costs_two_requests(
        self, api_server: ApiServer, faulty: FaultProxy, lock: Held, tmp_path: Path, said: list[str]
    ) -> None:
        with lock(faulty.kubeconfig(tmp_path)) as taken:
            found = leases.read(api_server, LOCK)
            taken.ensure_held()

        assert found is not None
        assert found["spec"] | {"acquireTime": "", "renewTime": ""} == {
            "holderIdentity": taken.holder.text,
            "leaseDurationSeconds": 60,
            "acquireTime": "",
            "renewTime": "",
            "leaseTransitions": 0,
        }
        assert leases.read(api_server, LOCK) is None
        assert (asked(faulty), said) == (["POST", "DELETE"], [])

    def test_names_the_run_of_the_pipeline(
        self, api_server: ApiServer, lock: Held, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = {"GITHUB_SERVER_URL": "https://git.example", "GITHUB_REPOSITORY": "a/b", "GITHUB_RUN_ID": "7"}
        for name, value in run.items():
            monkeypatch.setenv(name, value)

        with lock() as taken:
            assert leases.holder(api_server, LOCK).endswith("/https://git.example/a/b/actions/runs/7")

        assert taken.holder.run == "https://git.example/a/b/actions/runs/7"

    def test_one_at_a_time(self, api_server: ApiServer, lock: Held) -> None:
        inside: list[Lock] = []
        most: list[int] = []

        def work() -> None:
            for _ in range(2):
                with lock() as taken:
                    inside.append(taken)
                    most.append(len(inside))
                    assert leases_holder() == taken.holder.text
                    inside.remove(taken)

        guard = threading.Lock()

        def leases_holder() -> str:
            with guard:
                return leases.holder(api_server, LOCK)

        leases.held_by_another(api_server, LOCK, renewed=-3600)
        _together([work] * 4)

        assert most == [1] * 8

    def test_says_who_has_it_and_how_to_delete_it(self, api_server: ApiServer, lock: Held) -> None:
        leases.held_by_another(api_server, LOCK)

        with pytest.raises(GuardError) as refused, lock(lock_timeout=0):
            pytest.fail("it is held")

        message = str(refused.value)
        assert (
            f"the lock kube-system/{LOCK} is held by other@runner, process 77, https://ci.example/runs/5, since 2"
            in message
        )
        assert "Z (renewed " in message
        assert f"delete its lock: gpupool unlock 0ther1d0 --kubeconfig {api_server.kubeconfig}" in message
        assert leases.holder(api_server, LOCK) == leases.OTHER

    def test_waits_for_it_and_says_so(self, api_server: ApiServer, lock: Held, said: list[str]) -> None:
        leases.held_by_another(api_server, LOCK)
        with Client(api_server.access) as other:
            freeing = threading.Timer(0.5, lambda: other.request("DELETE", f"{leases.COLLECTION}/{LOCK}"))
            freeing.start()

            with lock() as taken:
                assert leases.holder(api_server, LOCK) == taken.holder.text

            freeing.join()
        assert [line.split(",")[0] for line in said] == [
            f"waiting for the lock kube-system/{LOCK}: held by other@runner"
        ]

    def test_that_others_take_again_and_again(self, faulty: FaultProxy, lock: Held, tmp_path: Path) -> None:
        faulty.rules = [on_leases("POST", conflict(), times=None)]

        with pytest.raises(GuardError, match="other runs keep acquiring it"):  # noqa: SIM117
            with lock(faulty.kubeconfig(tmp_path), lock_timeout=0.5):
                pytest.fail("it was never free")

    def test_a_lease_that_nobody_holds_is_free(self, api_server: ApiServer, lock: Held) -> None:
        leases.held_by_another(api_server, LOCK, who="")

        with lock(lock_timeout=0) as taken:
            assert leases.holder(api_server, LOCK) == taken.holder.text

    def test_no_such_namespace(self, api_server: ApiServer) -> None:
        way = reached(api_server.kubeconfig)

        with (
            pytest.raises(
                ClusterError, match="the namespace nowhere of the inventory and the lock does not exist"
            ),
            hold_lock(way, "nowhere", LOCK, lock_timeout=1, say=pytest.fail),
        ):
            pytest.fail("there is no such namespace")

    def test_without_permission(self, api_server: ApiServer, lock: Held, said: list[str]) -> None:
        """The namespace's uid is read before all else, which this user may not."""
        grant = _may_read_kube_system(api_server)
        try:
            with pytest.raises(ClusterError) as refused, lock(api_server.kubeconfig_nobody):
                pytest.fail("it may not")
        finally:
            for path in grant:
                api_server.request("DELETE", path)

        assert 'cannot create resource "leases"' in str(refused.value)
        assert "the permission to create is missing: see `gpupool rbac`" in str(refused.value)
        assert said == []


class TestDeadHolders:
    """A run that was killed leaves its Lease."""

    def test_long_dead(self, api_server: ApiServer, lock: Held) -> None:
        leases.held_by_another(api_server, LOCK, renewed=-3600)

        with lock(lock_timeout=0) as taken:
            found = leases.read(api_server, LOCK)

        assert found is not None
        assert (found["spec"]["holderIdentity"], found["spec"]["leaseTransitions"]) == (taken.holder.text, 1)
        assert leases.read(api_server, LOCK) is None

    @pytest.mark.parametrize(
        "renewed", [-120, 0, 3600], ids=["clock is slow", "clock is right", "clock is fast"]
    )
    def test_one_that_is_not_renewed_is_dead_whatever_its_clock_says(
        self, api_server: ApiServer, lock: Held, renewed: float
    ) -> None:
        leases.held_by_another(api_server, LOCK, seconds=1, renewed=renewed)
        began = time.monotonic()

        # Just as long as the Lease lasts: the default of --lock-timeout.
        with lock(lock_timeout=1):
            assert time.monotonic() - began >= 1

    @pytest.mark.parametrize("renewed", [-120, 3600], ids=["clock is slow", "clock is fast"])
    def test_one_that_is_renewed_lives_whatever_its_clock_says(
        self, api_server: ApiServer, lock: Held, renewed: float
    ) -> None:
        leases.held_by_another(api_server, LOCK, seconds=1, renewed=renewed)
        done = threading.Event()

        def renew() -> None:
            with Client(api_server.access) as other:
                while not done.wait(0.2):
                    leases.held_by_another(other, LOCK, seconds=1, renewed=renewed)

        renewing = threading.Thread(target=renew)
        renewing.start()
        try:
            with pytest.raises(GuardError), lock(lock_timeout=2.5):
                pytest.fail("it is renewed")
        finally:
            done.set()
            renewing.join()


@pytest.mark.usefixtures("hurried")
class TestKeeping:
    """The thread that renews it."""

    def test_renews(self, api_server: ApiServer, lock: Held) -> None:
        with lock() as taken:
            before = leases.read(api_server, LOCK)
            assert before is not None
            eventually(lambda: leases.read(api_server, LOCK) != before)
            after = leases.read(api_server, LOCK)
            taken.ensure_held()

        assert after is not None
        assert after["metadata"]["uid"] == before["metadata"]["uid"]
        assert after["spec"]["renewTime"] > before["spec"]["renewTime"]
        assert after["spec"]["acquireTime"] == before["spec"]["acquireTime"]
        assert leases.read(api_server, LOCK) is None

    def test_taken_by_another(self, api_server: ApiServer, lock: Held) -> None:
        with lock() as taken:
            _take_away(api_server)
            eventually(lambda: taken.is_lost)
            with pytest.raises(
                GuardError, match=r"is lost: other@runner, process 77, https.* acquired it\. Nothing more"
            ):
                taken.ensure_held()

        assert leases.holder(api_server, LOCK) == leases.OTHER

    def test_deleted_by_somebody_is_not_made_again(self, api_server: ApiServer, lock: Held) -> None:
        with lock() as taken:
            leases.delete(api_server, LOCK)
            eventually(lambda: taken.is_lost)
            with pytest.raises(GuardError, match="is lost: it was deleted"):
                taken.ensure_held()
            assert leases.read(api_server, LOCK) is None

        assert leases.read(api_server, LOCK) is None

    @pytest.mark.parametrize("fault", [unavailable(), never(), Reset()], ids=["503", "no answer", "broken"])
    def test_that_can_not_be_renewed_is_lost_until_it_is(
        self, faulty: FaultProxy, lock: Held, tmp_path: Path, fault: Fault
    ) -> None:
        with lock(faulty.kubeconfig(tmp_path)) as taken:
            faulty.rules = [on_leases("PUT", fault, times=None)]
            eventually(lambda: taken.is_lost)
            with pytest.raises(GuardError, match="is lost: it could not be renewed for 2 seconds"):
                taken.ensure_held()
            faulty.rules = []
            eventually(lambda: not taken.is_lost)
            taken.ensure_held()

    def test_a_conflict_that_is_none_is_no_loss(
        self, api_server: ApiServer, faulty: FaultProxy, lock: Held, tmp_path: Path
    ) -> None:
        with lock(faulty.kubeconfig(tmp_path)) as taken:
            faulty.rules = [on_leases("PUT", conflict(), times=5)]
            eventually(lambda: asked(faulty).count("PUT") > 6)
            taken.ensure_held()
            assert leases.holder(api_server, LOCK) == taken.holder.text


class TestLostAnswers:
    """The server does what it was asked for, and its answer is lost."""

    LOST = Reset(after_answer=True)

    @pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
    def test_to_take_and_to_give_back(
        self,
        api_server: ApiServer,
        faulty: FaultProxy,
        lock: Held,
        tmp_path: Path,
        said: list[str],
        method: str,
    ) -> None:
        faulty.rules = [on_leases(method, self.LOST)]

        with lock(faulty.kubeconfig(tmp_path), lock_timeout=0) as taken:
            assert leases.holder(api_server, LOCK) == taken.holder.text

        assert leases.read(api_server, LOCK) is None
        assert said == []

    def test_to_take_over(
        self, api_server: ApiServer, faulty: FaultProxy, lock: Held, tmp_path: Path
    ) -> None:
        leases.held_by_another(api_server, LOCK, renewed=-3600)
        faulty.rules = [on_leases("PUT", self.LOST)]

        with lock(faulty.kubeconfig(tmp_path)) as taken:
            assert leases.holder(api_server, LOCK) == taken.holder.text

        assert leases.read(api_server, LOCK) is None

    @pytest.mark.usefixtures("hurried")
    def test_to_renew(self, api_server: ApiServer, faulty: FaultProxy, lock: Held, tmp_path: Path) -> None:
        with lock(faulty.kubeconfig(tmp_path)) as taken:
            # More than the retry layer tries: the renewal fails, and the next one finds its own Lease changed.
            faulty.rules = [on_leases("PUT", self.LOST, times=7)]
            eventually(lambda: asked(faulty).count("PUT") > 9)
            assert not taken.is_lost
            assert leases.holder(api_server, LOCK) == taken.holder.text

        assert leases.read(api_server, LOCK) is None

    def test_all_of_them(
        self, api_server: ApiServer, faulty: FaultProxy, lock: Held, tmp_path: Path, said: list[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        skip_pauses(monkeypatch)
        faulty.rules = [on_leases("POST", self.LOST, times=None)]

        with pytest.raises(ClusterError, match=r"\d+ attempts"), lock(faulty.kubeconfig(tmp_path)):
            pytest.fail("no answer came")

        assert asked(faulty)[0] == "POST"
        assert leases.read(api_server, LOCK) is None, "it was ours, and is given back"
        assert said == []


class TestGivingBack:
    """However the block ends."""

    @pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
    def test_after_an_error(self, api_server: ApiServer, lock: Held, error: type[BaseException]) -> None:
        with pytest.raises(error), lock():
            raise error

        assert leases.read(api_server, LOCK) is None

    def test_after_a_signal(self, api_server: ApiServer) -> None:
        way = reached(api_server.kubeconfig)

        with hold_lock(way, leases.NAMESPACE, LOCK, lock_timeout=1, say=pytest.fail):
            way.deadline.stop(15)
            with pytest.raises(StoppedError):
                way.deadline.ensure_not_stopped()

        assert leases.read(api_server, LOCK) is None

    def test_when_the_time_is_up(self, api_server: ApiServer) -> None:
        way = reached(api_server.kubeconfig, 2.0)

        with hold_lock(way, leases.NAMESPACE, LOCK, lock_timeout=1, say=pytest.fail) as taken:
            way.deadline.pause(5)
            assert way.deadline.is_over
            taken.ensure_held()

        assert leases.read(api_server, LOCK) is None

    def test_what_can_not_be_given_back_is_said(
        self, api_server: ApiServer, faulty: FaultProxy, lock: Held, tmp_path: Path, said: list[str]
    ) -> None:
        with lock(faulty.kubeconfig(tmp_path)) as taken:
            faulty.rules = [on_leases("DELETE", unavailable(retry_after=60), times=None)]

        assert leases.holder(api_server, LOCK) == taken.holder.text
        assert [line.partition(": ")[0] for line in said] == [
            f"could not release the lock kube-system/{LOCK}; it expires by itself"
        ]

    def test_a_signal_ends_the_wait(self, api_server: ApiServer, said: list[str]) -> None:
        leases.held_by_another(api_server, LOCK)
        way = reached(api_server.kubeconfig)
        threading.Timer(0.3, partial(way.deadline.stop, 2)).start()

        with (
            pytest.raises(StoppedError),
            hold_lock(way, leases.NAMESPACE, LOCK, lock_timeout=60, say=said.append),
        ):
            pytest.fail("it is held")

        assert leases.holder(api_server, LOCK) == leases.OTHER

    def test_the_time_of_the_command_ends_the_wait(self, api_server: ApiServer, said: list[str]) -> None:
        leases.held_by_another(api_server, LOCK)
        way = reached(api_server.kubeconfig, 1.5)

        with (
            pytest.raises(GuardError, match="held by other@runner"),
            hold_lock(way, leases.NAMESPACE, LOCK, lock_timeout=60, say=said.append),
        ):
            pytest.fail("it is held")


def _take_away(server: ApiServer) -> None:
    """Become the holder, although the real one writes all the time too."""
    while True:
        try:
            return leases.held_by_another(server, LOCK)
        except AssertionError:
            continue


def _together(work: list[Callable[[], None]]) -> None:
    """Do work in as many threads, and raise what one of them raised."""
    problems: list[BaseException] = []

    def attempt(each: Callable[[], None]) -> None:
        try:
            each()
        except BaseException as problem:  # noqa: BLE001 - it is raised in the test's own thread
            problems.append(problem)

    threads = [threading.Thread(target=attempt, args=[each]) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(3 * PATIENCE)
    if problems:
        raise problems[0]


def _may_read_kube_system(server: ApiServer) -> list[str]:
    """Let the user without rights read the namespace kube-system; give what was made for it."""
    role = b"""\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: lock-test}
rules: [{apiGroups: [""], resources: [namespaces], resourceNames: [kube-system], verbs: [get]}]
"""
    binding = b"""\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: lock-test}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: lock-test}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: nobody}]
"""
    for text in (role, binding):
        assert server.apply(text).accepted
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": "nobody",
            "resourceAttributes": {"verb": "get", "resource": "namespaces", "name": "kube-system"},
        },
    }
    reviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    eventually(lambda: server.request("POST", reviews, json.dumps(review).encode()).body["status"]["allowed"])
    return [
        f"/apis/rbac.authorization.k8s.io/v1/{plural}/lock-test"
        for plural in ("clusterroles", "clusterrolebindings")
    ]
