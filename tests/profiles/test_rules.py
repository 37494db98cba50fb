"""Every shipped profile is valid and keeps the rules for shipped profiles."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gpupool.blueprint.load import check, find_conflicting_fields
from gpupool.blueprint.merge_schema import build_merge_kind
from gpupool.profiles.load import SHIPPED, shipped_names
from gpupool.profiles.model import Profile
from gpupool.profiles.shown import show
from gpupool.shapes.compiled import Model
from gpupool.yamlio.located import plain
from gpupool.yamlio.read import read
from tests.profiles.rendering import render, specs, words_of

if TYPE_CHECKING:
    from gpupool.findings import Finding

ROOT = Path(__file__).parents[2]
NAMES = shipped_names()
NVIDIA = ("batch-spot", "inference", "inference-spot", "notebook", "spot-tiered", "training", "training-efa",
          "training-static")  # fmt: skip
NEURON = ("neuron-inference", "neuron-training")
CPU = ("general", "graviton")
SPOT = {
    "batch-spot": {"spot"},
    "inference-spot": {"spot"},
    "spot-tiered": {"spot", "on-demand"},
    "notebook": {"spot", "on-demand"},
    "neuron-inference": {"spot", "on-demand"},
    "general": {"spot", "on-demand"},
    "graviton": {"spot", "on-demand"},
}
"""The profiles that may buy spot at all."""

FORBIDDEN = {
    "ami", "amiFamily", "amiSelectorTerms", "instanceProfile", "role", "securityGroupSelectorTerms",
    "securityGroups", "subnetSelectorTerms", "subnets", "tags", "zones",
}  # fmt: skip
"""What belongs to one account: `defaults` lies under the profile and would lose."""

WONDERED_ABOUT = re.compile(
    r"capacity$|instances\.|requirements\.|labels\.|taints\.|limits\.|weight$|sharing\.|disk\.|budgets\."
    r"|instanceStorePolicy$|expireAfter$|terminationGracePeriod$|consolidateAfter$"
)
each_profile = pytest.mark.parametrize("name", NAMES)


def body(name: str) -> dict[str, Any]:
    found = read((ROOT / "profiles" / f"{name}.yaml").read_bytes(), name)
    assert found.findings == ()
    assert found.node is not None
    words = plain(found.node)
    assert isinstance(words, dict)
    return words


def keys(value: object) -> Iterator[str]:
    """Yield every key at any depth."""
    for key, item in value.items() if isinstance(value, dict) else ():
        yield key
        yield from keys(item)
    for item in value if isinstance(value, list) else ():
        yield from keys(item)


def test_there_is_a_profile_for_each_purpose() -> None:
    assert sorted((*NVIDIA, *NEURON, *CPU)) == NAMES


@each_profile
def test_it_is_valid(name: str) -> None:
    node = read((ROOT / "profiles" / f"{name}.yaml").read_bytes(), f"{SHIPPED}{name}.yaml").node
    assert node is not None
    found: list[Finding] = []
    check(node, Model("gpupool.profiles.model", "Profile"), "Profile", found)
    found += find_conflicting_fields(node, build_merge_kind(Profile))
    assert found == []


@each_profile
def test_it_is_found_by_its_name(name: str) -> None:
    assert body(name)["metadata"] == {"name": name}


@each_profile
def test_it_says_what_it_is_for(name: str) -> None:
    words = body(name)
    assert "\n" not in words["summary"]
    assert words["summary"].endswith(".")
    assert words["description"].rstrip("\n").endswith(".")
    assert len(words["description"]) > len(words["summary"])


@each_profile
def test_it_points_to_other_profiles_that_exist(name: str) -> None:
    prose = " ".join(body(name)["description"].split())
    named = set(re.findall(r"\b(?:[a-z]+-(?:spot|efa|static|tiered|training|inference))\b", prose))
    named |= set(re.findall(r"\bchoose (?:a |an )?([a-z-]+)", prose))
    assert named, "say when to choose another profile"
    assert named <= set(NAMES) - {name}


@each_profile
def test_it_says_nothing_that_belongs_to_an_account(name: str) -> None:
    assert FORBIDDEN.isdisjoint(keys(body(name)))
    assert not [key for key in keys(body(name)) if key.startswith("topology.")]


@each_profile
def test_it_names_no_types_and_families_only_to_leave_them_out(name: str) -> None:
    words = body(name)["pool"]
    parts = [words, *words.get("tiers", {}).values()]
    for part in parts:
        instances = part.get("instances", {})
        assert "types" not in instances
        assert set(instances.get("families", {"not": []})) == {"not"}
        assert not {"node.kubernetes.io/instance-type", "karpenter.k8s.aws/instance-family"} & set(
            part.get("requirements", {})
        )


@each_profile
def test_each_value_that_a_person_could_wonder_about_has_its_reason(name: str) -> None:
    tiers = [f"pool.tiers.{tier}.capacity" for tier in ("spot", "ondemand")]
    paths = {".".join(map(str, setting.path)): setting.reason for setting in show(name).settings}
    silent = [path for path, reason in paths.items() if WONDERED_ABOUT.search(path) and not reason]
    assert [path for path in silent if path not in tiers] == []


@each_profile
def test_nothing_is_left_to_karpenters_defaults_on_purpose(name: str, tmp_path: Path) -> None:
    for spec in specs(render(tmp_path, {"pool": words_of(name)})).values():
        template, disruption = spec["template"]["spec"], spec["disruption"]
        operators = {item["key"]: item["operator"] for item in template["requirements"]}
        assert operators["kubernetes.io/arch"] == operators["kubernetes.io/os"] == "In"
        assert operators["karpenter.sh/capacity-type"] == "In"
        assert {"expireAfter", "terminationGracePeriod"} <= template.keys()
        assert {"consolidationPolicy", "consolidateAfter", "budgets"} == disruption.keys()
        always_on = [budget for budget in disruption["budgets"] if "schedule" not in budget]
        for reason in ("Empty", "Drifted", "Underutilized"):
            assert [budget for budget in always_on if reason in budget.get("reasons", [reason])]


@each_profile
def test_spot_is_bought_only_where_it_may_be(name: str, tmp_path: Path) -> None:
    bought = {
        capacity
        for spec in specs(render(tmp_path, {"pool": words_of(name)})).values()
        for item in spec["template"]["spec"]["requirements"]
        if item["key"] == "karpenter.sh/capacity-type"
        for capacity in item["values"]
    }
    assert bought == SPOT.get(name, {"on-demand"})


@each_profile
def test_accelerated_nodes_are_tainted_and_labelled(name: str, tmp_path: Path) -> None:
    for spec in specs(render(tmp_path, {"pool": words_of(name)})).values():
        template = spec["template"]
        labels = template.get("metadata", {}).get("labels", {})
        taints = {taint["key"]: taint for taint in template["spec"].get("taints", [])}
        if name in CPU:
            assert (labels, taints) == ({}, {})
            continue
        resource = "nvidia.com/gpu" if name in NVIDIA else "aws.amazon.com/neuron"
        assert labels[f"{resource}.present"] == "true"
        assert taints[resource] == {"key": resource, "value": "true", "effect": "NoSchedule"}
        assert ("vpc.amazonaws.com/efa.present" in labels) == (
            name in ("training-efa", "training-static", "neuron-training")
        )


def test_a_golden_case_shows_each_profile() -> None:
    cases = {path.name for path in (ROOT / "tests/golden").iterdir()}
    assert {f"profile-{name}" for name in NAMES} <= cases
