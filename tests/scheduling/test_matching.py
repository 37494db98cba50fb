"""What a pool says and what comes of it in us-east-1, by figures that Karpenter's own code gave."""

from __future__ import annotations

from decimal import Decimal
from itertools import product
from typing import TYPE_CHECKING

import pytest

from gpupool.karpenter import labels
from gpupool.scheduling.exclusion import explain_exclusion
from gpupool.scheduling.explained import explain
from gpupool.scheduling.limits import count_admitted_nodes
from gpupool.scheduling.matching import drop_types_without_room, match_types, read_template_requirements
from gpupool.scheduling.types.classfilter import find_class_conflict
from tests.scheduling.classes import CLASSES, node_class
from tests.scheduling.pools import node_pool
from tests.scheduling.worlds import market

if TYPE_CHECKING:
    from gpupool.scheduling.explained import PoolExplanation
    from gpupool.scheduling.matching import MatchedTypes
    from gpupool.scheduling.types.market import Market
    from tests.rig.scheduling import Body

GPUS, NAME, FAMILY = labels.INSTANCE_GPU_COUNT, labels.INSTANCE_GPU_NAME, labels.INSTANCE_FAMILY
MIB = 1 << 20


@pytest.fixture(scope="module")
def virginia() -> Market:
    return market(CLASSES["al2023"])


def pool(*said: str, **spec: object) -> Body:
    """Return a pool of conditions as `key In a,b`, and with a fourth word `minValues`."""
    entries: list[Body] = []
    for each in said:
        key, operator, *rest = each.split(" ")
        entries.append({"key": key, "operator": operator, "values": rest[0].split(",") if rest else []})
        if len(rest) > 1:
            entries[-1]["minValues"] = int(rest[1])
    return node_pool("p", entries, **spec)


def found(where: Market, *said: str) -> MatchedTypes:
    return match_types(where, read_template_requirements(pool(*said)))


def names(where: Market, mask: int) -> list[str]:
    return [name for place, name in enumerate(where.catalogue.names) if mask >> place & 1]


COUNTS = {
    "nothing": ([], 1328),
    "fewer than four GPUs": ([f"{GPUS} Lt 4"], 38),
    "no GPU": ([f"{GPUS} DoesNotExist"], 1270),
    "all but one GPU name": ([f"{NAME} NotIn h100"], 1326),
    "a bound and NotIn": ([f"{GPUS} Gt 0", f"{GPUS} NotIn 8"], 1311),
    "two bounds": ([f"{GPUS} Gt 0", f"{GPUS} Lt 8"], 41),
    "bounds that contradict each other": ([f"{GPUS} Gt 4", f"{GPUS} Lt 2"], 1270),
    "names that contradict each other": ([f"{NAME} In l4", f"{NAME} In h100"], 1270),
    "capitals": ([f"{NAME} In L4"], 0),
    "reserved, with no reservation": ([f"{labels.CAPACITY_TYPE} In reserved"], 0),
    "a capacity type in capitals": ([f"{labels.CAPACITY_TYPE} In Spot"], 0),
    "a key of Karpenter's that is none": (["karpenter.k8s.aws/instance-colour In red"], 1328),
    "a family of three has the size": (
        [f"{FAMILY} In p5,p5en,p6-b200 3", f"{labels.INSTANCE_SIZE} In 4xlarge"],
        0,
    ),
    "a family that the region lacks": ([f"{FAMILY} In p5e"], 0),
    "a zone of another region": ([f"{labels.ZONE} In eu-west-1a"], 0),
    "another region": ([f"{labels.REGION} In eu-west-1"], 0),
    "two entries under both names of a label": (
        ["beta.kubernetes.io/instance-type In g6.xlarge,g5.xlarge", f"{labels.INSTANCE_TYPE} In g6.xlarge"],
        1,
    ),
}


@pytest.mark.parametrize("name", COUNTS)
def test_how_many_types_a_pool_may_launch(name: str, virginia: Market) -> None:
    said, count = COUNTS[name]

    assert found(virginia, *said).launchable.bit_count() == count


def test_contradictions_and_notin_let_in_machines_without_a_gpu(virginia: Market) -> None:
    without = found(virginia, f"{GPUS} DoesNotExist").launchable

    assert found(virginia, f"{GPUS} Gt 4", f"{GPUS} Lt 2").launchable == without
    assert found(virginia, f"{NAME} In l4", f"{NAME} In h100").launchable == without
    assert found(virginia, f"{NAME} NotIn h100").launchable & without == without
    assert found(virginia, f"{GPUS} Gt 0", f"{GPUS} NotIn 8").launchable & without == without
    assert found(virginia, f"{GPUS} Gt 0", f"{GPUS} Lt 8").launchable & without == 0


def test_a_bound_below_four_counts_machines_with_a_share_of_a_gpu(virginia: Market) -> None:
    few = names(virginia, found(virginia, f"{GPUS} Lt 4").launchable)

    assert {name for name in few if name.startswith(("g6f.", "gr6f."))} == {
        "g6f.large", "g6f.xlarge", "g6f.2xlarge", "g6f.4xlarge", "gr6f.4xlarge"
    }  # fmt: skip


def test_category_g_of_generation_6_is_three_families(virginia: Market) -> None:
    mask = found(
        virginia, f"{labels.INSTANCE_CATEGORY} In g", f"{labels.INSTANCE_GENERATION} In 6"
    ).launchable

    assert {name.partition(".")[0] for name in names(virginia, mask)} == {"g6", "g6e", "g6f"}


def test_types_without_a_price_match_and_are_not_launched() -> None:
    ohio = market(CLASSES["al2023"], "us-east-2")

    said = found(ohio, f"{FAMILY} In p5e")

    assert names(ohio, said.candidates) == names(ohio, said.offered) == ["p5e.48xlarge"]
    assert said.launchable == 0


def test_without_a_region_only_conditions_and_class_count(virginia: Market) -> None:
    nowhere = market(CLASSES["al2023"], "eu-moon-1")
    said = [f"{NAME} In l4", f"{labels.ZONE} In us-east-1a"]

    open_question = found(nowhere, *said)

    assert open_question.candidates == open_question.offered == open_question.launchable
    assert open_question.candidates == found(virginia, said[0]).candidates


def test_minvalues_that_fail_are_told(virginia: Market) -> None:
    strict = read_template_requirements(
        pool(f"{FAMILY} In p5,p5en,p6-b200 3", f"{labels.INSTANCE_SIZE} In 4xlarge")
    )

    said = match_types(virginia, strict)
    relaxed = match_types(virginia, strict, "BestEffort")

    assert (said.launchable, said.too_few) == (0, {FAMILY: (1, 3)})
    assert names(virginia, relaxed.launchable) == ["p5.4xlarge"]


# The room on a node, worked out by hand for AL2023 as it comes

WORKED = {
    "g6.xlarge": (15155, 58, "3.92", 14162, {"nvidia.com/gpu": 1, "vpc.amazonaws.com/pod-eni": 18}),
    "g5.12xlarge": (
        181862, 737, "47.81", 173400,
        {"nvidia.com/gpu": 4, "vpc.amazonaws.com/efa": 1, "vpc.amazonaws.com/pod-eni": 107},
    ),
    "p5.48xlarge": (
        1939865, 100, "191.45", 1938410,
        {"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 32, "vpc.amazonaws.com/pod-eni": 120},
    ),
    "trn1.32xlarge": (
        484966, 247, "127.61", 481894,
        {"aws.amazon.com/neuron": 16, "aws.amazon.com/neuroncore": 32, "vpc.amazonaws.com/efa": 8},
    ),
    "inf2.xlarge": (15155, 58, "3.92", 14162, {"aws.amazon.com/neuron": 1, "aws.amazon.com/neuroncore": 2}),
}  # fmt: skip


@pytest.mark.parametrize("name", WORKED)
def test_the_room_on_a_node(name: str, virginia: Market) -> None:
    memory, pods, cpu, for_pods, devices = WORKED[name]
    place = position(virginia, name)

    whole, left = virginia.capacity(place), virginia.allocatable(place)

    assert (whole["memory"], whole["pods"]) == (memory * MIB, pods)
    assert left["cpu"] == Decimal(cpu)
    assert left["memory"] == for_pods * MIB
    assert left["ephemeral-storage"] == 17 << 30
    assert {name: left[name] for name in devices} == devices


def test_raid0_is_all_disks_in_decimal_bytes() -> None:
    where = market(CLASSES["raid0"])

    assert where.allocatable(position(where, "p5.48xlarge"))["ephemeral-storage"] == 27_358_926_258_176


def position(where: Market, name: str) -> int:
    place = where.catalogue.position(name)
    assert place is not None
    return place


# What limits admit

ADMITTED = {
    "p5 by CPUs": ("p5.48xlarge", {"cpu": 192}, (1, "cpu", 1)),
    "p5 of four sizes smaller": ("p5.4xlarge", {"cpu": 192}, (12, "cpu", 12)),
    "not a whole p5": ("p5.48xlarge", {"cpu": 100}, (0, "cpu", 0)),
    "the fewest count": ("g6.xlarge", {"cpu": 100, "nvidia.com/gpu": 8}, (8, "nvidia.com/gpu", 8)),
    "a share of a GPU counts none": ("g6f.large", {"cpu": 100, "nvidia.com/gpu": 8}, (50, "cpu", 50)),
    "nothing that counts": ("g6f.large", {"nvidia.com/gpu": 8}, (None, "", None)),
    "nodes": ("g6.xlarge", {"nodes": 3, "cpu": 100}, (3, "nodes", 3)),
    "memory of registered nodes is more": ("g6.xlarge", {"memory": 100 << 30}, (6, "memory", 6)),
    "and so fewer of them fit": ("p5.48xlarge", {"memory": 4000 << 30}, (2, "memory", 1)),
}


@pytest.mark.parametrize("name", ADMITTED)
def test_how_many_nodes_limits_admit(name: str, virginia: Market) -> None:
    kind, limits, said = ADMITTED[name]

    assert count_admitted_nodes(virginia, position(virginia, kind), limits) == said


# Why a type is not among them


def asked(where: Market, *said: str) -> PoolExplanation:
    return explain(pool(*said), where)


def test_every_condition_that_refuses_a_type_is_named(virginia: Market) -> None:
    said = explain_exclusion(
        asked(virginia, f"{NAME} In l4", f"{GPUS} Gt 4", f"{labels.ARCH} In amd64"), "g5g.xlarge"
    )

    assert said is not None
    assert [(each.requirement.key, each.values) for each in said.unmet] == [
        (labels.INSTANCE_GPU_COUNT, ("1",)),
        (labels.INSTANCE_GPU_NAME, ("t4g",)),
        (labels.ARCH, ("arm64",)),
    ]
    assert (said.class_conflict, said.candidate, said.retired) == ("", None, None)


def test_a_label_that_a_type_lacks_is_empty(virginia: Market) -> None:
    said = explain_exclusion(asked(virginia, f"{NAME} In l4"), "m7i.large")

    assert said is not None
    assert [each.values for each in said.unmet] == [()]


def test_a_candidate_is_given_with_its_reason(virginia: Market) -> None:
    found_in_pool = asked(virginia, f"{FAMILY} In p5,p5e")
    good, bad = (
        explain_exclusion(found_in_pool, "p5.48xlarge"),
        explain_exclusion(found_in_pool, "p5e.48xlarge"),
    )

    assert good is not None
    assert good.candidate is not None
    assert (good.unmet, good.candidate.is_launchable, good.candidate.reason) == ((), True, "")
    assert bad is not None
    assert bad.candidate is not None
    assert (bad.candidate.is_offered, bad.candidate.reason) == (False, "not offered in us-east-1")


def test_a_type_that_nobody_knows(virginia: Market) -> None:
    assert explain_exclusion(asked(virginia), "p5.49xlarge") is None


def test_a_type_that_ec2_no_longer_offers_is_marked(virginia: Market) -> None:
    retired = names(virginia, virginia.masks.find_types_by_fact("retired", lambda since: since is not None))

    said = explain_exclusion(asked(virginia), retired[0])

    assert said is not None
    assert said.retired


REFUSED_BY_CLASS = {
    "a1 on AL2023": ("a1.large", "al2023", "AL2023 does not run on a1"),
    "a1 on AL2": ("a1.large", "al2", ""),
    "more EFA interfaces than there are": ("g6.xlarge", "efa", "the node class uses network card 1, and the type has 1"),
    "as many as there are": ("p5.48xlarge", "efa-32", ""),
    "nested virtualization": ("g6.xlarge", "nested", "the node class requires nested virtualization, which the type does not support"),
    "bare metal": ("m5.metal", "tracking", "the node class sets connectionTracking, which only types on the nitro hypervisor support"),
    "nitro": ("m5.large", "tracking", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED_BY_CLASS)
def test_what_a_class_refuses(name: str) -> None:
    kind, of, words = REFUSED_BY_CLASS[name]
    where = market(CLASSES[of])

    assert find_class_conflict(where.kind(position(where, kind)), where.node_class) == words
    assert bool(where.types_of_class >> position(where, kind) & 1) is (words == "")


def test_a_reserve_that_is_more_than_the_machine_keeps_it_out() -> None:
    where = market(node_class("c", kubelet={"kubeReserved": {"memory": "20Gi"}}))

    said = explain_exclusion(
        explain(pool(f"{labels.INSTANCE_TYPE} In g6.xlarge,g6.12xlarge"), where), "g6.xlarge"
    )

    assert said is not None
    assert said.candidate is not None
    assert said.candidate.is_launchable is False
    assert said.candidate.reason == "the node class reserves more memory than the type has"


def test_zones_of_the_class_s_subnets_count() -> None:
    body = node_class("c")
    body["status"] = {"subnets": [{"id": "s-1", "zone": "us-east-1a"}]}
    where = market(body)

    said = {each.kind.name: each for each in explain(pool(f"{FAMILY} In p5,p6-b200"), where).candidates}

    assert (said["p5.48xlarge"].zones, said["p5.48xlarge"].is_offered) == (("us-east-1a",), True)
    assert (said["p6-b200.48xlarge"].zones, said["p6-b200.48xlarge"].is_offered) == ((), False)
    assert said["p6-b200.48xlarge"].reason == "not offered in us-east-1 where the node class has subnets"


@pytest.mark.parametrize("name", CLASSES)
def test_types_of_which_all_is_kept_are_left_out(name: str) -> None:
    assert_room(market(CLASSES[name]))


@pytest.mark.parametrize(
    ("family", "size"), list(product(("al2023", "bottlerocket"), ("1Gi", "1193Mi", "2047Mi", "2Gi")))
)
def test_disks_of_which_all_is_kept_leave_every_type_out(family: str, size: str) -> None:
    terms, device = [{"alias": f"{family}@latest"}], "/dev/xvdb" if family == "bottlerocket" else "/dev/xvda"
    mapping = [{"deviceName": device, "ebs": {"volumeSize": size}}]

    assert_room(market(node_class("c", amiSelectorTerms=terms, blockDeviceMappings=mapping)))


@pytest.mark.parametrize("pods", [0, 110, 1000])
@pytest.mark.parametrize("family", ["al2023", "al2", "bottlerocket", "windows2022"])
def test_pods_for_which_all_is_kept_leave_types_out(family: str, pods: int) -> None:
    terms = [{"alias": f"{family}@latest"}]

    assert_room(market(node_class("c", amiSelectorTerms=terms, kubelet={"maxPods": pods})))


def assert_room(where: Market) -> None:
    """Hold what is left out against the room on every type, worked out one by one."""
    places = range(len(where.catalogue.names))
    left = [place for place in places if min(where.allocatable(place).values()) >= 0]

    assert drop_types_without_room(where, where.masks.all) == sum(1 << place for place in left)
