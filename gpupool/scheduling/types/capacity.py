"""Capacity of an instance type's nodes, and the allocatable part of it for pods.

Source: pkg/providers/instancetype/types.go of Karpenter's AWS provider v1.14.1. Amounts are in base units
(cores, bytes, devices) and exact; where Go uses floating point, so does this, in the same order.
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
"""Resources whose types Karpenter reserves for pods that request them."""

DEVICES: Final = (NVIDIA, AMD, GAUDI, NEURON)
"""Resources that count whole accelerators."""

_MADE_BY: Final = {NVIDIA: "NVIDIA", AMD: "AMD", GAUDI: "Habana"}
_HUGE_PAGES: Final = "hugepages-"
_MIB: Final = 1 << 20
_PODS_WITHOUT_ENI: Final = 110
_ARM_KEEPS: Final = 64
"""MiB that Graviton's firmware reserves."""

_CPU_STEPS: Final = ((0, 1000, 0.06), (1000, 2000, 0.01), (2000, 4000, 0.005), (4000, 1 << 31, 0.0025))
"""The share of CPU that the kubelet reserves, from and to which millicore."""


class ControllerSettings(NamedTuple):
    """Options of the Karpenter controller that affect capacity, with their defaults."""

    vm_memory_overhead: float = 0.075
    """VM_MEMORY_OVERHEAD_PERCENT, as a share."""

    reserved_enis: int = 0


DEFAULTS: Final = ControllerSettings()


class NodeOverhead(NamedTuple):
    """The part of a node's capacity that is not available to pods."""

    kube_reserved: TypeResources
    system_reserved: TypeResources
    eviction: TypeResources


def calculate_capacity(
    kind: InstanceType, node_class: ScheduledNodeClass, settings: ControllerSettings = DEFAULTS
) -> dict[str, Amount]:
    """Calculate the capacity that Karpenter expects before any node of the type has registered."""
    amounts: dict[str, Amount] = {
        CPU: kind.vcpus,
        MEMORY: _calculate_memory(kind, settings),
        STORAGE: _calculate_storage(kind, node_class),
        PODS: _calculate_pods(kind, node_class, settings),
        POD_ENI: kind.pod_eni,
        **{name: sum(gpu.count for gpu in kind.gpus if gpu.manufacturer == maker)
           for name, maker in _MADE_BY.items()},
        NEURON: sum(device.count for device in kind.neuron),
        NEURON_CORE: kind.neuron[0].count * kind.neuron[0].cores if kind.neuron else 0,
        EFA: (kind.efa or 0) if node_class.efa_only is None else node_class.efa_only,
    }  # fmt: skip
    if node_class.family.windows_build and kind.arch == "amd64":
        amounts[IPV4] = kind.windows_ipv4 or 0
    return amounts


def calculate_overhead(
    kind: InstanceType, node_class: ScheduledNodeClass, settings: ControllerSettings = DEFAULTS
) -> NodeOverhead:
    """Calculate the reserves of the kubelet, the system and the eviction thresholds."""
    family = node_class.family
    pods = (
        _calculate_eni_pods(kind, node_class, 0)
        if family.has_eni_limited_memory
        else _calculate_pods(kind, node_class, settings)
    )
    return NodeOverhead(
        {
            MEMORY: (11 * pods + 255) * _MIB,
            STORAGE: 1 << 30,
            CPU: _calculate_kubelet_cpu(kind.vcpus),
            **{name: parse_amount(text) for name, text in node_class.kube_reserved.items()},
        },
        {name: parse_amount(text) for name, text in node_class.system_reserved.items()},
        _calculate_eviction(
            _calculate_memory(kind, settings), _calculate_storage(kind, node_class), node_class.eviction_hard
        ),
    )


def calculate_allocatable(amounts: TypeResources, reserved: NodeOverhead) -> dict[str, Amount]:
    """Calculate what is left for pods (`allocatable`); with a negative amount no pod ever fits."""
    remaining = {
        name: amount - sum(reserve.get(name, 0) for reserve in reserved) for name, amount in amounts.items()
    }
    for name, pages in amounts.items():
        if name.startswith(_HUGE_PAGES):
            remaining[MEMORY] = max(remaining[MEMORY] - pages, 0)
    return remaining


def has_room(requests: TypeResources, room: TypeResources) -> bool:
    """Return whether a node with this room fits the requests; with a negative amount nothing fits."""
    return all(amount >= 0 for amount in room.values()) and all(
        requested <= room.get(name, 0) for name, requested in requests.items()
    )


def find_lacking_resources(requests: TypeResources, room: TypeResources) -> Iterator[str]:
    """Return the resources that are requested beyond the room."""
    return (name for name, requested in requests.items() if requested > room.get(name, 0))


def _calculate_memory(kind: InstanceType, settings: ControllerSettings) -> int:
    mebibytes = kind.memory - (_ARM_KEEPS if kind.arch == "arm64" else 0)
    lost = math.ceil(float(mebibytes * _MIB) * settings.vm_memory_overhead / 1024 / 1024)
    return (mebibytes - lost) * _MIB


def _calculate_storage(kind: InstanceType, node_class: ScheduledNodeClass) -> Amount:
    if node_class.has_raid0 and kind.storage is not None:
        return kind.storage * 10**9
    devices, family = node_class.block_devices, node_class.family
    root = next((volume.size for volume in devices if volume.is_root), None)
    if root is not None:
        return root
    if devices and not family.device:
        return devices[-1].size or DEFAULT_VOLUME
    volume_size = next((volume.size for volume in devices if volume.device == family.device), None)
    return family.volume if volume_size is None else volume_size


def _calculate_eni_pods(kind: InstanceType, node_class: ScheduledNodeClass, reserved: int) -> int:
    efa_only = sum(interface.is_efa_only and interface.card == 0 for interface in node_class.interfaces or ())
    interfaces = kind.cards[kind.default_card].interfaces - reserved - efa_only
    return interfaces * (kind.ipv4_per_interface - 1) + 2 if interfaces > 0 else 0


def _calculate_pods(kind: InstanceType, node_class: ScheduledNodeClass, settings: ControllerSettings) -> int:
    if node_class.max_pods is not None:
        pods = node_class.max_pods
    elif node_class.family.has_eni_limited_pods:
        pods = _calculate_eni_pods(kind, node_class, settings.reserved_enis)
    else:
        pods = _PODS_WITHOUT_ENI
    if node_class.pods_per_core > 0 and node_class.family.has_pods_per_core:
        return min(node_class.pods_per_core * kind.vcpus, pods)
    return pods


def _calculate_kubelet_cpu(vcpus: int) -> Decimal:
    millicores = vcpus * 1000
    reserved = sum(
        int(float(min(millicores, end) - start) * share)
        for start, end, share in _CPU_STEPS
        if millicores >= start
    )
    return Decimal(reserved).scaleb(-3)


def _calculate_eviction(memory: int, storage: Amount, signals: Mapping[str, str]) -> dict[str, Amount]:
    reserved: dict[str, Amount] = {
        MEMORY: 100 * _MIB,
        STORAGE: math.ceil(float(math.ceil(storage)) / 100 * 10),
    }
    for signal, resource, total in (
        ("memory.available", MEMORY, memory),
        ("nodefs.available", STORAGE, storage),
    ):
        if (threshold := signals.get(signal)) is not None:
            reserved[resource] = _parse_threshold(total, threshold)
    return reserved


def _parse_threshold(total: Amount, threshold: str) -> Amount:
    if not threshold.endswith("%"):
        return parse_amount(threshold)
    share = float(threshold.strip("%"))
    # 100 % switches a threshold off.
    return math.ceil(float(total) / 100 * (0 if share == 100 else share))  # noqa: PLR2004
