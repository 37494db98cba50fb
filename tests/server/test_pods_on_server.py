"""A pod as it is written asks for the same as the pod that the API server makes of it, defaults included."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING

from gpupool.karpenter.pod_reading import read_pod
from gpupool.yamlio.documents import read_documents

if TYPE_CHECKING:
    from gpupool.karpenter.pods import Pod
    from tests.rig.scheduling_answers import Body
    from tests.rig.server import ApiServer

SEED = 20_261_121
PODS = 400


def test_defaults_are_counted_as_the_server_fills_them_in(api_server: ApiServer) -> None:
    chance = Random(SEED)  # noqa: S311 - the same sequence each time
    different, filled = [], 0
    for number in range(PODS):
        spec = pod_spec(chance)
        body = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p", "namespace": "default"},
            "spec": spec,
        }
        stored = api_server.post_dry_run(json.dumps(body).encode(), "Pod")
        assert stored.accepted, f"seed {SEED}, pod {number}: {stored.message}"
        ours, theirs = asked(read(spec)), asked(read(stored.stored["spec"]))
        if ours != theirs:
            different.append((number, spec, ours, theirs))
        filled += stored.stored["spec"]["containers"] != spec["containers"]

    assert not different, f"seed {SEED}: {len(different)} differ, the first: {different[0]}"
    assert filled > PODS / 2


def read(spec: Body) -> Pod:
    node = next(read_documents(json.dumps(spec).encode(), "pod.json")).node
    assert node is not None
    found = read_pod(node, "spec", "Pod/p")
    assert found.pod is not None, found.findings
    return found.pod


def asked(pod: Pod) -> object:
    """Return what a pod asks; the server adds tolerations of its own for nodes that go away."""
    return dict(pod.requests), pod.host_ports, dict(pod.node_selector or {}), pod.required, pod.preferred


def pod_spec(chance: Random) -> Body:
    """Make a pod that the server takes: no request is above its limit."""
    spec: Body = {"containers": [container(chance, f"c{index}") for index in range(chance.choice([1, 1, 2]))]}
    spec["initContainers"] = [container(chance, f"i{index}") for index in range(chance.choice([0, 0, 1, 2]))]
    for each in spec["initContainers"]:
        if chance.random() < 0.5:
            each["restartPolicy"] = "Always"
    if chance.random() < 0.4:
        # So much that it is never below what the containers ask for.
        kinds = chance.choice([("requests",), ("limits",), ("requests", "limits")])
        spec["resources"] = {kind: {name: amount for name, amount in (("cpu", "64"), ("memory", "64Gi"))
                                    if chance.random() < 0.7} for kind in kinds}  # fmt: skip
    if chance.random() < 0.3:
        spec["hostNetwork"] = True
        for each in [*spec["containers"], *spec["initContainers"]]:
            for port in each.get("ports", []):
                port.pop("hostPort", None)
    return spec


def container(chance: Random, name: str) -> Body:
    made: Body = {"name": name, "image": "i", "resources": {"requests": {}, "limits": {}}}
    for resource, low, high in (
        ("cpu", "250m", 2),
        ("memory", "64Mi", "1.5Gi"),
        ("ephemeral-storage", "1G", "2Gi"),
    ):
        if chance.random() < 0.5:
            made["resources"]["limits"][resource] = high
        if chance.random() < 0.5:
            made["resources"]["requests"][resource] = low
    if chance.random() < 0.3:
        made["resources"]["limits"]["nvidia.com/gpu"] = chance.choice([1, "8"])
    if chance.random() < 0.3:
        number = int(name[1:]) + (8000 if name[0] == "c" else 9000)
        made["ports"] = [{"containerPort": number, **({"hostPort": number} if chance.random() < 0.5 else {})}]
    return made
