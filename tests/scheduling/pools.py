"""NodePools as people and chance write them."""

import random
from collections.abc import Sequence

from gpupool.karpenter import labels
from tests.rig.scheduling import Body
from tests.scheduling.worlds import masks

CUSTOM = ("team", "example.com/tier", "nvidia.com/gpu.present")
KEYS = (*labels.WELL_KNOWN, *labels.ALIASES, *CUSTOM)
LIKELY = (
    labels.INSTANCE_CATEGORY, labels.INSTANCE_FAMILY, labels.INSTANCE_TYPE, labels.INSTANCE_SIZE,
    labels.INSTANCE_GPU_COUNT, labels.INSTANCE_GPU_NAME, labels.INSTANCE_GPU_MEMORY, labels.INSTANCE_GENERATION,
    labels.CAPACITY_TYPE, labels.ARCH, labels.ZONE, labels.INSTANCE_CPU, labels.INSTANCE_MEMORY,
    labels.INSTANCE_ACCELERATOR_NAME, labels.INSTANCE_LOCAL_NVME, labels.INSTANCE_HYPERVISOR,
)  # fmt: skip
OPERATORS = ("In", "In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte")
ZONES = ("us-east-1a", "us-east-1b", "us-east-1c", "us-east-1e", "us-east-1f", "eu-west-1a")
RESOURCES = ("cpu", "memory", "nvidia.com/gpu", "pods", "aws.amazon.com/neuron", "nodes", "vpc.amazonaws.com/efa", "ephemeral-storage", "amd.com/gpu", "unknown")  # fmt: skip


def node_pool(name: str, requirements: Sequence[Body], **more: object) -> Body:
    """Return a NodePool of the class `c`."""
    template: Body = {
        "spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "c"},
            "requirements": list(requirements),
        }
    }
    if labels_of_nodes := more.pop("labels", None):
        template["metadata"] = {"labels": labels_of_nodes}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"template": template, **more},
    }


class Pools:
    """An endless supply of NodePools, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - the same pools for the same seed
        self._count = 0
        self._meant = 0

    def one(self, *, limits: bool = False) -> Body:
        chance = self.chance
        self._count += 1
        # A real type that most requirements are meant for: without one nearly every pool is left with nothing.
        self._meant = chance.randrange(len(masks().catalogue.names))
        requirements = [self._requirement() for _ in range(chance.choice((0, 1, 2, 2, 3, 3, 4, 5, 7)))]
        if chance.random() < 0.3 and requirements:
            requirements.append(self._requirement(chance.choice(requirements)["key"]))
        more: Body = {}
        if chance.random() < 0.2:
            key = chance.choice((*CUSTOM, labels.INSTANCE_FAMILY, labels.ARCH))
            more["labels"] = {key: chance.choice(self._values(key))}
        if limits:
            more["limits"] = self.limits()
        return node_pool(f"p{self._count}", requirements, **more)

    def limits(self) -> dict[str, str]:
        names = self.chance.sample(RESOURCES, self.chance.choice((1, 1, 2, 3)))
        return {name: self._amount(name) for name in names}

    def _amount(self, name: str) -> str:
        chance = self.chance
        if name == "memory":
            return f"{chance.choice((1, 16, 100, 750, 2000))}{chance.choice(('Gi', 'G'))}"
        if name == "ephemeral-storage":
            return chance.choice(("10Gi", "20Gi", "21474836480", "1Ti"))
        return str(chance.choice((0, 1, 2, 8, 16, 64, 96, 100, 192, 1000)))

    def _requirement(self, key: str = "") -> Body:
        chance = self.chance
        key = key or chance.choice(LIKELY if chance.random() < 0.8 else KEYS)
        own = self._own_values(key)
        operator = chance.choice(OPERATORS)
        # Most leave the type in that the pool is meant for.
        kind = chance.random() < 0.85
        if kind and operator in ("Exists", "DoesNotExist"):
            operator = "Exists" if own else "DoesNotExist"
        made: Body = {"key": key, "operator": operator}
        if operator in ("In", "NotIn"):
            values = {chance.choice(self._values(key)) for _ in range(chance.choice((1, 1, 2, 3, 6)))}
            if kind:
                values = values | set(own) if operator == "In" else values - set(own) or {"nothing"}
            made["values"] = sorted(values)
        elif operator in ("Gt", "Lt", "Gte", "Lte"):
            numbers = [int(value) for value in own if value.isdigit()]
            made["values"] = [self._around(operator, numbers[0]) if kind and numbers else self._bound(key)]
        if chance.random() < 0.12:
            made["minValues"] = chance.choice((1, 1, 2, 3, 5, 12))
        return made

    def _around(self, operator: str, number: int) -> str:
        """Return a bound that lets a number pass."""
        away = self.chance.choice((1, 1, 2, 7, 1000))
        return str(max(0, number - away) if operator in ("Gt", "Gte") else number + away)

    def _bound(self, key: str) -> str:
        if self.chance.random() < 0.1:
            return self.chance.choice(("0", "1", "007", "9223372036854775807", "99999999999"))
        numbers = [value for value in self._values(key) if value.isdigit()] or ["0", "1", "4", "8"]
        return self.chance.choice(numbers)

    def _own_values(self, key: str) -> tuple[str, ...]:
        key = labels.ALIASES.get(key, key)
        if masks().has_label(key):
            return masks().values(key, self._meant)
        return {labels.ZONE: ZONES[:5], labels.REGION: ("us-east-1",), labels.OS: ("linux", "windows")}.get(
            key, ()
        )

    def _values(self, key: str) -> list[str]:
        key = labels.ALIASES.get(key, key)
        if key == labels.INSTANCE_TYPE:
            return [self.chance.choice(masks().catalogue.names), "p5.48xlarge", "nothing.large"]
        if masks().has_label(key):
            known = sorted(masks().list_values(key))
            return [*known, self.chance.choice(("nothing", "0", "4", "H100"))]
        own = {
            labels.ZONE: ZONES,
            labels.ZONE_ID: ("use1-az1", "use1-az2", "use1-az3", "use1-az6", "euw1-az1"),
            labels.REGION: ("us-east-1", "eu-west-1"),
            labels.OS: ("linux", "windows"),
            labels.WINDOWS_BUILD: ("10.0.20348", "10.0.17763"),
        }
        return list(own.get(key, ("a", "b", "true", "1", "2")))
