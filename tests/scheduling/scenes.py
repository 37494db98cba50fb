"""Generated pods, NodePools and DaemonSets, near enough to each other that about half of the pods fit."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.scheduling.classes import CLASSES

if TYPE_CHECKING:
    from random import Random

    from tests.rig.scheduling_answers import Body

AWS = "karpenter.k8s.aws/"
LABELS: dict[str, list[str]] = {
    f"{AWS}instance-category": ["g", "p", "c", "m", "r", "trn", "inf", "gr"],
    f"{AWS}instance-family": [
        "g5",
        "g6",
        "g6e",
        "g6f",
        "p4d",
        "p5",
        "m7i",
        "c7g",
        "g5g",
        "trn1",
        "inf2",
        "r7i",
    ],
    f"{AWS}instance-size": ["xlarge", "2xlarge", "4xlarge", "12xlarge", "24xlarge", "48xlarge", "metal"],
    f"{AWS}instance-gpu-name": ["l4", "a10g", "h100", "t4", "l40s", "t4g"],
    f"{AWS}instance-gpu-manufacturer": ["nvidia", "amd"],
    f"{AWS}instance-hypervisor": ["nitro", "xen", ""],
    f"{AWS}instance-tenancy": ["default", "dedicated"],
    f"{AWS}instance-accelerator-name": ["trainium", "inferentia2"],
    "kubernetes.io/arch": ["amd64", "arm64"],
    "beta.kubernetes.io/arch": ["amd64", "arm64"],
    "kubernetes.io/os": ["linux", "windows"],
    "karpenter.sh/capacity-type": ["spot", "on-demand", "on-demand", "reserved"],
    "topology.kubernetes.io/zone": ["us-east-1a", "us-east-1b", "us-east-1e", "us-east-1f", "eu-west-1a"],
    "topology.k8s.aws/zone-id": ["use1-az1", "use1-az2", "use1-az3", "use1-az6"],
    "topology.kubernetes.io/region": ["us-east-1", "eu-west-1"],
    "node.kubernetes.io/instance-type": [
        "g6.xlarge",
        "g6.12xlarge",
        "p5.48xlarge",
        "m7i.large",
        "c7g.xlarge",
    ],
    "team": ["research", "serving"],
    "example.com/tier": ["a", "b"],
}
RARE = {
    f"{AWS}instance-accelerator-name",
    f"{AWS}instance-hypervisor",
    f"{AWS}instance-family",
    "kubernetes.io/os",
    "topology.kubernetes.io/region",
    "node.kubernetes.io/instance-type",
}
"""Labels that leave most pools nothing."""

NUMBERS: dict[str, list[int]] = {
    f"{AWS}instance-gpu-count": [0, 1, 2, 4, 8],
    f"{AWS}instance-gpu-memory": [16384, 22888, 45776],
    f"{AWS}instance-cpu": [2, 4, 8, 16, 32, 96, 192],
    f"{AWS}instance-memory": [8192, 16384, 65536, 262144],
    f"{AWS}instance-generation": [4, 5, 6, 7],
    f"{AWS}instance-local-nvme": [100, 500, 1000],
    f"{AWS}instance-network-bandwidth": [5000, 50000],
}
TAINTS = [
    ("nvidia.com/gpu", "true"),
    ("nvidia.com/gpu", None),
    ("dedicated", "training"),
    ("size", "8"),
    ("team", "research"),
]
EFFECTS = ["NoSchedule", "NoExecute", "PreferNoSchedule"]
REQUESTS: list[tuple[str, list[str]]] = [
    ("cpu", ["100m", "1", "3.9", "7", "31500m", "180", "0"]),
    ("memory", ["128Mi", "2Gi", "14162Mi", "60G", "1500Gi", "1e9"]),
    ("ephemeral-storage", ["1Gi", "17Gi", "18Gi", "400G"]),
    ("nvidia.com/gpu", ["1", "2", "3", "4", "8"]),
    ("vpc.amazonaws.com/efa", ["1", "4", "32"]),
    ("aws.amazon.com/neuron", ["1", "16"]),
    ("aws.amazon.com/neuroncore", ["2"]),
    ("amd.com/gpu", ["1"]),
    ("example.com/dongle", ["1"]),
]
IGNORED: list[Body] = [
    {"resourceClaims": [{"name": "gpu"}]},
    {"nodeSelector": {f"{AWS}ec2nodeclass": "al2023"}},
    {"nodeSelector": {"kubernetes.io/hostname": "a"}},
    {"nodeSelector": {"karpenter.sh/capacity-type": "Spot"}},
    {"nodeSelector": {"karpenter.sh/initialized": "true"}},
]
"""What makes Karpenter pass over a pod."""

CLASSES_USED = ["al2023", "bottlerocket", "raid0", "max-pods", "efa", "reserves", "windows", "small-disk"]


class Scene(NamedTuple):
    """Pools with their classes, DaemonSets, and pods that each want a node alone."""

    pools: list[Body]
    classes: list[Body]
    daemon_sets: list[Body]
    pod: Body


def scene(chance: Random, pools: int) -> Scene:
    """Make one of this many pools."""
    made = [pool(chance, f"pool-{index}") for index in range(pools)]
    used = dict.fromkeys(each["spec"]["template"]["spec"]["nodeClassRef"]["name"] for each in made)
    return Scene(
        made,
        [CLASSES[name] for name in used],
        [daemon_set(chance, index) for index in range(chance.choice([0, 0, 1, 2, 4]))],
        pod(chance, chance.choice(made)),
    )


def pool(chance: Random, name: str) -> Body:
    """Make a NodePool that Karpenter's runtime validation takes."""
    template = {
        "nodeClassRef": {
            "group": "karpenter.k8s.aws",
            "kind": "EC2NodeClass",
            "name": chance.choice([*["al2023"] * 4, *CLASSES_USED]),
        },
        "requirements": [
            requirement(chance, in_pool=True) for _ in range(chance.choice([0, 1, 1, 2, 2, 3, 4]))
        ],
        "taints": taints(chance),
        "startupTaints": [{"key": "starting", "effect": "NoSchedule"}] if chance.random() < 0.1 else [],
    }
    labels = {
        key: chance.choice(LABELS[key]) for key in ("team", "example.com/tier") if chance.random() < 0.3
    }
    spec: dict[str, Any] = {"template": {"metadata": {"labels": labels}, "spec": template}}
    if chance.random() < 0.6:
        spec["weight"] = chance.choice([1, 10, 10, 50, 100])
    if chance.random() < 0.5:
        names = chance.sample(
            ["cpu", "memory", "nvidia.com/gpu", "nodes", "vpc.amazonaws.com/efa", "gpu"],
            chance.choice([1, 2]),
        )
        amounts = {
            "cpu": ["2", "16", "100", "1000"],
            "memory": ["8Gi", "100Gi", "2000Gi"],
            "nodes": ["0", "1", "5"],
        }
        spec["limits"] = {
            each: chance.choice(amounts.get(each, ["0", "1", "4", "8", "16"])) for each in names
        }
    return {"metadata": {"name": name}, "spec": spec}


def requirement(chance: Random, *, in_pool: bool) -> Body:
    """Make a requirement, in a pod's affinity without the operators that only pools have."""
    if chance.random() < 0.3:
        key = chance.choice([*NUMBERS])
        operators = [
            "Gt",
            "Lt",
            "In",
            "NotIn",
            "Exists",
            "DoesNotExist",
            *(["Gte", "Lte"] if in_pool else []),
        ]
        values = [str(value) for value in NUMBERS[key]]
    else:
        key = chance.choice([*LABELS])
        if in_pool and key in RARE and chance.random() < 0.8:
            key = f"{AWS}instance-category"
        operators, values = ["In", "In", "In", "NotIn", "Exists", "DoesNotExist"], LABELS[key]
    operator = chance.choice(operators)
    if in_pool and operator == "DoesNotExist" and chance.random() < 0.8:
        operator = "Exists"
    made: Body = {"key": key, "operator": operator}
    if operator in ("In", "NotIn"):
        made["values"] = known(
            key,
            chance.sample(
                values, chance.randint(len(values) // 2 if in_pool else 1, len(values) if in_pool else 2)
            ),
        )
    elif operator not in ("Exists", "DoesNotExist"):
        made["values"] = [chance.choice(values)]
    if in_pool and chance.random() < 0.15 and (operator != "In" or len(made["values"]) > 1):
        made["minValues"] = 2
    return made


def known(key: str, values: list[str]) -> list[str]:
    """Leave nothing that makes Karpenter refuse the whole pool or pod."""
    return sorted(values) if key != f"{AWS}instance-hypervisor" else values


def taints(chance: Random) -> list[Body]:
    """Make taints without two of one key and effect."""
    made = {}
    for _ in range(chance.choice([0, 0, 1, 1, 2])):
        key, value = chance.choice(TAINTS)
        effect = chance.choice(EFFECTS)
        made[key, effect] = {"key": key, "effect": effect, **({"value": value} if value else {})}
    return list(made.values())


def tolerations(chance: Random, wanted: list[Body]) -> list[Body]:
    """Tolerate the taints that are there more often than not."""
    made: list[Body] = [
        {"key": taint["key"], "operator": "Exists"} for taint in wanted if chance.random() < 0.8
    ]
    if chance.random() < 0.3:
        key, value = chance.choice(TAINTS)
        made.append(
            {"key": key, "value": value or ""}
            if chance.random() < 0.5
            else {
                "key": key,
                "operator": chance.choice(["Exists", "Gt", "Lt"]),
                "value": chance.choice(["7", "9", ""]),
            }
        )
    if chance.random() < 0.1:
        made.append(
            {"operator": "Exists", **({"effect": chance.choice(EFFECTS)} if chance.random() < 0.5 else {})}
        )
    for each in made:
        if each.get("operator") == "Exists":
            each.pop("value", None)
        if chance.random() < 0.2 and "effect" not in each:
            each["effect"] = chance.choice(EFFECTS)
    return made


def pod(chance: Random, aimed_at: Body) -> Body:
    """Make a pod that was written with a pool in mind."""
    spec: Body = containers(chance)
    template = aimed_at["spec"]["template"]
    spec["tolerations"] = tolerations(chance, template["spec"]["taints"])
    selector = {}
    if chance.random() < 0.4:
        selector.update(
            {key: value for key, value in template["metadata"]["labels"].items() if chance.random() < 0.8}
        )
    if chance.random() < 0.15:
        selector["karpenter.sh/nodepool"] = chance.choice([aimed_at["metadata"]["name"], "pool-0", "other"])
    if chance.random() < 0.25:
        key = chance.choice([*LABELS])
        selector[key] = chance.choice(LABELS[key])
    if selector:
        spec["nodeSelector"] = selector
    if affinity := node_affinity(chance):
        spec["affinity"] = {"nodeAffinity": affinity}
    if chance.random() < 0.04:
        spec.update(deepcopy(chance.choice(IGNORED)))
    return {"metadata": {"name": "p"}, "spec": spec}


def node_affinity(chance: Random) -> Body:
    made: Body = {}
    if chance.random() < 0.35:
        terms = [term(chance) for _ in range(chance.choice([1, 1, 2, 3]))]
        made["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    if chance.random() < 0.3:
        weights = chance.sample(range(1, 101), chance.choice([1, 2]))
        made["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": weight, "preference": term(chance)} for weight in weights
        ]
    return made


def term(chance: Random) -> Body:
    return {"matchExpressions": [requirement(chance, in_pool=False) for _ in range(chance.choice([1, 1, 2]))]}


def containers(chance: Random) -> Body:
    """Make containers, some with sidecars, init containers, overhead and requests of the pod as a whole."""
    spec: Body = {"containers": [container(chance, "c")]}
    if chance.random() < 0.2:
        spec["containers"].append(container(chance, "d"))
    if chance.random() < 0.2:
        spec["initContainers"] = [container(chance, f"i{index}") for index in range(chance.choice([1, 2, 3]))]
        for each in spec["initContainers"]:
            if chance.random() < 0.5:
                each["restartPolicy"] = "Always"
    if chance.random() < 0.1:
        spec["overhead"] = {"cpu": "250m", "memory": "120Mi"}
    if chance.random() < 0.1:
        spec["resources"] = {"requests": {"cpu": chance.choice(["2", "6"]), "memory": "3Gi"}}
    return spec


def container(chance: Random, name: str) -> Body:
    asked = {}
    for resource, amounts in chance.sample(REQUESTS[:4], chance.choice([0, 1, 2, 3])):
        asked[resource] = chance.choice(amounts)
    if chance.random() < 0.12:
        resource, amounts = chance.choice(REQUESTS[4:])
        asked[resource] = chance.choice(amounts)
    made: Body = {"name": name, "resources": {chance.choice(["requests", "limits"]): asked}}
    if chance.random() < 0.1:
        port = {"containerPort": 80, "hostPort": chance.choice([80, 9100]), "protocol": "TCP"}
        if chance.random() < 0.3:
            port["hostIP"] = chance.choice(["10.0.0.1", "10.0.0.2"])
        made["ports"] = [port]
    return made


def daemon_set(chance: Random, index: int) -> Body:
    """Make a DaemonSet; of its affinity only one term, as Karpenter's answer else depends on the types' order."""
    asked = {
        resource: chance.choice(amounts[:3])
        for resource, amounts in chance.sample(REQUESTS[:2], chance.choice([0, 1, 2]))
    }
    container: Body = {"name": "c", "resources": {"limits": asked}}
    if chance.random() < 0.3:
        container["ports"] = [{"containerPort": 9100, "hostPort": 9100, "protocol": "TCP"}]
    spec: Body = {"containers": [container]}
    if chance.random() < 0.7:
        spec["tolerations"] = [{"operator": "Exists"}]
    if chance.random() < 0.3:
        key = chance.choice([*LABELS])
        spec["nodeSelector"] = {key: chance.choice(LABELS[key])}
    if chance.random() < 0.2:
        spec["nodeSelector"] = {**spec.get("nodeSelector", {}), "karpenter.sh/registered": "true"}
    if chance.random() < 0.3:
        terms = {"nodeSelectorTerms": [term(chance)]}
        spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    return {"kind": "DaemonSet", "metadata": {"name": f"d{index}"}, "spec": {"template": {"spec": spec}}}
