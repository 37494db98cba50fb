"""What is read in a pod's spec: requests as Kubernetes counts them, tolerations, ports, and mistakes with their places."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from gpupool.karpenter.pod_reading import PodRead, read_pod
from gpupool.karpenter.pods import HostPort, NodeTaint, Toleration
from gpupool.yamlio.documents import read_documents

if TYPE_CHECKING:
    from gpupool.karpenter.pods import Pod

MI, GI = 2**20, 2**30


def read(spec: object) -> PodRead:
    node = next(read_documents(json.dumps(spec).encode(), "pod.json")).node
    assert node is not None
    return read_pod(node, "spec", "Pod/p")


def pod(**spec: object) -> Pod:
    found = read({"containers": [{"name": "c"}], **spec})
    assert found.pod is not None, found.findings
    return found.pod


def container(requests: object = None, limits: object = None, **rest: object) -> dict[str, Any]:
    return {"name": "c", "resources": {"requests": requests, "limits": limits}, **rest}


def sidecar(**requests: object) -> dict[str, Any]:
    return container(requests, restartPolicy="Always")


REQUESTS: list[tuple[str, dict[str, Any], dict[str, object]]] = [
    ("nothing", {}, {}),
    (
        "sum of containers",
        {"containers": [container({"cpu": "500m", "memory": "1Gi"}), container({"cpu": 2, "memory": "512Mi"})]},
        {"cpu": Decimal("2.5"), "memory": GI + 512 * MI},
    ),
    ("a number with a point", {"containers": [container({"cpu": 0.1})]}, {"cpu": Decimal("0.1")}),
    (
        "what is only limited is requested",
        {"containers": [container({"cpu": 1}, {"cpu": 2, "nvidia.com/gpu": "8"})]},
        {"cpu": 1, "nvidia.com/gpu": 8},
    ),
    (
        "the largest init container",
        {"containers": [container({"cpu": 1})], "initContainers": [container({"cpu": 3}), container({"cpu": 2, "memory": MI})]},
        {"cpu": 3, "memory": MI},
    ),
    (
        "a sidecar runs beside the containers and the init containers after it",
        {
            "containers": [container({"cpu": 1})],
            "initContainers": [container({"cpu": 5}), sidecar(cpu=2), container({"cpu": 4}), sidecar(cpu=1)],
        },
        {"cpu": 6},
    ),
    (
        "sidecars alone",
        {"containers": [container({"cpu": 1})], "initContainers": [sidecar(cpu=2), sidecar(cpu=1)]},
        {"cpu": 4},
    ),
    ("overhead", {"containers": [container({"cpu": 1})], "overhead": {"cpu": "250m", "memory": "120Mi"}}, {"cpu": Decimal("1.25"), "memory": 120 * MI}),
    (
        "the pod's own requests count instead",
        {"containers": [container({"cpu": 1, "memory": GI})], "resources": {"requests": {"cpu": 4}}},
        {"cpu": 4, "memory": GI},
    ),
    (
        "the pod's own limits stand in where no container requests",
        {"containers": [container({"cpu": 1})], "resources": {"limits": {"cpu": 4, "memory": GI}}},
        {"cpu": 1, "memory": GI},
    ),
    (
        "a pod has no GPUs of its own",
        {"containers": [container({"nvidia.com/gpu": 1})], "resources": {"requests": {"nvidia.com/gpu": 9}}},
        {"nvidia.com/gpu": 1},
    ),
    ("nulls are nothing", {"containers": [container({"cpu": None}, None)], "initContainers": None, "overhead": None}, {}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "expected"), [case[1:] for case in REQUESTS], ids=[case[0] for case in REQUESTS]
)
def test_requests(spec: dict[str, Any], expected: dict[str, object]) -> None:
    assert pod(**spec).requests == {**expected, "pods": 1}


TAINT = NodeTaint("nvidia.com/gpu", "8", "NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        (Toleration("nvidia.com/gpu", "Exists"), True),
        (Toleration("nvidia.com/gpu", "Exists", effect="NoSchedule"), True),
        (Toleration("nvidia.com/gpu", "Exists", effect="NoExecute"), False),
        (Toleration("", "Exists"), True),
        (Toleration("other", "Exists"), False),
        (Toleration("nvidia.com/gpu", "", "8"), True),
        (Toleration("nvidia.com/gpu", "Equal", "8"), True),
        (Toleration("nvidia.com/gpu", "Equal", "true"), False),
        (Toleration("nvidia.com/gpu", "Equal"), False),
        (Toleration("nvidia.com/gpu", "Lt", "9"), True),
        (Toleration("nvidia.com/gpu", "Lt", "8"), False),
        (Toleration("nvidia.com/gpu", "Gt", "7"), True),
        (Toleration("nvidia.com/gpu", "Gt", "+7"), False),
        (Toleration("nvidia.com/gpu", "Gt", "07"), False),
        (Toleration("nvidia.com/gpu", "Other", "8"), False),
    ],
    ids=str,
)
def test_tolerations(toleration: Toleration, expected: bool) -> None:
    assert toleration.tolerates(TAINT) is expected


def test_tolerations_affinity_and_selectors_are_read_in_karpenters_order() -> None:
    term = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b", "c"]}]}
    light = {"matchExpressions": [{"key": "light", "operator": "Exists"}]}
    found = pod(
        tolerations=[{"operator": "Exists"}, {"key": "k", "value": "v", "effect": "NoExecute"}],
        nodeSelector={"pool": "gpu"},
        affinity={
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term, light]},
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 1, "preference": light},
                    {"weight": 100, "preference": term},
                ],
            }
        },
    )

    assert found.tolerations == (("", "Exists", "", ""), ("k", "", "v", "NoExecute"))
    assert found.node_selector == {"pool": "gpu"}
    assert found.required == ((("a", "In", ("b", "c")),), (("light", "Exists", ()),))
    assert found.preferred == ((("a", "In", ("b", "c")),), (("light", "Exists", ()),))


def test_ports_of_the_node() -> None:
    ports = [
        {"containerPort": 1, "hostPort": 80, "hostIP": "10.0.0.1", "protocol": "UDP"},
        {"containerPort": 9100},
    ]
    alone = pod(containers=[{"name": "c", "ports": ports}])
    shared = pod(containers=[{"name": "c", "ports": ports}], hostNetwork=True)

    assert alone.host_ports == (("10.0.0.1", 80, "UDP"),)
    assert shared.host_ports == (("10.0.0.1", 80, "UDP"), ("0.0.0.0", 9100, "TCP"))  # noqa: S104


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (HostPort("0.0.0.0", 80, "TCP"), HostPort("10.0.0.1", 80, "TCP"), True),  # noqa: S104
        (HostPort("::", 80, "TCP"), HostPort("10.0.0.1", 80, "TCP"), True),
        (HostPort("10.0.0.2", 80, "TCP"), HostPort("10.0.0.1", 80, "TCP"), False),
        (HostPort("10.0.0.1", 80, "TCP"), HostPort("10.0.0.1", 80, "TCP"), True),
        (HostPort("10.0.0.1", 80, "TCP"), HostPort("10.0.0.1", 80, "UDP"), False),
        (HostPort("10.0.0.1", 80, "TCP"), HostPort("10.0.0.1", 81, "TCP"), False),
    ],
    ids=str,
)
def test_ports_that_conflict(one: HostPort, other: HostPort, expected: bool) -> None:
    assert one.has_conflict(other) is other.has_conflict(one) is expected


def test_what_files_do_not_answer_is_named() -> None:
    found = pod(
        affinity={"podAffinity": {"x": []}, "podAntiAffinity": {"x": []}},
        topologySpreadConstraints=[{}],
        volumes=[{"name": "a", "emptyDir": {}}, {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
        runtimeClassName="kata",
        schedulerName="volcano",
        schedulingGates=[{"name": "g"}],
    )

    assert [words.split("(")[0].strip() for words in found.not_judged] == [
        "pod affinity",
        "pod anti-affinity",
        "topology spread",
        "the zones of its volumes",
        "what RuntimeClass 'kata' adds",
        "what scheduler 'volcano' requires",
        "its scheduling gates, which block it until they are removed",
    ]
    assert pod(volumes=[{"name": "a", "emptyDir": {}}], schedulerName="default-scheduler").not_judged == ()
    assert pod(runtimeClassName="kata", overhead={"cpu": 1}).not_judged == ()


@pytest.mark.parametrize("where", ["resourceClaims", "container", "initContainer"])
def test_device_claims_are_seen_wherever_they_stand(where: str) -> None:
    claims = {"resources": {"claims": [{"name": "gpu"}]}, "name": "c"}
    parts: dict[str, dict[str, object]] = {
        "resourceClaims": {"resourceClaims": [{"name": "gpu"}]},
        "container": {"containers": [claims]},
        "initContainer": {"initContainers": [claims]},
    }

    assert pod(**parts[where]).claims_devices
    assert not pod().claims_devices


def only_container(**rest: object) -> dict[str, object]:
    return {"containers": [{"name": "c", **rest}]}


def affinity(**rest: object) -> dict[str, object]:
    return {**only_container(), "affinity": {"nodeAffinity": rest}}


REQUIRED, PREFERRED = (f"{word}DuringSchedulingIgnoredDuringExecution" for word in ("required", "preferred"))
MISTAKES: list[tuple[object, str]] = [
    ({}, "`containers`: must be a list with at least one container"),
    ({"containers": []}, "`containers`: must be a list with at least one container"),
    ({"containers": "c"}, "`containers`: 'c' must be a list"),
    ({"containers": ["c"]}, "`containers[0]`: 'c' must be a map"),
    (only_container(resources=[]), "`containers[0].resources`: must be a map with `requests` and `limits`"),
    (only_container(resources={"requests": 5}), "`containers[0].resources.requests`: 5 must be a map"),
    (only_container(resources={"limits": {"cpu": "1x"}}), "`containers[0].resources.limits.cpu`: '1x' must be a quantity such as 4, 500m or 64Gi"),
    (only_container(resources={"limits": {"cpu": True}}), "`containers[0].resources.limits.cpu`: true must be a quantity such as 4, 500m or 64Gi"),
    (only_container(resources={"limits": {"cpu": [1]}}), "`containers[0].resources.limits.cpu`: must be a quantity such as 4, 500m or 64Gi"),
    (only_container(resources={"limits": {"cpu": -1}}), "`containers[0].resources.limits.cpu`: -1 must be a quantity that is not negative"),
    ({**only_container(), "initContainers": {}}, "`initContainers`: must be a list"),
    ({**only_container(), "overhead": "1"}, "`overhead`: '1' must be a map"),
    ({**only_container(), "nodeSelector": {"a": 5}}, "`nodeSelector.a`: 5 must be a string; put it in quotes"),
    ({**only_container(), "nodeSelector": ["a"]}, "`nodeSelector`: must be a map"),
    ({**only_container(), "tolerations": [{"operator": "exists"}]}, "`tolerations[0].operator`: 'exists' must be one of Equal, Exists, Lt, Gt"),
    ({**only_container(), "tolerations": [{"effect": "no"}]}, "`tolerations[0].effect`: 'no' must be one of NoSchedule, PreferNoSchedule, NoExecute"),
    ({**only_container(), "tolerations": [{"value": True}]}, "`tolerations[0].value`: true must be a string; put it in quotes"),
    ({**only_container(), "tolerations": {"key": "a"}}, "`tolerations`: must be a list"),
    (affinity(**{REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "In"}]}]}}), f"`affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values`: must be a list of values for In"),
    (affinity(**{REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [{"operator": "Exists"}]}]}}), f"`affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].key`: must be the key of a label"),
    (affinity(**{REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1", "2"]}]}]}}), f"`affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values`: must be one number in quotes for Gt"),
    (affinity(**{PREFERRED: [{"preference": {}}]}), f"`affinity.nodeAffinity.{PREFERRED}[0].weight`: must be a whole number from 1 to 100"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "message"), MISTAKES, ids=[str(index) for index in range(len(MISTAKES))])
def test_a_mistake_is_a_finding_at_its_place(spec: object, message: str) -> None:
    found = read(spec)

    assert [finding.message for finding in found.findings] == [message]
    assert found.pod is None
    assert all(finding.at.line == 1 and finding.object == "Pod/p" for finding in found.findings)
    path = message.split("`")[1]
    assert found.findings[0].path == f"spec.{path}"
