"""Objects that the API server mostly takes, with the values that Karpenter itself looks at."""

import random
from collections.abc import Iterator

from tests.differential import texts
from tests.differential.mutants import Mutant
from tests.differential.trees import Body, changed
from tests.karpenter.examples import NODEOVERLAY, NODEPOOL

WELL_KNOWN = (
    "karpenter.sh/capacity-type", "karpenter.k8s.aws/instance-tenancy", "topology.kubernetes.io/zone", "node.kubernetes.io/windows-build", "kubernetes.io/os", "karpenter.k8s.aws/ec2nodeclass",
    "beta.kubernetes.io/arch", "beta.kubernetes.io/os", "beta.kubernetes.io/instance-type", "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region", "karpenter.sh/nodepool",
    "karpenter.k8s.aws/placement-group-partition", "karpenter.k8s.aws/instance-encryption-in-transit-supported", "node-role.kubernetes.io/x", "beta.kubernetes.io/x",
)  # fmt: skip
KEYS = (*WELL_KNOWN, *texts.KEYS, "a" * 63 + "." + "b" * 63 + "/c", "a" * 64 + ".b/c", ("a" * 50 + ".") * 5 + "a/c", "a" * 251 + "/" + "b" * 64)  # fmt: skip
VALUES = (
    "a", "A", "", "a.b", "a_b", "-a", "a-", "a b", "a/b", "x" * 63, "x" * 64, "é", "\u0661", "1", "0", "007", "+1", "-1", "1.5", " 1", "9223372036854775807", "a\n", "true", "a" * 253, "a.b/c", "A/b", "a/" + "b" * 64,
    "spot", "Spot", "SPOT", "on-demand", "reserved", "spot ", "default", "dedicated", "Dedicated", "host",
)  # fmt: skip
LISTS: tuple[list[str], ...] = (
    ["spot"], ["Spot"], ["spot", "Spot"], ["Spot", "on-demand"], ["spot", "on-demand", "reserved"], ["default"], ["dedicated", "Default"], ["Default"], ["spot", "spot"], ["host", "dedicated"], [],
)  # fmt: skip
OPERATORS = ("In", "In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte")
TAINTS = (
    "a",
    "nvidia.com/gpu",
    "a" * 63,
    "a" * 64,
    "a.b/" + "c" * 64,
    "a" * 254 + "/b",
    "karpenter.sh/disrupted",
    "A",
)
TAINT_VALUES = (None, "a", "a/b", "a.b/c", "x" * 63, "x" * 64, "a" * 254 + "/b", "a.b/" + "c" * 64, "A_b")
RESOURCES = (
    "nvidia.com/gpu", "amd.com/gpu", "aws.amazon.com/neuron", "aws.amazon.com/neuroncore", "habana.ai/gaudi", "vpc.amazonaws.com/efa", "vpc.amazonaws.com/pod-eni", "vpc.amazonaws.com/PrivateIPv4Address",
    "hugepages-2Mi", "Pods", "example.com/x", "a b", "pid", "nodes", "storage", "attachable-volumes-aws-ebs",
)  # fmt: skip


def watched(count: int, seed: int) -> Iterator[Mutant]:
    """Yield pools and overlays with the values that Karpenter's own checks are about."""
    chance = random.Random(seed)  # noqa: S311 - a fixed sequence is what we want
    for number in range(count):
        if number % 3:
            yield Mutant(_pool(chance), NODEPOOL, "runtime")
        else:
            yield Mutant(_overlay(chance), NODEOVERLAY, "runtime")


def _pool(chance: random.Random) -> Body:
    body = changed(
        NODEPOOL, ("spec", "template", "spec", "requirements"), _requirements(chance, minimum=True)
    )
    labels = {
        chance.choice(KEYS): chance.choice(("a", "b", "", "x" * 63))
        for _ in range(chance.choice((0, 0, 1, 2)))
    }
    body = changed(body, ("spec", "template", "metadata", "labels"), labels)
    for field in ("taints", "startupTaints"):
        body = changed(body, ("spec", "template", "spec", field), _taints(chance))
    return body


def _overlay(chance: random.Random) -> Body:
    body = changed(NODEOVERLAY, ("spec", "requirements"), _requirements(chance, minimum=False))
    capacity = {chance.choice(RESOURCES): "1" for _ in range(chance.choice((0, 1, 2)))}
    return changed(body, ("spec", "capacity"), capacity)


def _requirements(chance: random.Random, *, minimum: bool) -> list[Body]:
    return [_requirement(chance, minimum) for _ in range(chance.choice((0, 1, 1, 1, 2)))]


def _requirement(chance: random.Random, minimum: bool) -> Body:
    operator = chance.choice(OPERATORS)
    found: Body = {"key": chance.choice((*KEYS, *WELL_KNOWN)), "operator": operator}
    if (len(operator) > 2 and operator[0] in "GL") or operator in {"Gt", "Lt"}:
        found["values"] = [chance.choice(("0", "1", "007", "+1", "+0", "9223372036854775807"))]
    elif operator == "In" or chance.random() < 0.6:
        found["values"] = _values(found["key"], chance)
    if minimum and chance.random() < 0.2:
        found["minValues"] = chance.choice((1, 1, 2, 3))
    return found


def _values(key: str, chance: random.Random) -> list[str]:
    if key in {"karpenter.sh/capacity-type", "karpenter.k8s.aws/instance-tenancy"} and chance.random() < 0.8:
        return list(chance.choice(LISTS))
    good = ("a", "b", "c.d", "E_f")
    pool = good if chance.random() < 0.7 else (*good, *VALUES)
    return [chance.choice(pool) for _ in range(chance.choice((1, 1, 2, 3)))]


def _taints(chance: random.Random) -> list[Body]:
    found = []
    for _ in range(chance.choice((0, 0, 1, 1, 2))):
        value = chance.choice(TAINT_VALUES if chance.random() < 0.4 else (None, "true"))
        taint: Body = {
            "key": chance.choice(TAINTS if chance.random() < 0.5 else "abcdefgh"),
            "effect": chance.choice(("NoSchedule", "PreferNoSchedule", "NoExecute")),
        }
        found.append(taint if value is None else taint | {"value": value})
    return found
