"""From a blueprint to a machine: apply an example, let the real Karpenter take it, and look at what it launches."""

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run import Outcome, process
from tests.rig import karpenter as rig
from tests.rig.server import CHECKOUT, ApiServer, api_server
from tests.server import statuses

EXAMPLE = CHECKOUT / "docs" / "examples" / "ml-platform" / "base.yaml"
HERE = """\
apiVersion: gpupool.dev/v1alpha1
kind: Blueprint
cluster: {name: rig, context: rig}
"""
WITHOUT_CHAT = HERE + "pools: {chat: null}\n"
SECONDS = 120


@pytest.fixture(scope="module")
def own_server() -> Iterator[ApiServer]:
    """A server of its own: Karpenter acts on every NodePool that it finds."""
    with api_server() as found:
        yield found


@pytest.fixture(scope="module")
def controller(own_server: ApiServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[rig.Karpenter]:
    with rig.karpenter(own_server, tmp_path_factory.mktemp("karpenter")) as found:
        yield found


class Cluster:
    """gpupool on this cluster."""

    def __init__(self, server: ApiServer, folder: Path) -> None:
        self.server, self.folder = server, folder
        (folder / "here.yaml").write_text(HERE, "utf-8")
        (folder / "without-chat.yaml").write_text(WITHOUT_CHAT, "utf-8")

    def __call__(self, *arguments: str, overlay: str = "here.yaml") -> Outcome:
        files = ["-f", str(EXAMPLE), "-f", overlay]
        environment = {"KUBECONFIG": str(self.server.kubeconfig)}
        return process(*arguments, *files, folder=self.folder, environment=environment)

    def ready(self, kind: str) -> dict[str, str]:
        found = self.server.request("GET", f"/apis/{kind}").body["items"]
        return {
            each["metadata"]["name"]: condition["status"]
            for each in found
            for condition in each.get("status", {}).get("conditions", [])
            if condition["type"] == "Ready"
        }


@pytest.fixture(scope="module")
def applied(controller: rig.Karpenter, tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    """The cluster after the example was applied and everything was waited for."""
    cluster = Cluster(controller.server, tmp_path_factory.mktemp("work"))
    done = cluster("apply", "--yes", "--timeout", "5m")
    assert done.code == 0, done.err
    return cluster


@pytest.fixture(scope="module")
def claim(applied: Cluster, controller: rig.Karpenter) -> dict[str, Any]:  # noqa: ARG001 - what it needs
    """The NodeClaim that Karpenter makes for a Pod that wants a GPU."""
    gpu = {"resources": {"limits": {"nvidia.com/gpu": "1"}, "requests": {"cpu": "1", "nvidia.com/gpu": "1"}}}
    spec = {
        "containers": [{"name": "c", "image": "i", **gpu}],
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "nodeSelector": {"karpenter.sh/nodepool": "chat-spot"},
    }
    controller.pend("wants-a-gpu", spec)
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        for found in controller.node_claims(("chat-spot",)):
            if "node.kubernetes.io/instance-type" in found["metadata"]["labels"]:
                return found
        time.sleep(0.5)
    pytest.fail(f"no NodeClaim was launched:\n{controller.log.read_text()[-3000:]}")


def test_classes_and_pools_are_ready(applied: Cluster) -> None:
    classes = applied.ready("karpenter.k8s.aws/v1/ec2nodeclasses")
    pools = applied.ready("karpenter.sh/v1/nodepools")

    assert classes == dict.fromkeys(("batch", "chat", "pretrain"), "True")
    assert pools == dict.fromkeys(("batch", "chat-ondemand", "chat-spot", "pretrain"), "True")


def test_what_karpenter_writes_is_no_difference(applied: Cluster) -> None:
    again = applied("diff")

    assert again.code == 0, again.out
    assert "No changes" in again.out


def test_it_launches_a_type_that_explain_lists(applied: Cluster, claim: dict[str, Any]) -> None:
    explained = json.loads(applied("explain", "chat", "-o", "json").out)
    listed = {
        each["instanceType"]
        for tier in explained["tiers"]
        if tier["pool"] == "chat-spot"
        for each in tier["candidates"]
        if each["launchable"]
    }

    assert claim["metadata"]["labels"]["node.kubernetes.io/instance-type"] in listed


def test_status_shows_it(applied: Cluster, claim: dict[str, Any]) -> None:
    launched = claim["metadata"]["labels"]["node.kubernetes.io/instance-type"]

    text = applied("status")
    plain = json.loads(applied("status", "-o", "json").out)

    assert text.code == 0, text.err
    assert "NodePool/chat-spot: Ready" in text.out
    assert launched in text.out
    assert launched in json.dumps(plain)


LATE = """\
apiVersion: gpupool.dev/v1alpha1
kind: Blueprint
metadata: {name: late}
cluster: {name: rig, region: us-east-1, timezone: UTC, context: rig}
defaults: {nodeClass: {ami: al2023@DATED}}
pools:
  dated: {profile: inference, accelerator: l4, limits: {gpus: 8}}
"""
LOGGED = "Karpenter failed, and the error is only in its log"


class TestLate:
    """Classes that Karpenter, as it is, does not call Ready."""

    @pytest.fixture
    def blueprint(self, tmp_path: Path) -> Path:
        return tmp_path / "late.yaml"

    @pytest.fixture
    def run(self, controller: rig.Karpenter, blueprint: Path) -> Iterator[Callable[..., Outcome]]:
        environment = {"KUBECONFIG": str(controller.server.kubeconfig)}
        yield lambda *words: process(
            *words, "-f", str(blueprint), folder=blueprint.parent, environment=environment
        )
        for kind in ("NodePool", "EC2NodeClass"):
            for name in ("dated", "roled", "dangling"):
                statuses.delete(controller.server, kind, name)

    def test_an_ami_date_that_was_never_published(
        self, controller: rig.Karpenter, run: Callable[..., Outcome], blueprint: Path
    ) -> None:
        """A new class has no result for its AMI; one that was changed keeps the result of before the change."""
        why = f"no result for AMIsReady (spec.amiSelectorTerms: al2023@v20991231): {LOGGED}"
        blueprint.write_text(LATE.replace("DATED", "v20991231"), "utf-8")
        new = run("apply", "--yes", "--timeout", "12s")
        logged = re.search(r"grep '([^']+)'", new.err)
        blueprint.write_text(LATE.replace("DATED", "v20260810"), "utf-8")
        fixed = run("apply", "--yes", "--timeout", "90s")
        blueprint.write_text(LATE.replace("DATED", "v20991231"), "utf-8")
        changed = run("apply", "--yes", "--timeout", "12s")
        status = run("status")

        assert (new.code, fixed.code, changed.code) == (7, 0, 6), (new.err, fixed.err, changed.err)
        assert f"EC2NodeClass/dated not ready (create): {why}\n" in new.err
        assert f"EC2NodeClass/dated not ready (update): {why}\n" in changed.err
        assert f"EC2NodeClass/dated: not Ready: {why}\n" in status.out
        assert "state: changed and not Ready: EC2NodeClass/dated." in changed.err
        assert logged
        lines = [each for each in controller.log.read_text("utf-8").splitlines() if logged[1] in each]
        assert any("failed to discover any AMIs for alias" in each for each in lines)

    def test_a_role_that_does_not_exist(self, run: Callable[..., Outcome], blueprint: Path) -> None:
        text = LATE.replace("{ami: al2023@DATED}", "{ami: al2023@v20260810, role: no-such-role}")
        blueprint.write_text(text.replace("dated", "roled"), "utf-8")

        said = run("apply", "--yes", "--timeout", "12s")

        why = f"no result for InstanceProfileReady (spec.role: no-such-role): {LOGGED}"
        assert said.code == 7, said.err
        assert f"EC2NodeClass/roled not ready (create): {why}\n" in said.err

    def test_the_warning_about_a_pool_without_a_class(
        self, controller: rig.Karpenter, run: Callable[..., Outcome], blueprint: Path
    ) -> None:
        """The one event of type Warning that Karpenter 1.14 records of such objects."""
        blueprint.write_text(LATE.replace("DATED", "v20260810").replace("dated", "dangling"), "utf-8")
        statuses.create(controller.server, statuses.pair("dangling")[1])

        deadline = time.monotonic() + SECONDS
        while "Failed resolving NodeClass" not in (said := run("status")).out:
            assert time.monotonic() < deadline, said.out
            time.sleep(1)

        assert "NodePool/dangling: not Ready: NodeClassReady=False: NodeClassNotFound" in said.out
        assert re.search(
            r"^  event \(once, last at [^)]+\): Failed resolving NodeClass$", said.out, re.MULTILINE
        )


def test_a_pool_with_a_node_is_not_deleted(applied: Cluster, claim: dict[str, Any]) -> None:
    held = applied("apply", "--yes", "--prune", "--max-deletes", "2", overlay="without-chat.yaml")

    pools = applied.ready("karpenter.sh/v1/nodepools")
    assert held.code == 3, held.err
    assert "NodePool/chat-spot" in held.err
    assert "chat-spot" in pools
    assert "chat-ondemand" not in pools
    assert [
        each["metadata"]["uid"]
        for each in applied.server.request("GET", "/apis/karpenter.sh/v1/nodeclaims").body["items"]
    ] == [claim["metadata"]["uid"]]
