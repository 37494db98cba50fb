"""Events of objects that are not Ready, on the real server: what `gpupool status` shows of them, and at what cost."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpupool.rendering.roles import RoleScope
from tests.cli.blueprints import SMALL
from tests.cli.run import Outcome, gpupool
from tests.rig.fault_proxy import FaultProxy, Rule
from tests.rig.faults import Fault, Reset, unavailable
from tests.rig.server import ApiServer
from tests.server import statuses
from tests.server.identities import granted_but

NAME = "events-test"
TEXT = SMALL.replace("name: demo", f"name: {NAME}")
CLASS, POOL = "EC2NodeClass/train", "NodePool/train"
NO_SUBNETS = ("SubnetsReady", "SubnetsNotFound", "none matched")
NO_CLASS = ("NodeClassReady", "NodeClassNotReady", "not yet")

Status = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def _late(api_server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A blueprint whose class and pool are there, and not Ready."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(api_server.kubeconfig))
    (tmp_path / "gpupool.yaml").write_text(TEXT, "utf-8")
    statuses.delete_all(api_server)
    statuses.create_pair(api_server, "train")
    statuses.fail(api_server, "EC2NodeClass", "train", *NO_SUBNETS)
    statuses.fail(api_server, "NodePool", "train", *NO_CLASS)
    yield
    statuses.delete_all(api_server)


@pytest.fixture
def status(capsys: pytest.CaptureFixture[str]) -> Status:
    return lambda *arguments: gpupool(capsys, "status", *arguments)


def lines_of(said: Outcome, address: str) -> list[str]:
    """Return the events below the line of an object."""
    below = said.out.split(f"\n{address}: ", 1)[1].splitlines()[1:]
    found = []
    for line in below:
        if not line.startswith("  event"):
            break
        found.append(line.removeprefix("  event "))
    return found


def asked_for_events(proxy: FaultProxy) -> list[dict[str, str]]:
    """Return the query of each request for events."""
    return [each.query for each in proxy.seen if each.path == statuses.EVENTS]


class TestShown:
    """What stands below an object."""

    def test_the_newest_warnings_and_how_often(self, api_server: ApiServer, status: Status) -> None:
        for minute, reason in enumerate(("First", "Second", "Third")):
            statuses.record(api_server, CLASS, reason, f"{reason} of all", minute=minute)
        statuses.record(api_server, CLASS, "Often", "AWS says no", minute=5, count=7)
        statuses.record_series(api_server, CLASS, "Newer", "AWS says it again", 3, 9)
        statuses.record(api_server, CLASS, "Ready", "Status condition transitioned", minute=30, type="Normal")
        statuses.record(api_server, POOL, "", "Failed resolving NodeClass", minute=2)

        said = status()

        assert said.code == 0
        assert lines_of(said, CLASS) == [
            "Newer (3 times, last at 2026-11-21T10:09:00.000000Z): AWS says it again",
            "Often (7 times, last at 2026-11-21T10:05:00Z): AWS says no",
            "Third (once, last at 2026-11-21T10:02:00Z): Third of all",
        ]
        assert lines_of(said, POOL) == ["(once, last at 2026-11-21T10:02:00Z): Failed resolving NodeClass"]

    def test_the_same_for_programs(self, api_server: ApiServer, status: Status) -> None:
        statuses.record(api_server, CLASS, "Often", "AWS says no", minute=5, count=7)

        node_class, pool = json.loads(status("-o", "json").out)["objects"]

        last = "2026-11-21T10:05:00Z"
        assert node_class["events"] == [
            {"reason": "Often", "message": "AWS says no", "count": 7, "last": last}
        ]
        assert pool["events"] == []

    def test_what_says_the_same_is_said_once(self, api_server: ApiServer, status: Status) -> None:
        for minute in (1, 4, 2):
            statuses.record(api_server, CLASS, "Often", "AWS says no", minute=minute, count=2)

        said = status()

        assert lines_of(said, CLASS) == ["Often (6 times, last at 2026-11-21T10:04:00Z): AWS says no"]

    def test_none_of_another_object_of_that_name(self, api_server: ApiServer, status: Status) -> None:
        statuses.record(api_server, CLASS, "Old", "of the one before")
        statuses.delete(api_server, "EC2NodeClass", "train")
        statuses.create(api_server, statuses.pair("train")[0])
        statuses.fail(api_server, "EC2NodeClass", "train", *NO_SUBNETS)

        assert lines_of(status(), CLASS) == []

    def test_also_when_a_wait_is_over(self, api_server: ApiServer, status: Status) -> None:
        statuses.record(api_server, CLASS, "Often", "AWS says no", minute=5)

        said = status("--wait", "ready", "--timeout", "1s")

        assert said.code == 6
        assert lines_of(said, CLASS) == ["Often (once, last at 2026-11-21T10:05:00Z): AWS says no"]


class TestForeignText:
    """An event says whatever somebody wrote into it."""

    def test_it_quotes_no_secret(self, api_server: ApiServer, status: Status) -> None:
        """Neither of the object itself, nor what the blueprint calls sensitive, nor of another object."""
        Path("gpupool.yaml").write_text(TEXT + "sensitive: [licence]\n", "utf-8")
        script = "#!/bin/bash\nexport LICENSE=Xk29-ffp1-0z7q-TTr4\n"
        spec = {"userData": script, "tags": {"licence": "lic-55-b7-9d"}}
        statuses.patch(api_server, "EC2NodeClass", "train", {"spec": spec})
        refused = "AWS refused: lic-55-b7-9d"
        statuses.fail(api_server, "EC2NodeClass", "train", "ValidationSucceeded", "Invalid", refused)
        quoted = "no: LICENSE=Xk29-ffp1-0z7q-TTr4 and lic-55-b7-9d"
        for address in (CLASS, POOL):
            statuses.record(api_server, address, "Xk29-ffp1-0z7q", quoted)

        said, plain = status(), status("-o", "json")
        waited = status("--wait", "ready", "--timeout", "1s")

        assert "AWS refused: (sensitive)" in said.out
        assert "AWS refused: (sensitive)" in waited.err
        assert (
            lines_of(said, CLASS)
            == lines_of(said, POOL)
            == ["(sensitive) (once, last at 2026-11-21T10:00:00Z): no: (sensitive) and (sensitive)"]
        )
        assert [
            word for word in ("ffp1", "55-b7") if word in said.out + plain.out + waited.out + waited.err
        ] == []

    def test_it_is_shortened_and_steers_nothing(self, api_server: ApiServer, status: Status) -> None:
        statuses.record(api_server, CLASS, "Red", f"\x1b[31m\n\n::error::\u202e{'no ' * 2000}")

        (line,) = lines_of(status(), CLASS)

        assert r"\x1b[31m ::error::\u202eno no" in line
        assert len(line) < 400
        assert line.endswith("…")


class TestCost:
    """One look in the end, and at nothing that is Ready."""

    def test_none_where_all_is_ready(
        self, api_server: ApiServer, status: Status, faulty: FaultProxy, tmp_path: Path
    ) -> None:
        statuses.make_ready(api_server, "train")
        statuses.record(api_server, CLASS, "Often", "AWS says no")
        way = str(faulty.kubeconfig(tmp_path))
        faulty.forget()

        said = status("--kubeconfig", way, "--wait", "ready")

        assert (said.code, "  event" in said.out, asked_for_events(faulty)) == (0, False, [])

    def test_one_request_for_each_that_is_not_after_the_wait(
        self, api_server: ApiServer, status: Status, faulty: FaultProxy, tmp_path: Path
    ) -> None:
        statuses.make_ready(api_server, "train", kinds=["NodePool"])
        uid = statuses.get(api_server, "EC2NodeClass", "train")["metadata"]["uid"]
        way = str(faulty.kubeconfig(tmp_path))
        faulty.forget()

        said = status("--kubeconfig", way, "--wait", "ready", "--timeout", "3s")

        assert said.code == 6
        assert asked_for_events(faulty) == [
            {"fieldSelector": f"involvedObject.uid={uid},type=Warning", "limit": "500"}
        ]

    def test_of_many_only_the_first(
        self, api_server: ApiServer, status: Status, faulty: FaultProxy, tmp_path: Path
    ) -> None:
        pools = "".join(
            f"  pool-{number}: {{profile: training, accelerator: h100}}\n" for number in range(12)
        )
        Path("gpupool.yaml").write_text(TEXT + pools, "utf-8")
        names = [f"pool-{number}" for number in range(12)]
        statuses.create_pair(api_server, *names)
        way = str(faulty.kubeconfig(tmp_path))
        faulty.forget()

        said = status("--kubeconfig", way)

        assert (said.code, len(asked_for_events(faulty))) == (0, 8)


class TestWithout:
    """Events are an extra: nothing fails without them."""

    @pytest.mark.parametrize("fault", [unavailable(), Reset()], ids=["unavailable", "broken"])
    def test_a_server_that_does_not_answer(
        self, fault: Fault, status: Status, faulty: FaultProxy, tmp_path: Path
    ) -> None:
        way = str(faulty.kubeconfig(tmp_path))
        faulty.rules = [
            Rule(lambda _method, path, _query, _count: path == statuses.EVENTS, fault, times=None)
        ]

        said = status("--kubeconfig", way)

        assert (said.code, said.err) == (0, "")
        assert f"{CLASS}: not Ready: SubnetsReady=False: SubnetsNotFound: none matched" in said.out

    @pytest.mark.parametrize("is_granted", [True, False])
    def test_what_rbac_prints_is_enough_and_without_it_a_note_says_so(
        self, api_server: ApiServer, status: Status, *, is_granted: bool
    ) -> None:
        statuses.record(api_server, CLASS, "Often", "AWS says no")
        lacking = None if is_granted else ("events", "list")

        with granted_but(api_server, "plan", RoleScope(NAME, "kube-system"), lacking) as user:
            said = status("--as", user)

        assert (said.code, said.err) == (0, "")
        assert ("AWS says no" in said.out) is is_granted
        assert ("note: may not list events in the namespace default" in said.out) is not is_granted
