"""`gpupool status` on the real server: what it says, what it waits for, and its exit codes."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gpupool.planning.foreign_fields import PART_OF
from gpupool.rollout.desired_state import load_desired_state
from gpupool.rollout.inventory import store
from gpupool.rollout.inventory.encoding import InventoryEntry
from gpupool.yamlio.located import plain_map
from tests.cli.blueprints import SMALL
from tests.cli.run import SECONDS, Outcome, gpupool
from tests.rig.fault_proxy import FaultProxy, Rule
from tests.rig.faults import Instead
from tests.rig.forwarding import Answered
from tests.rig.server import ApiServer
from tests.server import leases, statuses
from tests.server.reached import reached

NAME = "status-test"
INVENTORY = f"gpupool-{NAME}"
PLACE = store.InventoryRef("kube-system", INVENTORY)
BLUEPRINT = SMALL.replace("name: demo", f"name: {NAME}").replace(
    "accelerator: h100}", "accelerator: h100, limits: {gpus: 16}}"
)
CLASS, POOL = "train", "train"

Status = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def _clean(api_server: ApiServer) -> Iterator[None]:
    _delete_everything(api_server)
    yield
    _delete_everything(api_server)


def _delete_everything(server: ApiServer) -> None:
    statuses.delete_all(server)
    leases.delete(server, INVENTORY)
    server.request("DELETE", f"/api/v1/namespaces/kube-system/configmaps/{INVENTORY}")


@pytest.fixture
def folder(api_server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a blueprint and the way to the server."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(api_server.kubeconfig))
    (tmp_path / "gpupool.yaml").write_text(BLUEPRINT, "utf-8")
    return tmp_path


@pytest.fixture
def status(folder: Path, capsys: pytest.CaptureFixture[str]) -> Status:
    """Run the command in that folder."""
    assert folder.is_dir()
    return lambda *arguments: gpupool(capsys, "status", *arguments)


@pytest.fixture
def applied(api_server: ApiServer, folder: Path) -> None:
    """What the blueprint wants is there, as apply leaves it; nobody has looked at it yet."""
    wanted = load_desired_state([str(folder / "gpupool.yaml")])
    labels = {PART_OF: PLACE.id, store.BLUEPRINT: NAME}
    for each in wanted.manifests:
        body: dict[str, Any] = {**plain_map(each.data)}
        statuses.create(api_server, {**body, "metadata": {**body["metadata"], "labels": labels}})
    _list(api_server, *((each.ref.kind, each.ref.name) for each in wanted.manifests))


def _list(server: ApiServer, *things: tuple[str, str], finish: bool = True) -> None:
    """Write things into the inventory; without `finish` as an apply that did not come to its end."""
    cluster = reached(server.kubeconfig).cluster
    entries = [InventoryEntry(kind, name, "", 1, "") for kind, name in things]
    began = store.begin(cluster, store.read(cluster, PLACE), entries, "a-plan", "gpupool/0")
    if finish:
        store.finish(cluster, began, entries, {}, "gpupool/0")


def body_of(said: Outcome) -> str:
    """Return what stands below the lines about the cluster."""
    return said.out.split("\n\n", 1)[1]


class TestSays:
    """What stands there without any wait."""

    def test_what_was_never_applied(self, api_server: ApiServer, status: Status) -> None:
        said = status()

        uid = reached(api_server.kubeconfig).uid
        assert (said.code, said.err) == (0, "")
        assert said.out.splitlines() == [
            f"{NAME} on rig ({api_server.url}, uid {uid})",
            "never applied: there is no inventory; run `gpupool apply`",
            "",
            "EC2NodeClass/train: is not in the cluster: run `gpupool apply`",
            "NodePool/train: is not in the cluster: run `gpupool apply`",
        ]

    @pytest.mark.usefixtures("applied")
    def test_what_is_not_ready_yet(self, api_server: ApiServer, status: Status) -> None:
        statuses.fail(api_server, "EC2NodeClass", CLASS, "SubnetsReady", "SubnetsNotFound", "none matched")

        said = status()

        assert (said.code, said.err) == (0, "")
        assert said.out.splitlines()[1] == f"inventory kube-system/{INVENTORY}, serial 1"
        assert body_of(said).splitlines() == [
            "EC2NodeClass/train: not Ready: SubnetsReady=False: SubnetsNotFound: none matched",
            "NodePool/train: not Ready: no status yet: is Karpenter running?",
            "  class train; no NodeClaims",
            "  nvidia.com/gpu 0 of 16",
        ]

    @pytest.mark.usefixtures("applied")
    def test_a_pool_with_nodes(self, api_server: ApiServer, status: Status) -> None:
        _with_nodes(api_server)

        said = status()

        assert said.code == 0
        assert body_of(said).splitlines() == [
            "EC2NodeClass/train: Ready",
            "NodePool/train: Ready",
            "  class train; 4 NodeClaims: 3 Launched, 3 Registered, 2 Initialized, 1 Drifted, 1 being drained",
            "  2 p5.48xlarge (spot, us-east-1a), 1 p5.48xlarge (on-demand, us-east-1b)",
            "  nvidia.com/gpu 16 of 16 (full)",
            "  NodeRegistrationHealthy=False: Unhealthy: no node registers",
        ]

    @pytest.mark.usefixtures("applied")
    def test_the_same_for_programs(self, api_server: ApiServer, status: Status, folder: Path) -> None:
        _with_nodes(api_server)

        said = status("-o", "json=status.json", "-o", "text")
        found = json.loads((folder / "status.json").read_text("utf-8"))

        assert said.out.startswith(f"{NAME} on rig (")
        assert found["cluster"] == {
            "context": "rig",
            "server": api_server.url,
            "uid": reached(api_server.kubeconfig).uid,
        }
        assert found["blueprint"] == NAME
        assert found["inventory"] | {"uid": ""} == {
            "namespace": "kube-system",
            "name": INVENTORY,
            "uid": "",
            "serial": 1,
            "pending": False,
        }
        node_class, pool = found["objects"]
        assert node_class == {
            "kind": "EC2NodeClass",
            "name": "train",
            "exists": True,
            "ready": True,
            "reason": "",
            "events": [],
            "blueprint": NAME,
            "pool": None,
        }
        assert pool["pool"] == {
            "nodeClass": "train",
            "nodeClaims": {
                "total": 4,
                "launched": 3,
                "registered": 3,
                "initialized": 2,
                "ready": 2,
                "drifted": 1,
                "outdated": 1,
                "leaving": 1,
            },
            "machines": [
                {"instanceType": "p5.48xlarge", "capacityType": "spot", "zone": "us-east-1a", "number": 2},
                {
                    "instanceType": "p5.48xlarge",
                    "capacityType": "on-demand",
                    "zone": "us-east-1b",
                    "number": 1,
                },
            ],
            "resources": [{"name": "nvidia.com/gpu", "used": "16", "limit": "16"}],
            "notes": ["NodeRegistrationHealthy=False: Unhealthy: no node registers"],
        }
        assert (found["left"], found["others"], found["notes"]) == ([], [], [])

    @pytest.mark.usefixtures("applied")
    def test_pools_of_others_and_what_is_left_over(self, api_server: ApiServer, status: Status) -> None:
        statuses.create_pair(api_server, "foreign", "left")
        statuses.make_ready(api_server, "foreign", "left")
        statuses.claim(api_server, "foreign-1", "foreign", "Launched")
        labels = {PART_OF: "applyset-x-v1", store.BLUEPRINT: "another"}
        statuses.patch(api_server, "NodePool", "foreign", {"metadata": {"labels": labels}})
        _list(api_server, ("EC2NodeClass", "train"), ("NodePool", "train"), ("NodePool", "left"))

        said = status()

        assert body_of(said).split("\n\n", 1)[1].splitlines() == [
            "No longer in the blueprint; `gpupool apply --prune` deletes:",
            "  NodePool/left: Ready; gpupool has not applied it",
            "    class left; no NodeClaims",
            "    cpu 0 of 64, nvidia.com/gpu 0 of 8",
            "",
            "Other NodePools:",
            "  foreign  blueprint another  Ready  1 NodeClaim: 1 Launched, 0 Registered, 0 Initialized",
        ]

    def test_what_others_applied_under_our_names(self, api_server: ApiServer, status: Status) -> None:
        statuses.create_pair(api_server, "train")
        labels = {PART_OF: "applyset-x-v1", store.BLUEPRINT: "another"}
        statuses.patch(api_server, "NodePool", POOL, {"metadata": {"labels": labels}})
        statuses.make_ready(api_server, "train")

        said = status()

        assert "EC2NodeClass/train: Ready; gpupool has not applied it\n" in said.out
        assert "NodePool/train: Ready; it belongs to blueprint another\n" in said.out

    @pytest.mark.usefixtures("applied")
    def test_what_is_being_deleted(self, api_server: ApiServer, status: Status) -> None:
        statuses.patch(
            api_server, "EC2NodeClass", CLASS, {"metadata": {"finalizers": ["karpenter.k8s.aws/termination"]}}
        )
        statuses.delete(api_server, "EC2NodeClass", CLASS)

        said = status()

        assert said.code == 0
        assert "EC2NodeClass/train: it is being deleted since 2" in said.out
        assert "held by karpenter.k8s.aws/termination\n" in said.out

    @pytest.mark.usefixtures("applied")
    def test_an_apply_that_was_interrupted(self, api_server: ApiServer, status: Status) -> None:
        _list(api_server, ("NodePool", "train"), finish=False)

        said, plain = status(), status("-o", "json")

        assert said.out.splitlines()[2] == "an apply was interrupted: run `gpupool apply` again"
        assert json.loads(plain.out)["inventory"]["pending"] is True

    @pytest.mark.usefixtures("applied")
    @pytest.mark.parametrize(
        ("renewed", "words"),
        [
            (0, "an apply is in progress; the lock is held by other@runner"),
            (-600, "an apply was interrupted: run"),
        ],
    )
    def test_an_apply_whose_lock_is_there(
        self, api_server: ApiServer, status: Status, renewed: float, words: str
    ) -> None:
        _list(api_server, ("NodePool", "train"), finish=False)
        leases.held_by_another(api_server, INVENTORY, renewed=renewed)

        assert status().out.splitlines()[2].startswith(words)

    def test_an_inventory_that_is_none_of_ours(self, api_server: ApiServer, status: Status) -> None:
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": INVENTORY},
            "data": {"current": "{"},
        }
        path = "/api/v1/namespaces/kube-system/configmaps"
        assert api_server.request("POST", path, json.dumps(body).encode()).status == 201

        said, plain = status(), status("-o", "json")

        assert (said.code, said.err) == (0, "")
        assert f"note: the ConfigMap kube-system/{INVENTORY} is not a valid inventory" in said.out
        assert json.loads(plain.out)["inventory"] is None

    def test_a_server_without_karpenter(self, faulty: FaultProxy, status: Status, tmp_path: Path) -> None:
        absent = Instead(Answered(404, (("Content-Type", "text/plain"),), b"404 page not found\n"))
        faulty.rules = [Rule(lambda _method, path, _query, _nth: "karpenter" in path, absent, times=None)]

        said = status("--kubeconfig", faulty.kubeconfig(tmp_path))

        assert (said.code, said.err) == (0, "")
        assert [line for line in said.out.splitlines() if line.startswith("note: ")] == [
            "note: the API server does not serve EC2NodeClass; Karpenter's CRDs may be missing",
            "note: the API server does not serve NodePool; Karpenter's CRDs may be missing",
        ]

    @pytest.mark.parametrize(
        ("features", "words"),
        [
            ("", "Ready (not judged: the feature gate NodeOverlay is off)"),
            ("features: [NodeOverlay], ", "not Ready: no status yet"),
        ],
    )
    def test_overlays_count_where_karpenter_looks_at_them(
        self, api_server: ApiServer, status: Status, folder: Path, features: str, words: str
    ) -> None:
        overlay = "nodeOverlays: {dear: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}], priceAdjustment: '+10%'}}\n"
        text = BLUEPRINT.replace("cluster: {", "cluster: {" + features)
        (folder / "gpupool.yaml").write_text(text + overlay, "utf-8")
        for each in load_desired_state(["gpupool.yaml"]).manifests:
            statuses.create(api_server, plain_map(each.data))
        statuses.make_ready(api_server, "train")

        said, waited = status(), status("--wait", "ready", "--timeout", "2s")

        assert f"NodeOverlay/dear: {words}" in said.out
        assert waited.code == (6 if features else 0)


class TestWaits:
    """`--wait`, and how it ends."""

    @pytest.mark.usefixtures("applied")
    @pytest.mark.parametrize("wait", ["ready", "rollout"])
    def test_all_is_well(self, api_server: ApiServer, status: Status, wait: str) -> None:
        statuses.make_ready(api_server, "train")

        said = status("--wait", wait)

        assert said.code == 0
        assert body_of(said).startswith("EC2NodeClass/train: Ready\nNodePool/train: Ready\n")
        lines = ["EC2NodeClass/train: Ready", "NodePool/train: Ready"]
        assert said.err.splitlines() == lines + ["NodePool/train: no NodeClaims"] * (wait == "rollout")

    @pytest.mark.usefixtures("applied")
    @pytest.mark.parametrize("wait", ["ready", "rollout"])
    def test_not_ready_in_time(self, api_server: ApiServer, status: Status, wait: str) -> None:
        statuses.make_ready(api_server, "train", kinds=["EC2NodeClass"])

        said = status("--wait", wait, "--timeout", "1.5s")

        words = {"ready": "Ready", "rollout": "rolled out"}[wait]
        assert said.code == 6
        assert "NodePool/train: not Ready: no status yet: is Karpenter running?\n" in said.out
        assert said.err.splitlines() == [
            "EC2NodeClass/train: Ready",
            "NodePool/train: no status yet: is Karpenter running?",
            f"error: not {words} in time: NodePool/train: no status yet: is Karpenter running?",
        ]

    def test_what_is_not_there_is_not_waited_for(self, status: Status) -> None:
        said = status("--wait", "ready", "--timeout", "1h")

        assert said.code == 6
        assert "NodePool/train: not waited for: does not exist\n" in said.err
        assert said.err.splitlines()[-1] == (
            "error: not Ready in time: EC2NodeClass/train: does not exist; NodePool/train: does not exist"
        )

    @pytest.mark.usefixtures("applied")
    def test_not_rolled_out_in_time(self, api_server: ApiServer, status: Status) -> None:
        statuses.make_ready(api_server, "train")
        statuses.claim(api_server, "train-1", POOL, "Launched", "Drifted:NodePoolDrifted")

        said = status("--wait", "rollout", "--timeout", "2s")

        why = "NodePoolDrifted: Karpenter replaces no node that is not Initialized"
        assert said.code == 6
        assert f"NodeClaim/train-1: {why}\n" in said.err
        assert said.err.splitlines()[-1] == (
            "error: not rolled out in time: NodePool/train: 1 of 1 NodeClaims are to be replaced;"
            f" NodeClaim/train-1: {why}"
        )

    @pytest.mark.usefixtures("applied")
    @pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
    def test_a_signal_ends_it(self, folder: Path, number: signal.Signals, code: int) -> None:
        with _process(folder, "--wait", "ready", stderr=subprocess.PIPE) as child:
            assert child.stderr
            assert child.stderr.readline().startswith(b"EC2NodeClass/train: no status yet")
            child.send_signal(number)
            out, err = child.communicate(timeout=SECONDS)

        assert (child.returncode, out) == (code, b"")
        assert err.decode().splitlines()[-1] == "error: stopped by a signal"

    @pytest.mark.usefixtures("applied")
    @pytest.mark.parametrize("number", [None, signal.SIGTERM])
    def test_on_a_terminal(self, api_server: ApiServer, folder: Path, number: signal.Signals | None) -> None:
        statuses.make_ready(api_server, "train", kinds=["EC2NodeClass"])
        ours, theirs = pty.openpty()
        try:
            with _process(folder, "--wait", "ready", stderr=theirs) as child:
                os.close(theirs)
                said = _read_until(ours, b" NodePool/train: ")
                if number is None:
                    statuses.make_ready(api_server, "train")
                else:
                    child.send_signal(number)
                child.communicate(timeout=SECONDS)
                said += _rest(ours)
        finally:
            os.close(ours)

        assert child.returncode == (143 if number else 0)
        assert said.startswith(b"\x1b[?25l")
        assert b"EC2NodeClass/train: Ready" in said
        assert said.count(b"\x1b[?25h") == 1
        assert said.index(b"\x1b[?25h") > said.rindex(b" NodePool/train: ")
        assert (b"\rNodePool/train: Ready" in said or b"KNodePool/train: Ready" in said) == (number is None)


OTHERS = {
    "no rights": (["--as", "nobody"], 1, 'cannot get resource "namespaces"'),
    "no such context": (["--context", "elsewhere"], 1, "elsewhere"),
    "no blueprint": (["-f", "absent.yaml"], 1, "1 error"),
    "a bad flag": (["--watch"], 64, "No such option: --watch"),
    "a bad wait": (["--wait", "done"], 64, "is not one of 'ready', 'rollout'"),
    "a bad format": (["-o", "yaml"], 64, "unknown format `yaml`; use one of text, json"),
    "standard input twice": (["-f", "-", "-f", "-"], 64, "standard input can be read only once"),
    "no place for the result": (["-o", "json=gpupool.yaml/status.json"], 1, "can't write it"),
}


@pytest.mark.parametrize(("arguments", "code", "words"), OTHERS.values(), ids=OTHERS)
def test_other_ends(status: Status, arguments: list[str], code: int, words: str) -> None:
    said = status(*arguments)

    assert (said.code, said.out) == (code, "")
    assert words in said.err


def test_another_cluster_is_not_asked(status: Status, folder: Path) -> None:
    (folder / "gpupool.yaml").write_text(BLUEPRINT.replace("cluster: {", "cluster: {uid: other, "), "utf-8")

    said = status()

    assert (said.code, said.out) == (3, "")
    assert "wrong cluster" in said.err


def _with_nodes(server: ApiServer) -> None:
    statuses.make_ready(server, "train")
    healthy = dict.fromkeys(("ValidationSucceeded", "NodeClassReady", "Ready"), statuses.TRUE)
    unhealthy = {"NodeRegistrationHealthy": ("False", "Unhealthy", "no node registers")}
    statuses.say(
        server, "NodePool", POOL, {**healthy, **unhealthy}, resources={"nvidia.com/gpu": "16", "cpu": "384"}
    )
    done = ("Launched", "Registered", "Initialized", "Ready")
    statuses.claim(server, "train-1", POOL, *done)
    statuses.claim(
        server, "train-2", POOL, *done, "Drifted:NodePoolDrifted", finalizers=["karpenter.sh/termination"]
    )
    statuses.claim(server, "train-3", POOL, *done[:2], machine=("p5.48xlarge", "on-demand", "us-east-1b"))
    statuses.claim(server, "train-4", POOL, machine=("", "", ""))
    statuses.delete(server, "NodeClaim", "train-2")


def _process(folder: Path, *arguments: str, stderr: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "gpupool", "status", *arguments]
    return subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr,
        env={**os.environ, "TERM": "xterm"},
    )  # fmt: skip


def _read_until(file: int, words: bytes) -> bytes:
    said, until = b"", time.monotonic() + SECONDS
    while words not in said:
        assert time.monotonic() < until, said
        said += os.read(file, 4096)
    return said


def _rest(file: int) -> bytes:
    """Return what is left of a terminal whose other end is closed, which its reader is told as an error."""
    said = b""
    try:
        while piece := os.read(file, 4096):
            said += piece
    except OSError:
        pass
    return said
