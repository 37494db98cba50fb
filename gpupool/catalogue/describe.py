"""An instance type as EC2 describes it, read into the facts that Karpenter makes labels and amounts of.

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
"""What Karpenter asks EC2 for, and what Kubernetes calls it."""

NO_LIMITS = TypeLimits(None, 0, None)
_SCHEME = re.compile(r"(^[a-z]+)(-[0-9]+tb)?([0-9]+).*\.")


def is_considered(item: Description) -> bool:
    """Return whether Karpenter asks EC2 for a type at all; it leaves macs and paravirtual machines out."""
    architectures = set(_of(item, "ProcessorInfo").get("SupportedArchitectures", ()))
    virtualizations = item.get("SupportedVirtualizationTypes", ())
    return VIRTUALIZATION in virtualizations and not architectures.isdisjoint(ARCHITECTURES)


def facts(item: Description, limits: TypeLimits = NO_LIMITS) -> dict[str, Value]:
    """Return every column's value for one type that is considered, but for `retired`."""
    return {
        **{column: read(item) for column, read in _READERS.items()},
        "network_bandwidth": limits.bandwidth,
        "pod_eni": limits.branch_interfaces,
        "windows_ipv4": limits.windows_ipv4,
    }


def label(text: str) -> str:
    """Write a name of EC2's as Karpenter does in a label."""
    return text.replace(" ", "-").lower()


def _of(item: Description, key: str) -> Description:
    """Return a part of the answer that may be missing."""
    return item.get(key) or {}


def _scheme(group: int) -> Callable[[Description], str | None]:
    def read(item: Description) -> str | None:
        found = _SCHEME.search(item["InstanceType"])
        return found[group] if found else None

    return read


def _architecture(item: Description) -> str:
    found = item["ProcessorInfo"]["SupportedArchitectures"]
    return next(ARCHITECTURES[each] for each in found if each in ARCHITECTURES)


def _cpu_manufacturer(item: Description) -> str:
    return label(item["ProcessorInfo"].get("Manufacturer", ""))


def _clock(item: Description) -> int:
    """Return MHz, rounded half up as Go does; 0 where EC2 names no speed."""
    return math.floor(float(item["ProcessorInfo"].get("SustainedClockSpeedInGhz", 0)) * 1000 + 0.5)


def _ebs_bandwidth(item: Description) -> int | None:
    """Return Mbit/s, only where EBS optimisation is on by default."""
    ebs = _of(item, "EbsInfo")
    if ebs.get("EbsOptimizedSupport") != "default" or "EbsOptimizedInfo" not in ebs:
        return None
    return int(ebs["EbsOptimizedInfo"].get("MaximumBandwidthInMbps", 0))


def _local_nvme(item: Description) -> int | None:
    """Return GB, only where the disks are not known to be something else than NVMe."""
    unsupported = _of(item, "InstanceStorageInfo").get("NvmeSupport") == "unsupported"
    return None if unsupported else _storage(item)


def _storage(item: Description) -> int | None:
    """Return GB of all disks of the machine, NVMe or not; RAID0 counts them."""
    size: int | None = _of(item, "InstanceStorageInfo").get("TotalSizeInGB")
    return size


def _gpus(item: Description) -> Value:
    """Return for each kind: label, EC2's word for the manufacturer, count, MiB of one."""
    if "GpuInfo" not in item:
        return None
    return tuple(
        (
            label(gpu.get("Name", "")),
            gpu.get("Manufacturer", ""),
            gpu.get("Count", 0),
            _of(gpu, "MemoryInfo").get("SizeInMiB", 0),
        )
        for gpu in item["GpuInfo"].get("Gpus", ())
    )


def _inference(item: Description) -> Value:
    """Return for each kind: name and manufacturer as in labels, count."""
    if "InferenceAcceleratorInfo" not in item:
        return None
    return tuple(
        (label(each.get("Name", "")), label(each.get("Manufacturer", "")), each.get("Count", 0))
        for each in item["InferenceAcceleratorInfo"].get("Accelerators", ())
    )


def _neuron(item: Description) -> Value:
    """Return for each kind: name as in labels, count, cores of one."""
    if "NeuronInfo" not in item:
        return None
    return tuple(
        (label(each.get("Name", "")), each.get("Count", 0), _of(each, "CoreInfo").get("Count", 0))
        for each in item["NeuronInfo"].get("NeuronDevices", ())
    )


def _other_accelerators(item: Description) -> Value:
    """Return kind, name and count of what has neither a label nor a resource: FPGAs and video coders."""
    for kind, key, devices in (
        ("fpga", "FpgaInfo", "Fpgas"),
        ("media", "MediaAcceleratorInfo", "Accelerators"),
    ):
        for each in _of(item, key).get(devices, ()):
            return kind, each.get("Name", ""), each.get("Count", 0)
    return None


def _capacity_types(item: Description) -> Value:
    return tuple(each for each in item.get("SupportedUsageClasses", ()) if each in ("on-demand", "spot"))


def _network(key: str, default: Value = None) -> Callable[[Description], Value]:
    def read(item: Description) -> Value:
        found: Value = _of(item, "NetworkInfo").get(key, default)
        return found

    return read


def _efa(item: Description) -> int | None:
    """Return the most EFA interfaces that the type takes."""
    most: int | None = _of(_of(item, "NetworkInfo"), "EfaInfo").get("MaximumEfaInterfaces")
    return most


def _cards(item: Description) -> Value:
    """Return for each network card: its number, the most interfaces on it."""
    return tuple(
        (card.get("NetworkCardIndex", 0), card.get("MaximumNetworkInterfaces", 0))
        for card in _of(item, "NetworkInfo").get("NetworkCards", ())
    )


def _nested_virtualization(item: Description) -> bool:
    return "nested-virtualization" in _of(item, "ProcessorInfo").get("SupportedFeatures", ())


def _placement(item: Description) -> Value:
    return tuple(_of(item, "PlacementGroupInfo").get("SupportedStrategies", ()))


_READERS: dict[str, Callable[[Description], Value]] = {
    "family": lambda item: item["InstanceType"].partition(".")[0],
    "size": lambda item: item["InstanceType"].partition(".")[2],
    "category": _scheme(1),
    "generation": _scheme(3),
    "flex": lambda item: "-flex" in item["InstanceType"].partition(".")[0],
    "arch": _architecture,
    "vcpus": lambda item: int(item["VCpuInfo"]["DefaultVCpus"]),
    "memory": lambda item: int(item["MemoryInfo"]["SizeInMiB"]),
    "cpu_manufacturer": _cpu_manufacturer,
    "clock_mhz": _clock,
    "hypervisor": lambda item: str(item.get("Hypervisor", "")),
    "bare_metal": lambda item: bool(item.get("BareMetal", False)),
    "encryption_in_transit": _network("EncryptionInTransitSupported", default=False),
    "ebs_bandwidth": _ebs_bandwidth,
    "local_nvme": _local_nvme,
    "storage": _storage,
    "gpus": _gpus,
    "inference": _inference,
    "neuron": _neuron,
    "other_accelerators": _other_accelerators,
    "capacity_types": _capacity_types,
    "efa": _efa,
    "cards": _cards,
    "default_card": _network("DefaultNetworkCardIndex", default=0),
    "ipv4_per_interface": _network("Ipv4AddressesPerInterface", default=0),
    "ena": _network("EnaSupport", default=""),
    "nested_virtualization": _nested_virtualization,
    "placement": _placement,
}
