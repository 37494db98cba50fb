"""Which machines a profile admits, whatever accelerator a person names with it."""

from pathlib import Path
from typing import Any

import pytest

from tests.profiles.machines import MACHINES, Machine, admitted
from tests.profiles.rendering import render, specs, words_of
from tests.profiles.test_rules import CPU, NAMES, NVIDIA

WITH_EIGHT = (
    "t4",
    "a10g",
    "l4",
    "l40s",
    "v100",
    "a100",
    "h100",
    "h200",
    "b200",
    "b300",
    "rtx-pro-server-6000",
)
WITH_ONE = ("t4", "a10g", "l4", "l40s", "h100", "rtx-pro-server-6000")
SMALL = ("t4", "a10g", "l4", "l40s", "rtx-pro-server-6000")
REASONABLE = {
    "training": WITH_EIGHT,
    "training-efa": WITH_EIGHT,
    "training-static": WITH_EIGHT,
    "inference": WITH_EIGHT,
    "spot-tiered": WITH_EIGHT,
    "batch-spot": WITH_EIGHT,
    "inference-spot": WITH_ONE,
    "notebook": SMALL,
    "neuron-training": ("trainium", "trainium2"),
    "neuron-inference": ("inferentia2", "trainium"),
}
ACCELERATED = [name for name in NAMES if name not in CPU]


def machines(folder: Path, profile: str, **words: Any) -> list[Machine]:  # noqa: ANN401 # any words of a pool
    """Return the machines of a pool with this profile and these words; tiers have to agree on them."""
    made = specs(render(folder, {"pool": {**words_of(profile), **words}})).values()
    first, *others = [admitted(spec) for spec in made]
    assert all(other == first for other in others)
    return first


def test_the_machines_are_told_apart() -> None:
    spec = {"template": {"spec": {"requirements": [
        {"key": "karpenter.k8s.aws/instance-gpu-name", "operator": "In", "values": ["l4"]},
        {"key": "karpenter.k8s.aws/instance-size", "operator": "NotIn", "values": ["xlarge", "large"]},
        {"key": "karpenter.k8s.aws/instance-gpu-count", "operator": "Lte", "values": ["1"]},
        {"key": "karpenter.k8s.aws/instance-accelerator-name", "operator": "DoesNotExist"},
    ]}}}  # fmt: skip
    assert [machine.name for machine in admitted(spec)] == [
        "g6.2xlarge", "g6.4xlarge", "g6.8xlarge", "g6.16xlarge", "gr6.4xlarge", "gr6.8xlarge", "gr6f.4xlarge",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("profile", "accelerator"), [(name, chip) for name, chips in REASONABLE.items() for chip in chips]
)
def test_an_accelerator_that_a_person_would_name_leaves_machines(
    profile: str, accelerator: str, tmp_path: Path
) -> None:
    found = machines(tmp_path, profile, accelerator=accelerator)
    names = {label for machine in found for key, label in machine.labels.items() if key.endswith("-name")}
    assert names == {accelerator}


@pytest.mark.parametrize("profile", NVIDIA)
def test_without_an_accelerator_only_working_nvidia_gpus_are_left(profile: str, tmp_path: Path) -> None:
    found = machines(tmp_path, profile)
    families = {machine.family for machine in found}
    assert all(machine.is_nvidia for machine in found)
    assert families.isdisjoint({"g7", "g6f", "gr6f", "g5g", "g4ad"})
    assert {"g4dn", "g5", "g6", "g6e", "g7e"} <= families


@pytest.mark.parametrize("profile", ACCELERATED)
def test_raid0_stands_exactly_where_every_machine_has_nvme(profile: str, tmp_path: Path) -> None:
    (node_class,) = specs(render(tmp_path, {"pool": words_of(profile)}), "EC2NodeClass").values()
    assert (node_class.get("instanceStorePolicy") == "RAID0") == all(
        machine.has_nvme for machine in machines(tmp_path, profile)
    )
    size = int(node_class["blockDeviceMappings"][0]["ebs"]["volumeSize"].removesuffix("Gi"))
    assert size >= (100 if node_class.get("instanceStorePolicy") else 300)


def test_training_means_whole_eight_gpu_machines(tmp_path: Path) -> None:
    assert [machine.name for machine in machines(tmp_path, "training", accelerator="h100")] == ["p5.48xlarge"]
    assert [machine.name for machine in machines(tmp_path, "training", accelerator="a100")] == [
        "p4d.24xlarge", "p4de.24xlarge",
    ]  # fmt: skip


def test_a_type_or_the_memory_may_be_named_instead(tmp_path: Path) -> None:
    by_type = machines(tmp_path, "inference", instances={"types": ["g6e.xlarge", "g6e.2xlarge"]})
    assert [machine.name for machine in by_type] == ["g6e.xlarge", "g6e.2xlarge"]
    by_memory = machines(tmp_path, "inference", instances={"gpuMemory": {"min": "40GB"}})
    assert {machine.family for machine in by_memory} == {
        "g6e", "g7e", "p4d", "p4de", "p5", "p5e", "p5en", "p6-b200", "p6-b300",
    }  # fmt: skip


def test_small_gpus_alone_are_for_notebooks(tmp_path: Path) -> None:
    assert {machine.name for machine in machines(tmp_path, "notebook")} == {
        "g4dn.xlarge", "g4dn.2xlarge", "g5.xlarge", "g5.2xlarge", "g6.xlarge", "g6.2xlarge", "g6e.xlarge",
        "g6e.2xlarge", "g7e.2xlarge",
    }  # fmt: skip


def test_neuron_profiles_mean_what_their_names_say(tmp_path: Path) -> None:
    assert [machine.name for machine in machines(tmp_path, "neuron-training")] == [
        "trn1.32xlarge", "trn1n.32xlarge", "trn2.48xlarge",
    ]  # fmt: skip
    assert {machine.family for machine in machines(tmp_path, "neuron-inference")} == {"inf2"}


def test_cpu_profiles_admit_no_accelerator_even_of_more_categories(tmp_path: Path) -> None:
    assert [machine.name for machine in machines(tmp_path, "general")] == [
        "m7i.large",
        "m7i.8xlarge",
        "c7i.xlarge",
    ]
    assert [machine.name for machine in machines(tmp_path, "graviton")] == ["m7g.large", "m7g.8xlarge"]
    wider = machines(tmp_path, "general", instances={"categories": {"not": ["t"]}, "generation": {"min": 5}})
    assert wider
    assert not [
        machine
        for machine in wider
        if any("-gpu-" in key or "-accelerator-" in key for key in machine.labels)
    ]


def test_an_image_with_its_own_driver_may_have_g7(tmp_path: Path) -> None:
    found = machines(tmp_path, "inference", accelerator="rtx-pro-4500", instances={"families": None})
    assert {machine.family for machine in found} == {"g7"}
    assert {machine.family for machine in MACHINES if "rtx-pro-4500" in machine.labels.values()} == {"g7"}
