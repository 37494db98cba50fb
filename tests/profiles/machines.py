"""EC2's machines with accelerators, as Karpenter labels them, and which of them a NodePool admits.

Source: the instance types of Karpenter v1.14.1 and EC2's DescribeInstanceTypes, 2026-10.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_AWS = "karpenter.k8s.aws/instance-"
_MAKERS = {"radeon-pro-v520": "amd"}
_NEURON = ("inferentia", "inferentia2", "trainium", "trainium2")

# family, chip (a dash for none), MiB on each, architecture, NVMe, and the number of chips by size
_FAMILIES = """
g4ad   radeon-pro-v520     8192   amd64 nvme xlarge=1 2xlarge=1 4xlarge=1 8xlarge=2 16xlarge=4
g4dn   t4                  16384  amd64 nvme xlarge=1 2xlarge=1 4xlarge=1 8xlarge=1 16xlarge=1 12xlarge=4 metal=8
g5     a10g                22888  amd64 nvme xlarge=1 2xlarge=1 4xlarge=1 8xlarge=1 16xlarge=1 12xlarge=4 24xlarge=4 48xlarge=8
g5g    t4g                 16384  arm64 none xlarge=1 2xlarge=1 4xlarge=1 8xlarge=1 16xlarge=2 metal=2
g6     l4                  22888  amd64 nvme xlarge=1 2xlarge=1 4xlarge=1 8xlarge=1 16xlarge=1 12xlarge=4 24xlarge=4 48xlarge=8
g6e    l40s                45776  amd64 nvme xlarge=1 2xlarge=1 4xlarge=1 8xlarge=1 16xlarge=1 12xlarge=4 24xlarge=4 48xlarge=8
g6f    l4                  2861   amd64 nvme large=0 xlarge=0
gr6    l4                  22888  amd64 nvme 4xlarge=1 8xlarge=1
gr6f   l4                  11444  amd64 nvme 4xlarge=0
g7     rtx-pro-4500        32768  amd64 nvme 2xlarge=1 4xlarge=1 8xlarge=1 12xlarge=2 24xlarge=4 48xlarge=8
g7e    rtx-pro-server-6000 98304  amd64 nvme 2xlarge=1 4xlarge=1 8xlarge=1 12xlarge=2 24xlarge=4 48xlarge=8
p3dn   v100                32768  amd64 nvme 24xlarge=8
p4d    a100                40960  amd64 nvme 24xlarge=8
p4de   a100                81920  amd64 nvme 24xlarge=8
p5     h100                81920  amd64 nvme 4xlarge=1 48xlarge=8
p5e    h200                144384 amd64 nvme 48xlarge=8
p5en   h200                144384 amd64 nvme 48xlarge=8
p6-b200 b200               183359 amd64 nvme 48xlarge=8
p6-b300 b300               275040 amd64 nvme 48xlarge=8
inf1   inferentia          8192   amd64 none xlarge=1 2xlarge=1 6xlarge=4 24xlarge=16
inf2   inferentia2         32768  amd64 none xlarge=1 8xlarge=1 24xlarge=6 48xlarge=12
trn1   trainium            32768  amd64 nvme 2xlarge=1 32xlarge=16
trn1n  trainium            32768  amd64 nvme 32xlarge=16
trn2   trainium2           524288 amd64 nvme 3xlarge=1 48xlarge=16
m5     -                   0      amd64 none large=0 metal=0
m7i    -                   0      amd64 none large=0 8xlarge=0 48xlarge=0
c7i    -                   0      amd64 none medium=0 xlarge=0
t3     -                   0      amd64 none xlarge=0
c6g    -                   0      arm64 none xlarge=0
m7g    -                   0      arm64 none large=0 8xlarge=0 metal=0
"""


@dataclass(frozen=True)
class Machine:
    """One instance type."""

    name: str
    labels: Mapping[str, str]

    @property
    def family(self) -> str:
        return self.name.partition(".")[0]

    @property
    def has_nvme(self) -> bool:
        return f"{_AWS}local-nvme" in self.labels

    @property
    def is_nvidia(self) -> bool:
        return self.labels.get(f"{_AWS}gpu-manufacturer") == "nvidia"


def admitted(pool: Mapping[str, Any]) -> list[Machine]:
    """Return the machines that all requirements of a NodePool's spec admit, zones and capacity aside."""
    requirements = [
        item
        for item in pool["template"]["spec"]["requirements"]
        if item["key"] not in ("karpenter.sh/capacity-type", "topology.kubernetes.io/zone")
    ]
    assert len({item["key"] for item in requirements}) == len(requirements)
    return [
        machine
        for machine in MACHINES
        if all(_admits(item, machine.labels.get(item["key"])) for item in requirements)
    ]


def _admits(requirement: Mapping[str, Any], label: str | None) -> bool:
    """Return whether one requirement admits a label; one that is absent passes only what excludes."""
    operator, values = requirement["operator"], requirement.get("values", [])
    if label is None:
        return operator in ("NotIn", "DoesNotExist")
    if operator in ("In", "NotIn"):
        return bool((label in values) == (operator == "In"))
    if operator in ("Exists", "DoesNotExist"):
        return bool(operator == "Exists")
    number, bound = int(label), int(values[0])
    return {"Gt": number > bound, "Gte": number >= bound, "Lt": number < bound, "Lte": number <= bound}[
        operator
    ]


def _machines(line: str) -> list[Machine]:
    family, chip, memory, arch, nvme, *sizes = line.split()
    return [
        Machine(f"{family}.{size}", _labels(family, size, arch, nvme) | _chips(chip, memory, count))
        for size, _, count in (entry.partition("=") for entry in sizes)
    ]


def _labels(family: str, size: str, arch: str, nvme: str) -> dict[str, str]:
    found = re.match(r"([a-z]+)([0-9]+)", family)
    assert found
    labels = {
        "node.kubernetes.io/instance-type": f"{family}.{size}",
        "kubernetes.io/arch": arch,
        "kubernetes.io/os": "linux",
        f"{_AWS}family": family,
        f"{_AWS}size": size,
        f"{_AWS}category": found[1],
        f"{_AWS}generation": found[2],
        f"{_AWS}hypervisor": "" if size == "metal" else "nitro",
    }
    return labels | ({f"{_AWS}local-nvme": "250"} if nvme == "nvme" else {})


def _chips(chip: str, memory: str, count: str) -> dict[str, str]:
    if chip == "-":
        return {}
    if chip in _NEURON:
        parts = {"name": chip, "manufacturer": "aws", "count": count}
        return {f"{_AWS}accelerator-{key}": value for key, value in parts.items()}
    parts = {"name": chip, "manufacturer": _MAKERS.get(chip, "nvidia"), "count": count, "memory": memory}
    return {f"{_AWS}gpu-{key}": value for key, value in parts.items()}


MACHINES = tuple(machine for line in _FAMILIES.strip().splitlines() for machine in _machines(line))
