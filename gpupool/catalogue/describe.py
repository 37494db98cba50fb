"""Facts of an instance type, read from EC2's DescribeInstanceTypes.

Source: Karpenter's AWS provider v1.14.1, `pkg/providers/instancetype/types.go`.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from gpupool.catalogue.model import TypeLimits, Value

Description: TypeAlias = Mapping[str, Any]
"""An element of `InstanceTypes` in the answer of DescribeInstanceTypes."""

VIRTUALIZATION = "hvm"
ARCHITECTURES = {"x86_64": "amd64", "arm64": "arm64"}
"""Kubernetes' name of each architecture that Karpenter requests from EC2."""

NO_LIMITS = TypeLimits(None, 0, None)
_NAME_PARTS = re.compile(r"(^[a-z]+)(-[0-9]+tb)?([0-9]+).*\.")


def is_considered(item: Description) -> bool:
    """Return whether Karpenter considers a type; it excludes Mac and paravirtual types."""
    architectures = set(_get_part(item, "ProcessorInfo").get("SupportedArchitectures", ()))
    virtualizations = item.get("SupportedVirtualizationTypes", ())
    return VIRTUALIZATION in virtualizations and not architectures.isdisjoint(ARCHITECTURES)


def read_facts(item: Description, limits: TypeLimits = NO_LIMITS) -> dict[str, Value]:
    """Read the value of each column except `retired` for one type that is considered."""
    return {
        **{column: read(item) for column, read in _READERS.items()},
        "network_bandwidth": limits.bandwidth,
        "pod_eni": limits.branch_interfaces,
        "windows_ipv4": limits.windows_ipv4,
    }


def format_label(text: str) -> str:
    """Return EC2's name as Karpenter writes it in a label."""
    return text.replace(" ", "-").lower()


def _get_part(item: Description, key: str) -> Description:
    """Return a part of the answer that may be missing."""
    return item.get(key) or {}


def _read_name_part(group: int) -> Callable[[Description], str | None]:
    def read(item: Description) -> str | None:
        match = _NAME_PARTS.search(item["InstanceType"])
        return match[group] if match else None

    return read


def _read_architecture(item: Description) -> str:
    supported = item["ProcessorInfo"]["SupportedArchitectures"]
    return next(ARCHITECTURES[name] for name in supported if name in ARCHITECTURES)


def _read_cpu_manufacturer(item: Description) -> str:
    return format_label(item["ProcessorInfo"].get("Manufacturer", ""))


def _read_clock(item: Description) -> int:
    """Return MHz, rounded half up as in Go; 0 if EC2 reports no speed."""
    return math.floor(float(item["ProcessorInfo"].get("SustainedClockSpeedInGhz", 0)) * 1000 + 0.5)


def _read_ebs_bandwidth(item: Description) -> int | None:
    """Return Mbit/s, only if EBS optimisation is on by default."""
    ebs = _get_part(item, "EbsInfo")
    if ebs.get("EbsOptimizedSupport") != "default" or "EbsOptimizedInfo" not in ebs:
        return None
    return int(ebs["EbsOptimizedInfo"].get("MaximumBandwidthInMbps", 0))


def _read_local_nvme(item: Description) -> int | None:
    """Return GB, unless the disks are known not to be NVMe."""
    unsupported = _get_part(item, "InstanceStorageInfo").get("NvmeSupport") == "unsupported"
    return None if unsupported else _read_storage(item)


def _read_storage(item: Description) -> int | None:
    """Return GB of all local disks, NVMe or not, as RAID0 counts them."""
    size: int | None = _get_part(item, "InstanceStorageInfo").get("TotalSizeInGB")
    return size


def _read_gpus(item: Description) -> Value:
    """Return for each kind: name as in labels, EC2's manufacturer, count, MiB of each."""
    if "GpuInfo" not in item:
        return None
    return tuple(
        (
            format_label(gpu.get("Name", "")),
            gpu.get("Manufacturer", ""),
            gpu.get("Count", 0),
            _get_part(gpu, "MemoryInfo").get("SizeInMiB", 0),
        )
        for gpu in item["GpuInfo"].get("Gpus", ())
    )


def _read_inference(item: Description) -> Value:
    """Return for each kind: name and manufacturer as in labels, count."""
    if "InferenceAcceleratorInfo" not in item:
        return None
    return tuple(
        (
            format_label(device.get("Name", "")),
            format_label(device.get("Manufacturer", "")),
            device.get("Count", 0),
        )
        for device in item["InferenceAcceleratorInfo"].get("Accelerators", ())
    )


def _read_neuron(item: Description) -> Value:
    """Return for each kind: name as in labels, count, cores of each."""
    if "NeuronInfo" not in item:
        return None
    return tuple(
        (
            format_label(device.get("Name", "")),
            device.get("Count", 0),
            _get_part(device, "CoreInfo").get("Count", 0),
        )
        for device in item["NeuronInfo"].get("NeuronDevices", ())
    )


def _read_other_accelerators(item: Description) -> Value:
    """Return kind, name and count of devices without a label or resource: FPGAs and video encoders."""
    for kind, key, devices in (
        ("fpga", "FpgaInfo", "Fpgas"),
        ("media", "MediaAcceleratorInfo", "Accelerators"),
    ):
        for device in _get_part(item, key).get(devices, ()):
            return kind, device.get("Name", ""), device.get("Count", 0)
    return None


def _read_capacity_types(item: Description) -> Value:
    return tuple(name for name in item.get("SupportedUsageClasses", ()) if name in ("on-demand", "spot"))


def _read_network(key: str, default: Value = None) -> Callable[[Description], Value]:
    def read(item: Description) -> Value:
        value: Value = _get_part(item, "NetworkInfo").get(key, default)
        return value

    return read


def _read_efa(item: Description) -> int | None:
    """Return the maximum number of EFA interfaces."""
    maximum: int | None = _get_part(_get_part(item, "NetworkInfo"), "EfaInfo").get("MaximumEfaInterfaces")
    return maximum


def _read_cards(item: Description) -> Value:
    """Return for each network card: its number, its maximum number of interfaces."""
    return tuple(
        (card.get("NetworkCardIndex", 0), card.get("MaximumNetworkInterfaces", 0))
        for card in _get_part(item, "NetworkInfo").get("NetworkCards", ())
    )


def _read_nested_virtualization(item: Description) -> bool:
    return "nested-virtualization" in _get_part(item, "ProcessorInfo").get("SupportedFeatures", ())


def _read_placement(item: Description) -> Value:
    return tuple(_get_part(item, "PlacementGroupInfo").get("SupportedStrategies", ()))


_READERS: dict[str, Callable[[Description], Value]] = {
    "family": lambda item: item["InstanceType"].partition(".")[0],
    "size": lambda item: item["InstanceType"].partition(".")[2],
    "category": _read_name_part(1),
    "generation": _read_name_part(3),
    "flex": lambda item: "-flex" in item["InstanceType"].partition(".")[0],
    "arch": _read_architecture,
    "vcpus": lambda item: int(item["VCpuInfo"]["DefaultVCpus"]),
    "memory": lambda item: int(item["MemoryInfo"]["SizeInMiB"]),
    "cpu_manufacturer": _read_cpu_manufacturer,
    "clock_mhz": _read_clock,
    "hypervisor": lambda item: str(item.get("Hypervisor", "")),
    "bare_metal": lambda item: bool(item.get("BareMetal", False)),
    "encryption_in_transit": _read_network("EncryptionInTransitSupported", default=False),
    "ebs_bandwidth": _read_ebs_bandwidth,
    "local_nvme": _read_local_nvme,
    "storage": _read_storage,
    "gpus": _read_gpus,
    "inference": _read_inference,
    "neuron": _read_neuron,
    "other_accelerators": _read_other_accelerators,
    "capacity_types": _read_capacity_types,
    "efa": _read_efa,
    "cards": _read_cards,
    "default_card": _read_network("DefaultNetworkCardIndex", default=0),
    "ipv4_per_interface": _read_network("Ipv4AddressesPerInterface", default=0),
    "ena": _read_network("EnaSupport", default=""),
    "nested_virtualization": _read_nested_virtualization,
    "placement": _read_placement,
}
