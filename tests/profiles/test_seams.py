"""Profiles beside each other and beside the wrong words: device plugin, images, makers, gates."""

from pathlib import Path

import pytest

from gpupool.api import render_files
from gpupool.codes import Code
from gpupool.errors import InputError
from gpupool.findings import Finding, Severity
from tests.profiles.rendering import Words, plugin_values, render, specs, words_of, write
from tests.profiles.test_rules import CPU, NAMES, NEURON, NVIDIA

PRESENT = "nvidia.com/gpu.present"


def refused(folder: Path, **pool: object) -> list[Finding]:
    with pytest.raises(InputError) as caught:
        render_files([write(folder, {"pool": pool})])
    return [finding for finding in caught.value.findings if finding.severity is Severity.ERROR]


def test_one_device_plugin_lands_on_every_nvidia_pool_and_on_no_other(tmp_path: Path) -> None:
    rendered = render(tmp_path, {name: words_of(name) for name in NAMES})
    pools, values = specs(rendered), plugin_values(rendered)
    nvidia = [
        name
        for name in pools
        if name.removesuffix("-spot").removesuffix("-ondemand") in NVIDIA or name in NVIDIA
    ]
    (term,) = values["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    assert term["matchExpressions"] == [
        {"key": "karpenter.sh/nodepool", "operator": "In", "values": sorted(nvidia)}
    ]
    tolerated = {
        (item["key"], item.get("effect")) for item in values["tolerations"] if item["operator"] == "Exists"
    }
    taints = {
        (taint["key"], taint["effect"])
        for name in nvidia
        for taint in pools[name]["template"]["spec"]["taints"]
    }
    assert ("workload", "NoSchedule") in taints
    assert taints <= tolerated
    assert len(nvidia) == len(NVIDIA) + 1, "spot-tiered makes two"


def test_bottlerocket_has_a_plugin_of_its_own(tmp_path: Path) -> None:
    names = [name for name in NAMES if name != "notebook"]
    rendered = render(tmp_path, {name: words_of(name) for name in names}, ami="bottlerocket@v1.52.0")
    assert rendered.releases == ()
    for spec in specs(rendered).values():
        assert PRESENT not in spec["template"].get("metadata", {}).get("labels", {})
    for spec in specs(rendered, "EC2NodeClass").values():
        assert [item["deviceName"] for item in spec["blockDeviceMappings"]] == ["/dev/xvda", "/dev/xvdb"]


def test_a_notebook_needs_the_chart_and_so_no_bottlerocket(tmp_path: Path) -> None:
    found = refused(tmp_path, profile="notebook", nodeClass={"ami": "bottlerocket@v1.52.0"})
    assert [finding.code for finding in found] == [Code.SHARING]


def test_notebook_limits_are_said_in_gpus_and_counted_in_slices(tmp_path: Path) -> None:
    rendered = render(tmp_path, {"lab": {"profile": "notebook", "limits": {"gpus": 8}}})
    assert specs(rendered)["lab"]["limits"] == {"nvidia.com/gpu": 32}
    (overlay,) = specs(rendered, "NodeOverlay").values()
    assert overlay["capacity"] == {"nvidia.com/gpu": "4"}


@pytest.mark.parametrize(
    ("words", "fits"),
    [
        ({"profile": "training", "accelerator": "trainium2"}, "neuron-training"),
        ({"profile": "inference", "accelerator": "inferentia2"}, "neuron-inference"),
        ({"profile": "batch-spot", "accelerator": "trainium"}, "neuron-inference"),
        ({"profile": "neuron-training", "accelerator": "h100"}, "training"),
        ({"profile": "neuron-inference", "accelerator": "l4"}, "inference"),
        ({"profile": "inference-spot", "accelerator": "none"}, "general"),
    ],
)
def test_a_profile_for_other_chips_is_an_error_that_names_the_right_one(
    words: Words, fits: str, tmp_path: Path
) -> None:
    (finding,) = [found for found in refused(tmp_path, **words) if found.code is Code.PROFILE_MISFIT]
    assert f"`profile: {fits}`" in finding.fix


@pytest.mark.parametrize("profile", NEURON)
def test_neuron_counts_chips_not_gpus(profile: str, tmp_path: Path) -> None:
    (finding,) = refused(tmp_path, profile=profile, limits={"gpus": 16})
    assert (finding.code, finding.fix) == (Code.LIMIT_UNIT, "set `aws.amazon.com/neuron: 16`")


def test_a_tier_can_take_its_quarter_only_of_limits_that_are_there(tmp_path: Path) -> None:
    (finding,) = refused(tmp_path, profile="spot-tiered", accelerator="l4")
    assert finding.code is Code.LIMIT_SHARE


def test_spot_comes_before_on_demand(tmp_path: Path) -> None:
    pools = specs(render(tmp_path, {"chat": {"profile": "spot-tiered", "limits": {"gpus": 40}}}))
    assert {name: (spec["weight"], spec["limits"]) for name, spec in pools.items()} == {
        "chat-spot": (50, {"nvidia.com/gpu": 40}),
        "chat-ondemand": (49, {"nvidia.com/gpu": 10}),
    }


def test_training_efa_wants_one_type_and_one_zone(tmp_path: Path) -> None:
    efa = {"profile": "training-efa", "accelerator": "h100", "instances": {"types": "p5.48xlarge"}}
    for words, warned in (({}, ["zone"]), ({"zones": "b"}, [])):
        findings = render(tmp_path, {"pretrain": {**efa, **words}}).findings
        said = [found.message for found in findings if found.code is Code.ONE_TYPE_ONE_ZONE]
        assert [message.split(",")[0].split()[-1] for message in said] == warned


def test_a_fixed_number_of_nodes_leaves_room_for_a_replacement(tmp_path: Path) -> None:
    spec = specs(render(tmp_path, {"pretrain": {"profile": "training-static"}}))["pretrain"]
    assert (spec["replicas"], spec["limits"], "weight" in spec) == (1, {"nodes": 2}, False)
    (finding,) = refused(tmp_path, profile="training-static", replicas=8)
    assert finding.code is Code.STATIC_POOL


def test_cpu_profiles_need_no_chart(tmp_path: Path) -> None:
    assert render(tmp_path, {name: words_of(name) for name in CPU}).releases == ()
