"""Why a pool does not take a pod, in words that name both sides, and what is launched where it does."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from gpupool.karpenter.pod_reading import read_pod
from gpupool.scheduling.nodepool import read_pool
from gpupool.scheduling.pods.daemons import Daemon
from gpupool.scheduling.pods.fit import build_sites
from gpupool.scheduling.pods.refusals import RefusalRule
from gpupool.scheduling.pods.verdicts import judge_daemon, judge_pod
from gpupool.scheduling.types.capacity import TypeResources, find_lacking_resources
from gpupool.yamlio.documents import read_documents
from tests.scheduling.classes import CLASSES, node_class
from tests.scheduling.worlds import market

if TYPE_CHECKING:
    from gpupool.karpenter.pods import Pod
    from gpupool.scheduling.nodepool import ScheduledPool
    from gpupool.scheduling.pods.verdicts import PodOutcome, PodVerdict
    from gpupool.scheduling.types.market import Market

AWS = "karpenter.k8s.aws/"
FAMILY, GPUS, GPU_NAME = f"{AWS}instance-family", f"{AWS}instance-gpu-count", f"{AWS}instance-gpu-name"
CAPACITY, ARCH, ZONE = "karpenter.sh/capacity-type", "kubernetes.io/arch", "topology.kubernetes.io/zone"
TAINT = {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}
TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists"}


@pytest.fixture(scope="module")
def al2023() -> Market:
    return market(CLASSES["al2023"])


def requirement(key: str, operator: str, *values: str, **rest: object) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": [*values], **rest}


def pool(found: Market, *requirements: dict[str, Any], name: str = "gpu", **spec: Any) -> ScheduledPool:  # noqa: ANN401 - JSON
    template = {
        "nodeClassRef": {"name": "gpu"},
        "requirements": [*requirements],
        "taints": spec.pop("taints", []),
        "startupTaints": [{"key": "starting", "effect": "NoSchedule"}],
    }
    labels = spec.pop("labels", {})
    written = {"template": {"metadata": {"labels": labels}, "spec": template}, **spec}
    return read_pool({"metadata": {"name": name}, "spec": written}, found)


def pod(requests: dict[str, object] | None = None, **spec: Any) -> Pod:  # noqa: ANN401 - JSON
    container = {"name": "c", "resources": {"limits": requests or {}}, **spec.pop("container", {})}
    text = json.dumps({"containers": [container], **spec})
    node = next(read_documents(text.encode(), "pod.json")).node
    assert node is not None
    found = read_pod(node, "spec", "Pod/p")
    assert found.pod is not None, found.findings
    return found.pod


def required(*terms: list[dict[str, Any]]) -> dict[str, Any]:
    written = [{"matchExpressions": term} for term in terms]
    return {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": written}}
    }


def refused(wanting: Pod, found: ScheduledPool, *daemons: Daemon) -> tuple[RefusalRule, str, str]:
    verdict = verdict_of(judge_pod(wanting, build_sites([found], daemons)))
    assert verdict.placed is None
    assert verdict.refusal is not None
    return verdict.refusal.rule, verdict.refusal.message, verdict.refusal.spec_key


def verdict_of(judged: PodOutcome) -> PodVerdict:
    (verdict,) = judged.verdicts
    return verdict


L4 = requirement(GPU_NAME, "In", "l4"), requirement(GPUS, "Gt", "0")

CASES: list[tuple[str, dict[str, Any], dict[str, Any], tuple[RefusalRule, str, str]]] = [
    (
        "a taint",
        {"requirements": L4, "taints": [TAINT]},
        {},
        (RefusalRule.TOLERATION, "does not tolerate the pool's taint nvidia.com/gpu=true:NoSchedule", "tolerations"),
    ),
    (
        "two taints, of which one is tolerated",
        {"requirements": L4, "taints": [TAINT, {"key": "team", "effect": "NoExecute"}]},
        {"tolerations": [TOLERATION]},
        (RefusalRule.TOLERATION, "does not tolerate the pool's taint team:NoExecute", "tolerations"),
    ),
    (
        "a label that nobody has",
        {"requirements": L4},
        {"nodeSelector": {"team": "research"}},
        (RefusalRule.LABEL, "requires team=research; the pool's nodes have no such label", "nodeSelector"),
    ),
    (
        "another value of a label",
        {"requirements": L4, "labels": {"team": "serving"}},
        {"affinity": required([requirement("team", "In", "research", "batch")])},
        (RefusalRule.LABEL, "requires team in [batch, research]; the pool has team=serving", "affinity"),
    ),
    (
        "another pool by its name",
        {"requirements": L4},
        {"nodeSelector": {"karpenter.sh/nodepool": "chat"}},
        (RefusalRule.LABEL, "requires karpenter.sh/nodepool=chat; the pool has karpenter.sh/nodepool=gpu", "nodeSelector"),
    ),
    (
        "another GPU than the pool asks for",
        {"requirements": L4},
        {"nodeSelector": {GPU_NAME: "h100"}},
        (RefusalRule.LABEL, f"requires {GPU_NAME}=h100; the pool has {GPU_NAME}=l4", "nodeSelector"),
    ),
    (
        "another family than the pool's types have",
        {"requirements": L4},
        {"nodeSelector": {FAMILY: "g5"}},
        (RefusalRule.LABEL, f"requires {FAMILY}=g5; the 10 candidates have g6, gr6", "nodeSelector"),
    ),
    (
        "an architecture that the pool asks against",
        {"requirements": (*L4, requirement(ARCH, "In", "amd64"))},
        {"nodeSelector": {ARCH: "arm64"}},
        (RefusalRule.ARCH, f"requires {ARCH}=arm64; the pool has {ARCH}=amd64", "nodeSelector"),
    ),
    (
        "an architecture that the pool's types lack",
        {"requirements": L4},
        {"nodeSelector": {"beta.kubernetes.io/arch": "arm64"}},
        (RefusalRule.ARCH, f"requires {ARCH}=arm64; the 10 candidates have amd64", "nodeSelector"),
    ),
    (
        "more GPUs than any candidate has",
        {"requirements": (*L4, requirement(GPUS, "Lt", "8"))},
        {"requests": {"nvidia.com/gpu": 8}},
        (RefusalRule.ACCELERATOR, "requests 8 nvidia.com/gpu; the largest candidate, g6.12xlarge, has 4", "containers"),
    ),
    (
        "GPUs of Neuron machines",
        {"requirements": (requirement(FAMILY, "In", "inf2"),)},
        {"requests": {"nvidia.com/gpu": 1}},
        (RefusalRule.ACCELERATOR, "requests 1 nvidia.com/gpu; none of the 4 candidates has any", "containers"),
    ),
    (
        "GPUs of machines with a part of one",
        {"requirements": (requirement(FAMILY, "In", "gr6f"),)},
        {"requests": {"nvidia.com/gpu": 1}},
        (RefusalRule.ACCELERATOR, "requests 1 nvidia.com/gpu; the only candidate has none", "containers"),
    ),
    (
        "EFA on machines without it",
        {"requirements": (requirement(FAMILY, "In", "g5g"),)},
        {"requests": {"vpc.amazonaws.com/efa": 1}},
        (RefusalRule.EFA, "requests 1 vpc.amazonaws.com/efa; none of the 6 candidates has any", "containers"),
    ),
    (
        "EFA beside GPUs, where only others have as much",
        {"requirements": (requirement(FAMILY, "In", "p5", "g6"),)},
        {"requests": {"nvidia.com/gpu": 1, "vpc.amazonaws.com/efa": 64}},
        (RefusalRule.EFA, "requests 64 vpc.amazonaws.com/efa; the largest candidate, p5.48xlarge, has 32", "containers"),
    ),
    (
        "memory that the machine has and its node has not",
        {"requirements": (requirement("node.kubernetes.io/instance-type", "In", "g6.xlarge"),)},
        {"requests": {"nvidia.com/gpu": 1, "memory": "16Gi"}},
        (RefusalRule.RESOURCES, "requests 16Gi memory; the only candidate, g6.xlarge, has 13.8Gi", "containers"),
    ),
    (
        "a whole machine's CPU",
        {"requirements": (requirement("node.kubernetes.io/instance-type", "In", "g6.xlarge"),)},
        {"requests": {"cpu": 4}},
        (RefusalRule.RESOURCES, "requests 4 cpu; the only candidate, g6.xlarge, has 3.92", "containers"),
    ),
    (
        "a larger disk than the class gives",
        {"requirements": L4},
        {"requests": {"ephemeral-storage": "100Gi"}},
        (RefusalRule.RESOURCES, "requests 100Gi ephemeral-storage; the largest candidate, g6.12xlarge, has 17Gi", "containers"),
    ),
    (
        "a resource that Karpenter does not model",
        {"requirements": L4},
        {"requests": {"nvidia.com/mig-1g.5gb": 1}},
        (RefusalRule.RESOURCES, "requests 1 nvidia.com/mig-1g.5gb; none of the 10 candidates has any", "containers"),
    ),
    (
        "a zone without the machines",
        {"requirements": (requirement(FAMILY, "In", "p6-b200"),)},
        {"nodeSelector": {ZONE: "us-east-1a"}},
        (RefusalRule.OFFERING, f"the only candidate is not offered with {ZONE}=us-east-1a in us-east-1", "nodeSelector"),
    ),
    (
        "reserved capacity without reservations",
        {"requirements": L4},
        {"nodeSelector": {CAPACITY: "reserved"}},
        (RefusalRule.OFFERING, f"none of the 10 candidates is offered with {CAPACITY}=reserved in us-east-1", "nodeSelector"),
    ),
    (
        "a capacity type that the pool leaves out",
        {"requirements": (*L4, requirement(CAPACITY, "In", "on-demand"))},
        {"nodeSelector": {CAPACITY: "spot"}},
        (RefusalRule.LABEL, f"requires {CAPACITY}=spot; the pool has {CAPACITY}=on-demand", "nodeSelector"),
    ),
    (
        "too few values once the pod narrows them",
        {"requirements": (requirement(FAMILY, "In", "g5", "g6", "g6e", minValues=3),)},
        {"requests": {"nvidia.com/gpu": 1}, "nodeSelector": {GPU_NAME: "l4"}},
        (RefusalRule.MIN_VALUES, (f"the pool's minValues requires 3 of {FAMILY}; the types that fit the pod have "
                          "1: g6"), ""),
    ),
    (
        "a limit below one node",
        {"requirements": (requirement(FAMILY, "In", "p5"),), "limits": {"nvidia.com/gpu": 4}},
        {"requests": {"nvidia.com/gpu": 8}},
        (RefusalRule.LIMITS, ("the pool is limited to 4 nvidia.com/gpu; the only type that fits the pod, "
                      "p5.48xlarge, has 8"), ""),
    ),
    (
        "a memory limit below the smallest node",
        {"requirements": L4, "limits": {"memory": "8Gi"}},
        {},
        (RefusalRule.LIMITS, ("the pool is limited to 8Gi memory; the smallest type that fits the pod, "
                      "g6.xlarge, has 14.8Gi"), ""),
    ),
    (
        "several limits that leave nothing together",
        {
            "requirements": (requirement("node.kubernetes.io/instance-type", "In", "g6.xlarge", "p5.48xlarge", "c5.24xlarge"),),
            "limits": {"nvidia.com/gpu": "0", "cpu": "64"},
        },
        {},
        (RefusalRule.LIMITS, ("the pool's limits (64 cpu, 0 nvidia.com/gpu) leave no room for a node that fits "
                      "the pod"), ""),
    ),
    (
        "no node at all",
        {"requirements": L4, "limits": {"nodes": "0"}},
        {},
        (RefusalRule.LIMITS, "the pool's limits allow 0 nodes", ""),
    ),
    (
        "a pool without machines",
        {"requirements": (requirement(FAMILY, "In", "p5e"),)},
        {},
        (RefusalRule.CANDIDATES, ("the pool can't launch any instance type in us-east-1; run `gpupool explain "
                          "gpu`"), ""),
    ),
    (
        "devices by claims",
        {"requirements": L4},
        {"resourceClaims": [{"name": "gpu"}]},
        (
            RefusalRule.IGNORED,
            ("it requests devices with resource claims (DRA), which Karpenter does not support: request "
             "nvidia.com/gpu or another resource under `resources`"),
            "resourceClaims",
        ),
    ),
    (
        "a node by its name",
        {"requirements": L4},
        {"nodeSelector": {"kubernetes.io/hostname": "ip-10-0-0-1"}},
        (
            RefusalRule.IGNORED,
            "Karpenter skips pods that select 'kubernetes.io/hostname': it is different on every new node",
            "nodeSelector",
        ),
    ),
    (
        "a label of Karpenter's own domain",
        {"requirements": L4},
        {"nodeSelector": {f"{AWS}ec2nodeclass": "gpu"}},
        (
            RefusalRule.IGNORED,
            (f"Karpenter skips pods that select '{AWS}ec2nodeclass': it is in Karpenter's own domain "
             "karpenter.k8s.aws and not a label that can select nodes"),
            "nodeSelector",
        ),
    ),
    (
        "a capacity type that nobody knows",
        {"requirements": L4},
        {"affinity": required([requirement(CAPACITY, "In", "Spot")])},
        (
            RefusalRule.IGNORED,
            (f"Karpenter skips pods with affinity to '{CAPACITY}': it is one of on-demand, spot, reserved, "
            "not Spot"),
            "affinity",
        ),
    ),
    (
        "off Karpenter's nodes",
        {"requirements": L4},
        {"affinity": required([requirement("karpenter.sh/nodepool", "DoesNotExist")])},
        (RefusalRule.IGNORED, ("it requires a node without the label karpenter.sh/nodepool, which all of "
                       "Karpenter's have"), "affinity"),
    ),
    (
        "fields of nodes",
        {"requirements": L4},
        {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [{"matchFields": [requirement("metadata.name", "In", "a")]}]
                    }
                }
            }
        },
        (RefusalRule.IGNORED, "its node affinity has `matchFields`, which Karpenter does not support", "affinity"),
    ),
    (
        "bound to a node",
        {"requirements": L4},
        {"nodeName": "a"},
        (RefusalRule.IGNORED, "it is bound to node 'a', so no scheduler places it", "nodeName"),
    ),
    (
        "the nearest of several terms",
        {"requirements": L4, "labels": {"team": "serving"}},
        {
            "requests": {"nvidia.com/gpu": 9},
            "affinity": required([requirement("team", "In", "serving")], [requirement("team", "In", "research")]),
        },
        (
            RefusalRule.ACCELERATOR,
            ("requests 9 nvidia.com/gpu; the largest candidate, g6.48xlarge, has 8 (the closest of 2 terms "
            "of its affinity)"),
            "containers",
        ),
    ),
    (
        "a required term that is given up before a preference",
        {"requirements": L4, "labels": {"team": "serving"}},
        {
            "affinity": {
                "nodeAffinity": {
                    **required([requirement("team", "In", "serving")], [requirement("team", "In", "research")])["nodeAffinity"],
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {"weight": 1, "preference": {"matchExpressions": [requirement("team", "In", "nobody")]}}
                    ],
                }
            }
        },
        (
            RefusalRule.LABEL,
            ("fits only without its preferred affinity, and Karpenter drops required terms before "
             "preferred ones: put the required term that fits last (the closest of 2 terms of its "
             "affinity)"),
            "affinity",
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "wanting", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_the_first_rule_that_fails_is_named(
    al2023: Market, written: dict[str, Any], wanting: dict[str, Any], expected: tuple[RefusalRule, str, str]
) -> None:
    spec = dict(written)
    found = pool(al2023, *spec.pop("requirements"), **spec)

    assert refused(pod(**wanting), found) == expected


def test_every_rule_has_a_case() -> None:
    assert {case[3][0] for case in CASES} == {*RefusalRule} - {RefusalRule.HOST_PORT}


def daemon(requests: dict[str, object], **spec: Any) -> Daemon:  # noqa: ANN401 - JSON
    return Daemon("DaemonSet/agent", pod(requests, **spec))


ONE_TYPE = requirement("node.kubernetes.io/instance-type", "In", "g6.xlarge")


def test_daemon_sets_take_their_share(al2023: Market) -> None:
    found = pool(al2023, ONE_TYPE, taints=[TAINT])
    wanting = pod({"memory": "12Gi"}, tolerations=[TOLERATION])
    agent = daemon({"memory": "2Gi"}, tolerations=[{"operator": "Exists"}])

    assert judge_pod(wanting, build_sites([found])).fits
    assert refused(wanting, found, agent) == (
        RefusalRule.RESOURCES,
        "requests 12Gi memory; the only candidate, g6.xlarge, has 11.8Gi left after 2Gi for DaemonSets",
        "containers",
    )
    assert not judge_pod(wanting, build_sites([found], fixed={"memory": 2 << 30})).fits


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"tolerations": [TOLERATION], "nodeSelector": {"team": "research"}},
        {"tolerations": [TOLERATION], "nodeSelector": {ARCH: "arm64"}},
        {"tolerations": [TOLERATION], "resourceClaims": [{"name": "gpu"}]},
    ],
    ids=["taint", "label", "arch", "claims"],
)
def test_daemon_sets_that_do_not_run_there_take_nothing(al2023: Market, spec: dict[str, Any]) -> None:
    found = pool(al2023, ONE_TYPE, taints=[TAINT])
    wanting = pod({"memory": "12Gi"}, tolerations=[TOLERATION])

    assert judge_pod(wanting, build_sites([found], [daemon({"memory": "2Gi"}, **spec)])).fits


def test_a_daemon_set_that_waits_for_the_node_to_be_ready_counts(al2023: Market) -> None:
    agent = daemon({"memory": "2Gi"}, nodeSelector={"karpenter.sh/initialized": "true"})

    assert not judge_pod(pod({"memory": "12Gi"}), build_sites([pool(al2023, ONE_TYPE)], [agent])).fits


def test_a_port_that_a_daemon_set_has_is_taken(al2023: Market) -> None:
    ports: dict[str, Any] = {"container": {"ports": [{"containerPort": 9100}]}, "hostNetwork": True}

    assert refused(pod(**ports), pool(al2023, ONE_TYPE), daemon({}, **ports)) == (
        RefusalRule.HOST_PORT,
        "requests host port 9100/TCP, which a DaemonSet uses",
        "containers",
    )


def test_what_is_launched_is_the_cheapest_of_the_types_that_take_the_pod(al2023: Market) -> None:
    found = pool(al2023, *L4)
    placed = verdict_of(judge_pod(pod({"nvidia.com/gpu": 2}), build_sites([found]))).placed

    assert placed
    assert placed.types == ("g6.12xlarge", "g6.24xlarge", "g6.48xlarge")
    assert (placed.first, placed.dearest) == (("g6.12xlarge", 4.6016), ("g6.48xlarge", 13.3504))
    assert placed.capacity_type == "spot"


def test_a_pod_without_gpus_is_launched_on_what_has_none(al2023: Market) -> None:
    """A pod that asks for no GPU in a pool of category g gets a g6f, which has none to Karpenter."""
    found = pool(
        al2023, requirement(f"{AWS}instance-category", "In", "g"), requirement(CAPACITY, "In", "on-demand")
    )
    judged = judge_pod(pod({"cpu": 1}), build_sites([found]))

    assert judged.placed
    assert judged.placed.first == ("g6f.large", 0.202)
    assert judged.placed.dearest == ("g6f.4xlarge", 0.95)
    assert "g5.48xlarge" in judged.placed.types
    assert judged.placed.capacity_type == "on-demand"


def test_the_pool_with_the_greatest_weight_is_taken_and_of_equal_ones_the_last_by_name(
    al2023: Market,
) -> None:
    written: dict[str, dict[str, Any]] = {
        "a": {"weight": 10},
        "b": {"weight": 10},
        "c": {},
        "d": {"weight": 50, "taints": [TAINT]},
    }
    pools = [pool(al2023, *L4, name=name, **spec) for name, spec in written.items()]
    judged = judge_pod(pod({"nvidia.com/gpu": 1}), build_sites(pools))

    assert [verdict.pool for verdict in judged.verdicts] == ["d", "b", "a", "c"]
    assert judged.chosen == "b"
    assert [verdict.placed is not None for verdict in judged.verdicts] == [False, True, True, True]


def test_what_is_preferred_counts_before_the_weight(al2023: Market) -> None:
    pools = [
        pool(al2023, *L4, name="heavy", weight=100),
        pool(al2023, *L4, name="light", labels={"team": "a"}),
    ]
    preference = {"weight": 1, "preference": {"matchExpressions": [requirement("team", "In", "a")]}}
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preference]}}

    assert judge_pod(pod(), build_sites(pools)).chosen == "heavy"
    assert judge_pod(pod(affinity=affinity), build_sites(pools)).chosen == "light"


def test_soft_taints_are_tolerated_in_the_end(al2023: Market) -> None:
    soft = {"key": "nvidia.com/gpu", "effect": "PreferNoSchedule"}
    pools = [pool(al2023, *L4, name="soft", weight=100, taints=[soft]), pool(al2023, *L4, name="plain")]

    assert judge_pod(pod(), build_sites(pools)).chosen == "plain"
    assert judge_pod(pod(), build_sites(pools[:1])).chosen == "soft"


def test_min_values_have_to_hold_in_the_cheapest_600_types(al2023: Market) -> None:
    """Karpenter finds out when it has decided for the pool, and asks no other one."""
    names = "a10g", "h100", "l4", "l40s", "t4", "t4g"
    broad = pool(al2023, requirement(GPU_NAME, "NotIn", *names, minValues=2), name="broad", weight=50)
    other = pool(al2023, requirement(FAMILY, "In", "m7i"), name="other")
    judged = judge_pod(pod(), build_sites([broad, other]))

    assert (judged.chosen, judged.fits) == ("", False)
    assert [verdict.placed is not None for verdict in judged.verdicts] == [False, True]
    assert judged.verdicts[0].refusal == (
        RefusalRule.MIN_VALUES,
        f"the pool's minValues requires 2 of {GPU_NAME}; the 600 cheapest types have 0",
        "",
    )


def test_min_values_have_to_hold_in_the_cheapest_60_types_too(al2023: Market) -> None:
    """EC2 is asked for no more; the NodeClaim is there by then, and fails again and again."""
    many = requirement(GPU_NAME, "NotIn", "l4", minValues=1), requirement(CAPACITY, "In", "on-demand")
    found = pool(al2023, *many, requirement(f"{AWS}instance-cpu", "In", "2", "4"))
    judged = judge_pod(pod(), build_sites([found]))

    assert (judged.chosen, judged.placed, judged.fits) == ("gpu", None, False)
    assert verdict_of(judged).refusal == (
        RefusalRule.MIN_VALUES,
        (
            "the pod fits, but the launch fails: the 60 cheapest types, which Karpenter requests from "
            "EC2, have too few values for the pool's minValues"
        ),
        "",
    )


def test_a_static_pool_takes_pods_and_is_never_chosen(al2023: Market) -> None:
    judged = judge_pod(pod(), build_sites([pool(al2023, *L4, replicas=2)]))

    assert (judged.chosen, judged.fits, judged.verdicts[0].replicas) == ("", True, 2)


def test_a_pool_of_reservations_is_supposed_to_have_them_and_is_never_chosen() -> None:
    """A p5e has no list price: without a reservation nobody can launch one."""
    terms = [{"tags": {"a": "b"}}]
    reserving = market(node_class("gpu", capacityReservationSelectorTerms=terms), "us-east-2")
    reserved = requirement(FAMILY, "In", "p5e"), requirement(CAPACITY, "In", "reserved")
    other = pool(reserving, requirement(FAMILY, "In", "g6"), name="g6", taints=[TAINT])
    judged = judge_pod(pod({"nvidia.com/gpu": 8}), build_sites([pool(reserving, *reserved), other]))
    found = {verdict.pool: verdict for verdict in judged.verdicts}

    assert judged.chosen == ""
    assert found["g6"].placed is None
    assert found["gpu"].is_reserved
    assert found["gpu"].placed == (("p5e.48xlarge",), None, None, "")
    assert refused(pod(nodeSelector={CAPACITY: "spot"}), pool(reserving, *reserved))[0] == RefusalRule.LABEL


def test_without_a_region_nothing_is_said_of_offers_and_prices() -> None:
    anywhere = market(CLASSES["al2023"], "")
    judged = judge_pod(
        pod(nodeSelector={ZONE: "eu-west-1a"}),
        build_sites([pool(anywhere, requirement(FAMILY, "In", "p5e"))]),
    )

    assert judged.placed == (("p5e.48xlarge",), None, None, "")


def test_a_daemon_set_runs_where_its_pod_does_and_launches_nothing(al2023: Market) -> None:
    soft = {"key": "nvidia.com/gpu", "effect": "PreferNoSchedule"}
    found = pool(al2023, requirement(FAMILY, "In", "g6"), taints=[soft])
    judged = judge_daemon(pod({"memory": "20Gi"}), build_sites([found]))

    assert (judged.chosen, judged.placed, judged.fits) == ("", None, True)
    assert judged.verdicts[0].placed
    assert (len(judged.verdicts[0].placed.types), judged.verdicts[0].types) == (7, 8)


def test_what_is_asked_and_there_is_not_lacking() -> None:
    room: TypeResources = {"cpu": Decimal(2), "memory": 4}

    assert list(find_lacking_resources({"cpu": Decimal(2), "memory": 4}, room)) == []
    assert list(find_lacking_resources({"cpu": Decimal("2.001"), "memory": 5, "nvidia.com/gpu": 1}, room)) == [
        "cpu", "memory", "nvidia.com/gpu",
    ]  # fmt: skip
