"""The oracle for instance types is sane: Karpenter's own code, fed by it, gives answers that are known from elsewhere."""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib import resources
from typing import Any

import pytest

from tests.rig.scheduling import Karpenter, Oracle, Panic
from tests.rig.scheduling_answers import Body

REGION = "us-east-1"
AWS = "karpenter.k8s.aws/"
GPUS, GPU_NAME, FAMILY, SIZE = (
    AWS + f"instance-{name}" for name in ("gpu-count", "gpu-name", "family", "size")
)
CAPACITY = "karpenter.sh/capacity-type"
MIB = 2**20

Requirement = tuple[str, str, Sequence[str]]


def of_moto(name: str) -> Any:  # noqa: ANN401 - JSON
    file = resources.files("moto") / "ec2" / "resources" / f"{name}.json.gz"
    return json.loads(gzip.decompress(file.read_bytes()))


def offered(by: str) -> dict[str, set[str]]:
    """Return the types that a zone offers, the zones by name or by ID."""
    found = defaultdict(set)
    for each in of_moto(f"instance_type_offerings/{by}/{REGION}"):
        found[each["Location"]].add(each["InstanceType"])
    return found


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    by_name, by_id = offered("availability-zone"), offered("availability-zone-id")
    zones = {
        name: next(zone_id for zone_id, same in by_id.items() if same == types)
        for name, types in by_name.items()
    }
    offerings = defaultdict(list)
    for zone, types in by_name.items():
        for each in types:
            offerings[each].append(zone)
    with Oracle(Karpenter(REGION, [*of_moto("instance_types").values()], offerings, zones)) as found:
        yield found


def node_class(**spec: object) -> Body:
    return {
        "metadata": {"name": "default"},
        "spec": {"amiSelectorTerms": [{"alias": "al2023@latest"}], **spec},
    }


def node_pool(*requirements: Requirement, name: str = "pool", **spec: object) -> Body:
    reference = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
    written = [
        {"key": key, "operator": operator, "values": [*values]} for key, operator, values in requirements
    ]
    template = {"spec": {"nodeClassRef": reference, "requirements": written}}
    return {"metadata": {"name": name}, "spec": {"template": template, **spec}}


def pod(**requests: str) -> Body:
    named = {key.replace("gpu", "nvidia.com/gpu"): amount for key, amount in requests.items()}
    return {
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "resources": {"requests": named}}]},
    }


L4 = node_pool(
    (AWS + "instance-category", "In", ["g"]),
    (AWS + "instance-generation", "Gt", ["5"]),
    (GPUS, "Lt", ["4"]),
    ("kubernetes.io/arch", "In", ["amd64"]),
    limits={"cpu": "100", "nvidia.com/gpu": "8"},
)


@pytest.mark.parametrize(
    ("name", "memory", "pods", "cpu", "room"),
    [
        ("g6.xlarge", 15155, "58", "3.920", 14162),
        ("g5.12xlarge", 181862, "737", "47.810", 173400),
        ("p5.48xlarge", 1939865, "100", "191.450", 1938410),
        ("trn1.32xlarge", 484966, "247", "127.610", 481894),
        ("inf2.xlarge", 15155, "58", "3.920", 14162),
    ],
)
def test_room_of_types_worked_out_by_hand(
    oracle: Oracle, name: str, memory: int, pods: str, cpu: str, room: int
) -> None:
    found = oracle.types(node_class())[name]

    assert found["capacity"]["memory"] == str(memory * MIB)
    assert found["capacity"]["pods"] == pods
    assert found["allocatable"]["cpu"] == cpu
    assert found["allocatable"]["memory"] == str(room * MIB)
    assert found["allocatable"]["ephemeral-storage"] == str(17 * 2**30)
    assert found["compatible"]


def test_all_types_but_macs_are_considered(oracle: Oracle) -> None:
    found = oracle.types(node_class())

    assert [*found] == sorted(name for name in of_moto("instance_types") if not name.startswith("mac"))
    assert [name for name, each in found.items() if not each["compatible"]] == [
        name for name in sorted(found) if name.startswith("a1.")
    ]


def test_disks_as_storage(oracle: Oracle) -> None:
    found = oracle.types(node_class(instanceStorePolicy="RAID0"))["p5.48xlarge"]

    assert found["allocatable"]["ephemeral-storage"] == "27358926258176"


def test_offerings_know_zone_and_price(oracle: Oracle) -> None:
    found = oracle.types(node_class())

    usable = [each for each in found["g6.xlarge"]["offerings"] if each["available"]]
    assert sorted({each["zoneID"] for each in usable}) == [f"use1-az{number}" for number in (1, 2, 4, 5, 6)]
    assert {(each["capacityType"], each["price"]) for each in usable} == {
        ("on-demand", 0.8048),
        ("spot", 0.8048),
    }
    assert not any(each["available"] for each in found["trn2.48xlarge"]["offerings"])


@pytest.mark.parametrize(
    ("requirements", "count"),
    [
        ([], 1328),
        ([(GPUS, "Lt", ["4"])], 38),
        ([(GPU_NAME, "NotIn", ["h100"])], 1326),
        ([(GPUS, "Gt", ["0"]), (GPUS, "NotIn", ["8"])], 1311),
        ([(GPUS, "Gt", ["0"]), (GPUS, "Lt", ["8"])], 41),
        ([(GPUS, "Gt", ["4"]), (GPUS, "Lt", ["2"])], 1270),
        ([(GPU_NAME, "In", ["l4"]), (GPU_NAME, "In", ["h100"])], 1270),
        ([(GPU_NAME, "In", ["L4"])], 0),
        ([(CAPACITY, "In", ["reserved"])], 0),
        ([(AWS + "instance-colour", "In", ["red"])], 1328),
        ([(FAMILY, "In", ["p5e"])], 0),
        ([("topology.kubernetes.io/zone", "In", ["eu-west-1a"])], 0),
        ([("topology.k8s.aws/zone-id", "In", ["use1-az3"])], 68),
        ([("topology.ebs.csi.aws.com/zone", "In", ["us-east-1e"])], 68),
    ],
    ids=["open", "below", "not in", "above and not in", "between", "contradiction", "two names", "capitals", "reserved", "unknown key", "not offered", "foreign zone", "zone ID", "the EBS driver's name of the zone"],
)  # fmt: skip
def test_matches_that_were_counted_before(
    oracle: Oracle, requirements: list[Requirement], count: int
) -> None:
    found = oracle.match(node_pool(*requirements), node_class(), launch=False)

    assert len(found.types) == count
    assert bool(found.error) == (count == 0)


def test_minimum_of_values_empties_a_pool_unless_it_is_a_wish(oracle: Oracle) -> None:
    pool = node_pool((FAMILY, "In", ["p5", "p5en", "p6-b200"]), (SIZE, "In", ["4xlarge"]))
    pool["spec"]["template"]["spec"]["requirements"][0]["minValues"] = 3

    strict = oracle.match(pool, node_class())
    wished = oracle.match(pool, node_class(), minValuesPolicy="BestEffort")

    assert (strict.types, strict.launch) == ((), None)
    assert "minValues requirement is not met" in strict.error
    assert wished.types == ("p5.4xlarge",)


def test_an_unknown_capacity_type_fails_validation(oracle: Oracle) -> None:
    found = oracle.match(node_pool((CAPACITY, "In", ["Spot"])), node_class())

    assert found.types == ()
    assert "no valid values found in [Spot]" in found.invalid


def test_launch_drops_what_the_scheduler_matched(oracle: Oracle) -> None:
    contradiction = oracle.match(node_pool((GPUS, "Gt", ["4"]), (GPUS, "Lt", ["2"])), node_class()).launch
    bound = oracle.match(node_pool((GPUS, "Gt", ["0"]), (GPUS, "NotIn", ["8"])), node_class()).launch
    fractions = oracle.match(L4, node_class()).launch

    assert contradiction
    assert (len(contradiction.survivors), len(contradiction.types)) == (595, 60)
    assert list(contradiction.prices) == sorted(contradiction.prices)
    assert bound
    assert len(bound.survivors) == 13
    assert fractions
    assert {name.split(".")[0] for name in fractions.survivors} == {"g6f"}
    assert fractions.capacity_type == "spot"


def test_limits_admit_what_fits(oracle: Oracle) -> None:
    p5 = node_pool((FAMILY, "In", ["p5"]), limits={"cpu": "100"})
    nodes = node_pool((FAMILY, "In", ["p5"]), limits={"nodes": "2"})

    assert oracle.limits(p5, node_class()).types == ("p5.4xlarge",)
    assert oracle.limits(p5, node_class(), {"cpu": "85"}).types == ()
    assert "exceed limits" in oracle.limits(p5, node_class(), {"cpu": "85"}).error
    assert "exceeds limit" in oracle.limits(p5, node_class(), {"cpu": "101"}).exceeded
    assert len(oracle.limits(nodes, node_class(), {"nodes": "1"}).types) == 2
    assert "node limits" in oracle.limits(nodes, node_class(), {"nodes": "2"}).error


@pytest.mark.parametrize(
    "requirement",
    [(GPUS, "Exists", []), (GPU_NAME, "In", ["l4", "h100"]), (SIZE, "In", ["metal"])],
    ids=["GPUs", "two names", "metal"],
)
def test_a_pod_without_wishes_gets_what_a_pool_matches(oracle: Oracle, requirement: Requirement) -> None:
    pool = node_pool(requirement)
    claim = oracle.solve([pool], [node_class()], [pod()], launch=False).placements[0].claim

    assert claim
    assert tuple(sorted(claim.types)) == oracle.match(pool, node_class(), launch=False).types


def test_pods_go_where_the_worked_pool_sends_them(oracle: Oracle) -> None:
    solution = oracle.solve([L4], [node_class()], [pod(gpu="1"), pod(memory="9000Gi"), pod(gpu="1")])

    first, second, third = solution.placements
    assert first.claim
    assert first.claim == third.claim
    assert first.claim.requests == {"nvidia.com/gpu": "2", "pods": "2"}
    assert first.claim.types == ("g7e.12xlarge",)
    assert (second.claim, second.error.split(",")[0]) == (None, "no instance type has enough resources")


def test_one_gpu_goes_to_the_cheapest_type(oracle: Oracle) -> None:
    claim = oracle.solve([L4], [node_class()], [pod(gpu="1")]).placements[0].claim

    assert claim
    assert (claim.types[0], claim.prices[0]) == ("g6.xlarge", 0.8048)
    assert claim.launch
    assert claim.launch.types[0] == "g6.xlarge"


def test_limits_in_one_batch_count_the_largest_type(oracle: Oracle) -> None:
    found = oracle.solve([L4], [node_class()], [pod(gpu="1", cpu="3")] * 8)

    claims = {id(each.claim) for each in found.placements if each.claim}
    assert len(claims) == 3
    assert {each.error for each in found.placements if not each.claim} == {
        "all available instance types exceed limits for nodepool (NodePool=pool)"
    }


def test_nodes_are_a_soft_limit(oracle: Oracle) -> None:
    pool = node_pool((FAMILY, "In", ["g6"]), limits={"nodes": "2"})
    apart = pod(gpu="1")
    apart["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]

    found = oracle.solve([pool], [node_class()], [apart] * 6)

    assert len({id(each.claim) for each in found.placements}) == 6


def test_daemon_sets_take_room(oracle: Oracle) -> None:
    daemon = {
        "kind": "DaemonSet",
        "metadata": {"name": "agent"},
        "spec": {
            "template": {"spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": "2"}}}]}}
        },
    }
    alone = oracle.solve([L4], [node_class()], [pod(gpu="1", cpu="3")]).placements[0].claim
    beside = oracle.solve([L4], [node_class()], [pod(gpu="1", cpu="3")], [daemon]).placements[0].claim

    assert alone
    assert alone.types[0] == "g6.xlarge"
    assert beside
    assert beside.types[0] == "g6.2xlarge"
    assert beside.requests == {"cpu": "5", "nvidia.com/gpu": "1", "pods": "2"}


def test_a_taint_keeps_a_pod_out(oracle: Oracle) -> None:
    pool = node_pool((FAMILY, "In", ["g6"]))
    pool["spec"]["template"]["spec"]["taints"] = [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]

    found = oracle.solve([pool], [node_class()], [pod(gpu="1")]).placements[0]

    assert found.error == "did not tolerate taint (taint=nvidia.com/gpu:NoSchedule)"


@pytest.mark.parametrize(
    "spec",
    [
        {"kubelet": {"evictionHard": {"memory.available": ""}}},
        {"kubelet": {"kubeReserved": {"cpu": "1e3.5"}}},
        {"blockDeviceMappings": [{"deviceName": "/dev/xvda"}]},
        {"blockDeviceMappings": [{"ebs": {"volumeSize": "20Gi"}}]},
        {"amiSelectorTerms": [{"alias": "al2023@v1@x"}]},
    ],
    ids=["empty threshold", "fractional exponent", "no volume", "no device name", "alias with two @"],
)
def test_values_that_the_api_server_takes_and_karpenter_dies_of(
    oracle: Oracle, spec: dict[str, object]
) -> None:
    with pytest.raises(Panic):
        oracle.types(node_class(**spec))
    with pytest.raises(Panic):
        oracle.solve([node_pool()], [node_class(**spec)], [pod()])
    assert oracle.match(node_pool((GPU_NAME, "In", ["l4"])), node_class()).types


def test_node_classes_do_not_mix(oracle: Oracle) -> None:
    old = node_pool((FAMILY, "In", ["a1"]))
    bottlerocket = node_class(amiSelectorTerms=[{"alias": "bottlerocket@latest"}])

    found = [len(oracle.match(old, each).types) for each in (node_class(), bottlerocket) * 2]

    assert found == [0, 6, 0, 6]


def test_many_questions_are_answered_in_order(oracle: Oracle) -> None:
    names = ["l4", "h100", "t4", "a10g"] * 100
    questions = [
        {
            "op": "match",
            "nodePool": node_pool((GPU_NAME, "In", [name])),
            "nodeClass": node_class(),
            "launch": False,
        }
        for name in names
    ]

    families = [{name.split(".")[0] for name in found["types"]} for found in oracle.ask_all(questions)]

    assert families == [{"g6", "g6f", "gr6", "gr6f"}, {"p5"}, {"g4dn"}, {"g5"}] * 100
