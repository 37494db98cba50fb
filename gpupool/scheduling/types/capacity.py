"""The room on a node of a type: what Karpenter expects it to have, and what is left of that for pods.

Source: pkg/providers/instancetype/types.go of Karpenter's AWS provider v1.14.1. Amounts are in base units
(cores, bytes, pieces) and exact; where Go reckons in floating point, so does this, in the same order.
"""

import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Final, NamedTuple, TypeAlias

from gpupool.karpenter.quantities import Amount, parse_amount
from gpupool.scheduling.types.amifamily import DEFAULT_VOLUME
from gpupool.scheduling.types.instancetype import InstanceType
from gpupool.scheduling.types.nodeclass import ScheduledNodeClass

TypeResources: TypeAlias = Mapping[str, Amount]

CPU, MEMORY, STORAGE, PODS = "cpu", "memory", "ephemeral-storage", "pods"
NVIDIA, AMD, GAUDI = "nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi"
NEURON, NEURON_CORE = "aws.amazon.com/neuron", "aws.amazon.com/neuroncore"
EFA, POD_ENI = "vpc.amazonaws.com/efa", "vpc.amazonaws.com/pod-eni"
IPV4: Final = "vpc.amazonaws.com/PrivateIPv4Address"
ACCELERATORS: Final = (NVIDIA, AMD, GAUDI, NEURON, NEURON_CORE)
"""Resources that make Karpenter keep a type for pods that ask for them."""

DEVICES: Final = (NVIDIA, AMD, GAUDI, NEURON)
"""Resources that count whole accelerators."""

_MADE_BY: Final = {NVIDIA: "NVIDIA", AMD: "AMD", GAUDI: "Habana"}
_HUGE_PAGES: Final = "hugepages-"
_MIB: Final = 1 << 20
_PODS_WITHOUT_ENI: Final = 110
_ARM_KEEPS: Final = 64
"""MiB that Graviton's firmware keeps to itself."""

_CPU_STEPS: Final = ((0, 1000, 0.06), (1000, 2000, 0.01), (2000, 4000, 0.005), (4000, 1 << 31, 0.0025))
"""From and to which millicore the kubelet keeps which share."""


class ControllerSettings(NamedTuple):
    """Options of the Karpenter controller that count here, as they come."""

    vm_memory_overhead: float = 0.075
    """VM_MEMORY_OVERHEAD_PERCENT, as a share."""

    reserved_enis: int = 0


DEFAULTS: Final = ControllerSettings()


class NodeOverhead(NamedTuple):
    """What of a node's capacity pods don't get."""

    kube_reserved: TypeResources
    system_reserved: TypeResources
    eviction: TypeResources


def calculate_capacity(
    kind: InstanceType, node_class: ScheduledNodeClass, settings: ControllerSettings = DEFAULTS
) -> dict[str, Amount]:
    """Return what Karpenter expects a node to have before one of its type has ever registered."""
    room: dict[str, Amount] = {
        CPU: kind.vcpus,
        MEMORY: _memory(kind, settings),
        STORAGE: _storage(kind, node_class),
        PODS: _pods(kind, node_class, settings),
        POD_ENI: kind.pod_eni,
        **{name: sum(gpu.count for gpu in kind.gpus if gpu.manufacturer == maker)
           for name, maker in _MADE_BY.items()},
        NEURON: sum(device.count for device in kind.neuron),
        NEURON_CORE: kind.neuron[0].count * kind.neuron[0].cores if kind.neuron else 0,
        EFA: (kind.efa or 0) if node_class.efa_only is None else node_class.efa_only,
    }  # fmt: skip
    if node_class.family.windows_build and kind.arch == "amd64":
        room[IPV4] = kind.windows_ipv4 or 0
    return room


def calculate_overhead(
    kind: InstanceType, node_class: ScheduledNodeClass, settings: ControllerSettings = DEFAULTS
) -> NodeOverhead:
    """Return what the kubelet, the system and the eviction threshold keep."""
    family = node_class.family
    pods = _eni_pods(kind, node_class, 0) if family.eni_limited_memory else _pods(kind, node_class, settings)
    return NodeOverhead(
        {
            MEMORY: (11 * pods + 255) * _MIB,
            STORAGE: 1 << 30,
            CPU: _kubelet_cpu(kind.vcpus),
            **{name: parse_amount(said) for name, said in node_class.kube_reserved.items()},
        },
        {name: parse_amount(said) for name, said in node_class.system_reserved.items()},
        _eviction(_memory(kind, settings), _storage(kind, node_class), node_class.eviction_hard),
    )


def calculate_allocatable(room: TypeResources, kept: NodeOverhead) -> dict[str, Amount]:
    """Return what is left for pods (`allocatable`); an amount may be negative, and then no pod ever fits."""
    left = {name: whole - sum(part.get(name, 0) for part in kept) for name, whole in room.items()}
    for name, pages in room.items():
        if name.startswith(_HUGE_PAGES):
            left[MEMORY] = max(left[MEMORY] - pages, 0)
    return left


def has_room(requests: TypeResources, room: TypeResources) -> bool:
    """Return whether a node with this room has what is asked; one with a negative amount never has."""
    return all(left >= 0 for left in room.values()) and all(
        wanted <= room.get(name, 0) for name, wanted in requests.items()
    )


def find_lacking_resources(requests: TypeResources, room: TypeResources) -> Iterator[str]:
    """Return the resources of which more is asked than there is."""
    return (name for name, wanted in requests.items() if wanted > room.get(name, 0))


def _memory(kind: InstanceType, settings: ControllerSettings) -> int:
    mebibytes = kind.memory - (_ARM_KEEPS if kind.arch == "arm64" else 0)
    lost = math.ceil(float(mebibytes * _MIB) * settings.vm_memory_overhead / 1024 / 1024)
    return (mebibytes - lost) * _MIB


def _storage(kind: InstanceType, node_class: ScheduledNodeClass) -> Amount:
    if node_class.raid0 and kind.storage is not None:
        return kind.storage * 10**9
    devices, family = node_class.block_devices, node_class.family
    root = next((each.size for each in devices if each.root), None)
    if root is not None:
        return root
    if devices and not family.device:
        return devices[-1].size or DEFAULT_VOLUME
    own = next((each.size for each in devices if each.device == family.device), None)
    return family.volume if own is None else own


def _eni_pods(kind: InstanceType, node_class: ScheduledNodeClass, reserved: int) -> int:
    efa_only = sum(each.efa_only and each.card == 0 for each in node_class.interfaces or ())
    interfaces = kind.cards[kind.default_card].interfaces - reserved - efa_only
    return interfaces * (kind.ipv4_per_interface - 1) + 2 if interfaces > 0 else 0


def _pods(kind: InstanceType, node_class: ScheduledNodeClass, settings: ControllerSettings) -> int:
    if node_class.max_pods is not None:
        pods = node_class.max_pods
    elif node_class.family.eni_limited_pods:
        pods = _eni_pods(kind, node_class, settings.reserved_enis)
    else:
        pods = _PODS_WITHOUT_ENI
    if node_class.pods_per_core > 0 and node_class.family.pods_per_core:
        return min(node_class.pods_per_core * kind.vcpus, pods)
    return pods


def _kubelet_cpu(vcpus: int) -> Decimal:
    millicores = vcpus * 1000
    kept = sum(
        int(float(min(millicores, end) - start) * share)
        for start, end, share in _CPU_STEPS
        if millicores >= start
    )
    return Decimal(kept).scaleb(-3)


def _eviction(memory: int, storage: Amount, signals: Mapping[str, str]) -> dict[str, Amount]:
    kept: dict[str, Amount] = {MEMORY: 100 * _MIB, STORAGE: math.ceil(float(math.ceil(storage)) / 100 * 10)}
    for signal, resource, whole in (
        ("memory.available", MEMORY, memory),
        ("nodefs.available", STORAGE, storage),
    ):
        if (said := signals.get(signal)) is not None:
            kept[resource] = _signal(whole, said)
    return kept


def _signal(whole: Amount, said: str) -> Amount:
    if not said.endswith("%"):
        return parse_amount(said)
    share = float(said.strip("%"))
    # 100 % switches a threshold off.
    return math.ceil(float(whole) / 100 * (0 if share == 100 else share))  # noqa: PLR2004
