"""`gpupool unlock` on the real server: who holds the lock, and only that one deleted."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.blueprints import SMALL
from tests.cli.run import Outcome, gpupool
from tests.rig.fault_proxy import FaultProxy, Rule
from tests.rig.faults import Fault, Reset, conflict
from tests.rig.server import ApiServer
from tests.server import leases

NAME = "unlock-test"
LOCK = f"gpupool-{NAME}"

Unlock = Callable[..., Outcome]


@pytest.fixture
def unlock(
    api_server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Unlock]:
    """Run the command in a folder with a blueprint."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(api_server.kubeconfig))
    Path("gpupool.yaml").write_text(SMALL.replace("name: demo", f"name: {NAME}"), "utf-8")

    yield lambda *arguments: gpupool(capsys, "unlock", *arguments)

    leases.delete(api_server, LOCK)


@pytest.mark.parametrize("arguments", [[], ["0ther1d0"]], ids=["who", "delete"])
def test_nobody_holds_it(unlock: Unlock, arguments: list[str]) -> None:
    said = unlock(*arguments)

    assert (said.code, said.err) == (0, "")
    assert said.out == f"the lock kube-system/{LOCK} is free\n"


def test_says_who_holds_it(api_server: ApiServer, unlock: Unlock) -> None:
    leases.held_by_another(api_server, LOCK)
    found = leases.read(api_server, LOCK)
    assert found is not None

    said = unlock("-f", "gpupool.yaml", "--context", "rig")

    lines = said.out.splitlines()
    assert said.code == 3
    assert lines[:5] == [
        f"lock     kube-system/{LOCK}",
        "holder   other@runner, process 77",
        "id       0ther1d0",
        "run      https://ci.example/runs/5",
        f"since    {found['spec']['acquireTime']}",
    ]
    assert lines[5].startswith(f"renewed  {found['spec']['renewTime']}, ")
    assert lines[5].endswith(" s ago; it holds for 60 s")
    assert said.err == (
        f"error: the lock kube-system/{LOCK} is held; if its run is dead, delete it:"
        " gpupool unlock 0ther1d0 -f gpupool.yaml --context rig\n"
    )
    assert leases.read(api_server, LOCK) == found


@pytest.mark.parametrize(
    ("renewed", "words"),
    [
        (-100, "100 s ago; which is too long: that run seems dead"),
        (-1000, "16 min ago; which"),
        (-90000, "25 h ago; which"),
    ],
)
def test_says_how_old_it_is(api_server: ApiServer, unlock: Unlock, renewed: float, words: str) -> None:
    leases.held_by_another(api_server, LOCK, renewed=renewed)

    assert words in unlock().out


def test_deletes_the_one_that_is_meant(api_server: ApiServer, unlock: Unlock) -> None:
    leases.held_by_another(api_server, LOCK, renewed=-100)

    said = unlock("0ther1d0")

    assert (said.code, said.err) == (0, "")
    assert said.out == f"deleted the lock kube-system/{LOCK} of other@runner (0ther1d0)\n"
    assert leases.read(api_server, LOCK) is None


def test_says_so_where_that_run_may_live(api_server: ApiServer, unlock: Unlock) -> None:
    leases.held_by_another(api_server, LOCK)

    said = unlock("0ther1d0")

    assert said.code == 0
    assert said.out.splitlines()[1].endswith(" s ago: if that run is alive, it ends before its next write")


def test_what_another_tool_holds_is_meant_as_a_whole(api_server: ApiServer, unlock: Unlock) -> None:
    leases.held_by_another(api_server, LOCK, who="some controller_8d1e")

    named = unlock()
    said = unlock("some controller_8d1e")

    assert "id      some controller_8d1e" in named.out.replace("id       ", "id      ")
    assert "gpupool unlock 'some controller_8d1e'" in named.err
    assert said.code == 0
    assert leases.read(api_server, LOCK) is None


def test_another_holder_is_left_alone(api_server: ApiServer, unlock: Unlock) -> None:
    leases.held_by_another(api_server, LOCK)

    said = unlock("1f8a77c2")

    assert (said.code, said.out) == (3, "")
    assert said.err.startswith(
        f"error: the lock kube-system/{LOCK} is not 1f8a77c2's, it is held by other@runner, process 77,"
    )
    assert said.err.endswith("to delete that one: gpupool unlock 0ther1d0\n")
    assert leases.holder(api_server, LOCK) == leases.OTHER


@pytest.mark.parametrize(
    "fault",
    [conflict(), Reset(), Reset(after_answer=True)],
    ids=["renewed meanwhile", "broken", "lost answer"],
)
def test_faults_on_the_way(
    api_server: ApiServer, faulty: FaultProxy, unlock: Unlock, tmp_path: Path, fault: Fault
) -> None:
    leases.held_by_another(api_server, LOCK)
    faulty.rules = [Rule(lambda method, _path, _query, _nth: method == "DELETE", fault)]

    said = unlock("0ther1d0", "--kubeconfig", faulty.kubeconfig(tmp_path))

    assert (said.code, said.err) == (0, "")
    assert leases.read(api_server, LOCK) is None


def test_one_that_never_stands_still(
    api_server: ApiServer, faulty: FaultProxy, unlock: Unlock, tmp_path: Path
) -> None:
    leases.held_by_another(api_server, LOCK)
    faulty.rules = [Rule(lambda method, _path, _query, _nth: method == "DELETE", conflict(), times=None)]

    said = unlock("0ther1d0", "--kubeconfig", faulty.kubeconfig(tmp_path))

    assert (said.code, said.out) == (1, "")
    assert said.err == f"error: the lock kube-system/{LOCK} keeps being renewed: its run is alive\n"


def test_the_next_run_s_lock_is_left_alone(
    api_server: ApiServer, faulty: FaultProxy, unlock: Unlock, tmp_path: Path
) -> None:
    """What is meant goes while its deletion is under way, and the next run takes the lock."""
    leases.held_by_another(api_server, LOCK)

    def next_run(method: str, _path: str, _query: object, _nth: int) -> bool:
        if method == "DELETE" and leases.holder(api_server, LOCK) == leases.OTHER:
            leases.delete(api_server, LOCK)
            leases.held_by_another(api_server, LOCK, who="next@runner/78/next1234")
        return False

    faulty.rules = [Rule(next_run, conflict())]

    said = unlock("0ther1d0", "--kubeconfig", faulty.kubeconfig(tmp_path))

    assert said.code == 0
    assert leases.holder(api_server, LOCK) == "next@runner/78/next1234"


OTHERS = {
    "no rights": (["--as", "nobody"], 1, 'cannot get resource "namespaces"'),
    "no such context": (["--context", "elsewhere"], 1, "elsewhere"),
    "no kubeconfig": (["--kubeconfig", "absent"], 1, "can't use absent"),
    "no blueprint": (["-f", "absent.yaml"], 1, "1 error"),
    "a bad flag": (["--force"], 64, "No such option: --force"),
    "two ids": (["a", "b"], 64, "unexpected extra argument"),
    "no time": (["--timeout", "soon"], 64, "expected a duration such as 90s"),
}


@pytest.mark.parametrize(("arguments", "code", "words"), OTHERS.values(), ids=OTHERS)
def test_other_ends(
    api_server: ApiServer, unlock: Unlock, arguments: list[str], code: int, words: str
) -> None:
    leases.held_by_another(api_server, LOCK)

    said = unlock("0ther1d0", *arguments)

    assert (said.code, said.out) == (code, "")
    assert words in said.err
    assert leases.holder(api_server, LOCK) == leases.OTHER


def test_another_cluster_is_left_alone(api_server: ApiServer, unlock: Unlock) -> None:
    leases.held_by_another(api_server, LOCK)
    blueprint = Path("gpupool.yaml")
    blueprint.write_text(
        blueprint.read_text("utf-8").replace("cluster: {", "cluster: {uid: other, "), "utf-8"
    )

    said = unlock("0ther1d0")

    assert said.code == 3
    assert "wrong cluster" in said.err
    assert leases.holder(api_server, LOCK) == leases.OTHER
