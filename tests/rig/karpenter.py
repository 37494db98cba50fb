"""Karpenter 1.14.1 as it is, on the rig's API server and an AWS account on loopback; EC2's launch is simulated."""

import base64
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.error import URLError
from urllib.request import urlopen

from tests.rig import programs
from tests.rig.cloud import CLUSTER, REGION
from tests.rig.errors import RigError
from tests.rig.kept import kept
from tests.rig.processes import ensure_alive, free_ports, let_end
from tests.rig.server import CHECKOUT, ApiServer

NAMESPACE: Final = "karpenter"
START_SECONDS: Final = 120.0
PAUSE_SECONDS: Final = 0.2
GATES: Final = "NodeOverlay=true,StaticCapacity=true,ReservedCapacity=true"


@dataclass(frozen=True, slots=True)
class Karpenter:
    """A running controller."""

    server: ApiServer
    log: Path

    def pend(self, name: str, spec: dict[str, Any]) -> None:
        """Make a Pod, and say what the scheduler would: that it fits on no node.

        Raises:
            RigError: where the server refuses it.
        """
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
        unscheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        path = "/api/v1/namespaces/default/pods"
        self._ask("POST", path, body)
        self._ask("PATCH", f"{path}/{name}/status", {"status": {"conditions": [unscheduled]}})

    def node_claims(self, pools: tuple[str, ...]) -> list[dict[str, Any]]:
        """Return the NodeClaims of some NodePools."""
        found = self.server.request("GET", "/apis/karpenter.sh/v1/nodeclaims").body["items"]
        return [each for each in found if each["metadata"]["labels"]["karpenter.sh/nodepool"] in pools]

    def _ask(self, method: str, path: str, body: dict[str, Any]) -> None:
        kind = "application/json" if method == "POST" else "application/merge-patch+json"
        answer = self.server.request(method, path, json.dumps(body).encode(), kind)
        if answer.status >= 300:
            message = f"{method} {path}: {answer.status} {answer.body.get('message')}"
            raise RigError(message)


@contextmanager
def karpenter(server: ApiServer, folder: Path) -> Iterator[Karpenter]:
    """Run Karpenter against a server while the block runs; its log is written into the folder.

    Raises:
        RigError: It can't be built or does not start.
    """
    program = programs.build(programs.KARPENTER)
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    server.request("POST", "/api/v1/namespaces", json.dumps(body).encode())
    said = server.request("GET", "/version").body
    log = folder / "karpenter.log"
    with _cloud(f"{said['major']}.{said['minor']}") as cloud:
        metrics, health = free_ports(2)
        command = ["env", *_settings(server, cloud, metrics, health), str(program.path)]
        with kept(command, log) as process:
            _wait(f"http://127.0.0.1:{health}/readyz", process, log)
            yield Karpenter(server, log)


def _settings(server: ApiServer, cloud: dict[str, str], metrics: int, health: int) -> list[str]:
    found = {
        "KUBECONFIG": str(server.kubeconfig),
        "SYSTEM_NAMESPACE": NAMESPACE,
        "KARPENTER_SERVICE": "karpenter",
        "CLUSTER_NAME": CLUSTER,
        "CLUSTER_ENDPOINT": server.url,
        "CLUSTER_CA_BUNDLE": base64.b64encode(b"rig").decode(),
        "DISABLE_LEADER_ELECTION": "true",
        "ISOLATED_VPC": "true",
        "METRICS_PORT": str(metrics),
        "HEALTH_PROBE_PORT": str(health),
        "KUBERNETES_MIN_VERSION": "1.26.0-0",
        "FEATURE_GATES": GATES,
        "BATCH_IDLE_DURATION": "1s",
        "BATCH_MAX_DURATION": "2s",
        "AWS_ACCESS_KEY_ID": "rig",
        "AWS_SECRET_ACCESS_KEY": "rig",
        "AWS_REGION": REGION,
        "AWS_ENDPOINT_URL": cloud["url"],
        "AWS_ENDPOINT_URL_PRICING": cloud["prices"],
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    return [f"{name}={value}" for name, value in found.items()]


@contextmanager
def _cloud(minor: str) -> Iterator[dict[str, str]]:
    command = [sys.executable, "-m", "tests.rig.cloud", minor]
    with subprocess.Popen(
        command, cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        start_new_session=True, env={**os.environ},
    ) as process:  # fmt: skip
        try:
            line = process.stdout.readline() if process.stdout else ""
            if not line:
                message = "the AWS account ended before it was ready"
                raise RigError(message)
            yield json.loads(line)
        finally:
            let_end(process)


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not _answers(url):
        ensure_alive(process, log)
        if time.monotonic() > deadline:
            message = f"Karpenter is not ready after {START_SECONDS:.0f} s:\n{log.read_text()[-2000:]}"
            raise RigError(message)
        time.sleep(PAUSE_SECONDS)


def _answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=5) as answer:  # noqa: S310 - the address is ours
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False
