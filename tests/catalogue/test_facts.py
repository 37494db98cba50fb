"""What the shipped catalogue says of types whose answers surprise, and how an answer of EC2's is read."""

from typing import Any

import pytest

from gpupool.catalogue.checked import COLUMNS
from gpupool.catalogue.describe import format_label, is_considered, read_facts
from gpupool.catalogue.load import load_shipped
from gpupool.catalogue.model import TypeLimits, Value

ITEM: dict[str, Any] = {
    "InstanceType": "x9.large",
    "SupportedVirtualizationTypes": ["hvm"],
    "ProcessorInfo": {"SupportedArchitectures": ["i386", "x86_64"]},
    "VCpuInfo": {"DefaultVCpus": 2},
    "MemoryInfo": {"SizeInMiB": 8192},
}
"""As little as an answer of EC2's can say."""


def of(name: str) -> dict[str, Value]:
    catalogue = load_shipped()
    place = catalogue.position(name)
    assert place is not None
    return {column: values.at(place) for column, values in catalogue.columns.items()}


FACTS: dict[str, dict[str, Value]] = {
    "g6.xlarge": {
        "family": "g6", "size": "xlarge", "category": "g", "generation": "6", "flex": False, "arch": "amd64",
        "vcpus": 4, "memory": 16384, "cpu_manufacturer": "amd", "hypervisor": "nitro", "bare_metal": False,
        "network_bandwidth": 2500, "local_nvme": 250, "storage": 250, "gpus": (("l4", "NVIDIA", 1, 22888),),
        "inference": None, "neuron": None, "other_accelerators": None, "capacity_types": ("on-demand", "spot"),
        "efa": None, "cards": ((0, 4),), "default_card": 0, "ipv4_per_interface": 15, "pod_eni": 18,
        "windows_ipv4": 14, "retired": None,
    },
    "g6f.large": {"family": "g6f", "category": "g", "gpus": (("l4", "NVIDIA", 0, 2861),), "network_bandwidth": 1500},
    "gr6.4xlarge": {"category": "gr", "generation": "6"},
    "p5.48xlarge": {"efa": 32, "gpus": (("h100", "NVIDIA", 8, 81920),), "local_nvme": 30400, "pod_eni": 120},
    "p5e.48xlarge": {"gpus": (("h200", "NVIDIA", 8, 144384),)},
    "p4de.24xlarge": {"gpus": (("a100", "NVIDIA", 8, 81920),), "efa": 4},
    "p6-b200.48xlarge": {"family": "p6-b200", "category": "p", "generation": "6", "memory": 2097152},
    "u7i-12tb.224xlarge": {"family": "u7i-12tb", "category": "u", "generation": "7"},
    "u-12tb1.112xlarge": {"category": "u", "generation": "1", "retired": "2026-03"},
    "m7i-flex.large": {"family": "m7i-flex", "category": "m", "generation": "7", "flex": True},
    "g5g.metal": {"arch": "arm64", "hypervisor": "", "bare_metal": True, "gpus": (("t4g", "NVIDIA", 2, 16384),)},
    "g4ad.xlarge": {"gpus": (("radeon-pro-v520", "AMD", 1, 8192),), "retired": "2026-10"},
    "dl1.24xlarge": {"gpus": (("gaudi-hl-205", "Habana", 8, 32768),), "neuron": None, "retired": "2026-08"},
    "dl2q.24xlarge": {"gpus": None, "inference": (("qualcomm-ai100", "qualcomm", 8),), "neuron": None},
    "inf2.48xlarge": {"neuron": (("inferentia2", 12, 2),), "inference": (("inferentia2", "aws", 12),)},
    "trn1.32xlarge": {"gpus": None, "neuron": (("trainium", 16, 2),), "efa": 8, "pod_eni": 82},
    "trn2u.48xlarge": {"gpus": None, "neuron": None, "inference": None, "efa": 16, "pod_eni": 0, "windows_ipv4": None},
    "f2.48xlarge": {"gpus": None, "other_accelerators": ("fpga", "Virtex UltraScale+ (VU47P)", 8)},
    "vt1.24xlarge": {"gpus": None, "other_accelerators": ("media", "U30", 8)},
    "i2.xlarge": {"local_nvme": None, "storage": 800},
    "t2.micro": {"ebs_bandwidth": None, "network_bandwidth": None, "encryption_in_transit": False},
    "p3.2xlarge": {"hypervisor": "xen", "retired": "2026-05"},
}  # fmt: skip
"""Read off EC2's pages and Karpenter's own table of labels."""


@pytest.mark.parametrize("name", list(FACTS))
def test_facts_of(name: str) -> None:
    found = of(name)

    assert {column: found[column] for column in FACTS[name]} == FACTS[name]


def test_every_type_has_every_column_and_no_mac_is_in() -> None:
    catalogue = load_shipped()

    assert set(catalogue.columns) == set(COLUMNS)
    assert len(catalogue.names) == 1406
    assert [name for name in catalogue.names if name.startswith("mac")] == []
    assert all(f"{of(name)['family']}.{of(name)['size']}" == name for name in catalogue.names[::50])


def test_zones_and_prices_of() -> None:
    catalogue = load_shipped()
    east = catalogue.regions["us-east-1"]
    offers, prices = catalogue.offered("us-east-1"), catalogue.prices("us-east-1")
    place = catalogue.position("p6-b200.48xlarge")
    assert offers is not None
    assert prices is not None
    assert place is not None
    mask = offers.at(place)
    assert isinstance(mask, int)

    assert [zone.id for bit, zone in enumerate(east) if mask >> bit & 1] == ["use1-az6"]
    assert (prices.currency, prices.date, prices.amounts[place]) == ("USD", "2026-07-06", 113.9328)
    assert sum(isinstance(each, int) and each > 0 for each in map(offers.at, range(1406))) == 1366
    assert "g3.4xlarge" not in catalogue.names
    assert catalogue.unlisted["p6e-gb200.36xlarge"] == TypeLimits(3200000, 0, None)


def test_an_answer_with_nothing_in_it() -> None:
    found = read_facts(ITEM)

    assert found == {
        "family": "x9", "size": "large", "category": "x", "generation": "9", "flex": False, "arch": "amd64",
        "vcpus": 2, "memory": 8192, "cpu_manufacturer": "", "clock_mhz": 0, "hypervisor": "",
        "bare_metal": False, "encryption_in_transit": False, "ebs_bandwidth": None, "local_nvme": None,
        "storage": None, "gpus": None, "inference": None, "neuron": None, "other_accelerators": None,
        "capacity_types": (), "efa": None, "cards": (), "default_card": 0, "ipv4_per_interface": 0, "ena": "",
        "nested_virtualization": False, "placement": (), "network_bandwidth": None, "pod_eni": 0,
        "windows_ipv4": None,
    }  # fmt: skip


CHANGES: list[tuple[str, dict[str, Any], dict[str, Value]]] = [
    ("clock rounds half up", {"ProcessorInfo": {"SupportedArchitectures": ["arm64"], "SustainedClockSpeedInGhz": 2.0005}},
     {"clock_mhz": 2001, "arch": "arm64"}),
    ("nested virtualisation", {"ProcessorInfo": {"SupportedArchitectures": ["x86_64"],
     "SupportedFeatures": ["amd-sev-snp", "nested-virtualization"]}}, {"nested_virtualization": True}),
    ("ebs on demand", {"EbsInfo": {"EbsOptimizedSupport": "supported",
     "EbsOptimizedInfo": {"MaximumBandwidthInMbps": 5}}}, {"ebs_bandwidth": None}),
    ("ebs by default", {"EbsInfo": {"EbsOptimizedSupport": "default",
     "EbsOptimizedInfo": {"MaximumBandwidthInMbps": 5}}}, {"ebs_bandwidth": 5}),
    ("disks of an unknown kind", {"InstanceStorageInfo": {"TotalSizeInGB": 7}}, {"local_nvme": 7, "storage": 7}),
    ("disks that are no NVMe", {"InstanceStorageInfo": {"TotalSizeInGB": 7, "NvmeSupport": "unsupported"}},
     {"local_nvme": None, "storage": 7}),
    ("two kinds of GPU", {"GpuInfo": {"Gpus": [{"Name": "Radeon Pro V520", "Manufacturer": "AMD", "Count": 2,
     "MemoryInfo": {"SizeInMiB": 1}}, {"Name": "A B"}]}}, {"gpus": (("radeon-pro-v520", "AMD", 2, 1), ("a-b", "", 0, 0))}),
    ("no kind of GPU", {"GpuInfo": {"Gpus": []}}, {"gpus": ()}),
    ("a capacity block", {"SupportedUsageClasses": ["capacity-block", "spot", "on-demand"]},
     {"capacity_types": ("spot", "on-demand")}),
    ("a family with several digits", {"InstanceType": "u7inh-32tb.480xlarge"}, {"category": "u", "generation": "7"}),
    ("a family without digits", {"InstanceType": "mac-m4.metal"}, {"category": None, "generation": None}),
]  # fmt: skip


@pytest.mark.parametrize("what", [what for what, _, _ in CHANGES])
def test_an_answer_with(what: str) -> None:
    change, expected = next((change, expected) for name, change, expected in CHANGES if name == what)

    found = read_facts({**ITEM, **change})

    assert {column: found[column] for column in expected} == expected
    rest = [column for column in read_facts(ITEM) if column not in expected]
    kept = rest if "InstanceType" not in change else [each for each in rest if each not in ("family", "size")]
    assert {column: found[column] for column in kept} == {column: read_facts(ITEM)[column] for column in kept}


def test_karpenter_s_tables_are_taken_as_they_are() -> None:
    found = read_facts(ITEM, TypeLimits(2500, 18, 14))

    assert [found[each] for each in ("network_bandwidth", "pod_eni", "windows_ipv4")] == [2500, 18, 14]


@pytest.mark.parametrize(
    ("architectures", "virtualizations", "considered"),
    [
        (["x86_64"], ["hvm"], True), (["arm64"], ["hvm", "paravirtual"], True), (["i386"], ["hvm"], False),
        (["x86_64_mac"], ["hvm"], False), (["arm64_mac"], ["hvm"], False), (["x86_64"], ["paravirtual"], False),
        ([], ["hvm"], False),
    ],
)  # fmt: skip
def test_types_that_karpenter_asks_for(
    architectures: list[str], virtualizations: list[str], considered: bool
) -> None:
    item = {
        "SupportedVirtualizationTypes": virtualizations,
        "ProcessorInfo": {"SupportedArchitectures": architectures},
    }

    assert is_considered(item) is considered


def test_labels_are_written_as_karpenter_writes_them() -> None:
    assert format_label("RTX PRO Server 6000") == "rtx-pro-server-6000"
