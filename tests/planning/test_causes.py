"""The causes of one object's values: which of several inputs changed, and what a removed value came from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from gpupool.planning.causes import ChangedValue
from gpupool.rollout.desired_state import load_desired_state
from gpupool.rollout.inventory.store import InventoryRef
from gpupool.rollout.planning.desired_objects import build_desired_objects
from gpupool.yamlio.located import find

if TYPE_CHECKING:
    from pathlib import Path

    from gpupool.planning.causes import ObjectCauses
    from gpupool.planning.compare import LeafPath

BLUEPRINT = """\
apiVersion: gpupool.dev/v1alpha1
kind: Blueprint
metadata: {name: ml}
cluster: {name: c, region: us-east-1, timezone: UTC}
defaults:
  nodeClass: {ami: al2023@v20260810}
  pool: {labels: {team: ml}}
pools:
  chat:
    profile: inference
    accelerator: l4
    zones: [a, b]
    limits: {usdPerHour: 500}
    capacity: any
    tiers:
      one: {weight: 7}
"""
LIMIT = ("spec", "limits", "nvidia.com/gpu")
REQUIREMENTS = ("spec", "template", "spec", "requirements")


@pytest.fixture
def chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ObjectCauses:
    """The causes of the pool, whose limit is calculated from its accelerator and zones too."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.yaml").write_text(BLUEPRINT, "utf-8")
    state = load_desired_state(["f.yaml"])
    desired = build_desired_objects(state, InventoryRef("kube-system", "gpupool-ml"))
    causes = next(each.causes for each in desired if each.address == "NodePool/chat-one")
    limit = find(causes.body if causes else None, *LIMIT)
    pool = find(state.node, "pools", "chat")
    inputs = [find(pool, "accelerator"), find(pool, "zones")]
    assert causes is not None
    assert limit is not None
    limit.also = tuple(each for each in inputs if each is not None)
    return causes


def named(causes: ObjectCauses, keys: LeafPath, *, is_removed: bool = False) -> list[str]:
    found = causes.find_causes(ChangedValue(keys, keys, is_removed=is_removed)).causes
    return [f"{each.place.line} {each.layer} {each.field}" for each in found]


def since(causes: ObjectCauses, **changed: str) -> ObjectCauses:
    """Return the causes after other inputs; `_` in a name stands for a dot."""
    old = {**causes.inputs, **{name.replace("_", "."): text for name, text in changed.items()}}
    return replace(causes, old_inputs=old)


def test_the_inputs(chat: ObjectCauses) -> None:
    assert dict(chat.inputs) == {
        "cluster.name": "c", "cluster.region": "us-east-1", "cluster.timezone": "UTC", "profile": "inference",
        "accelerator": "l4", "capacity": "any", "zones": "a,b", "weight": "7", "limits.usdPerHour": "500",
        "arch": "amd64", "os": "linux",
    } | {name: text for name, text in chat.inputs.items() if name.startswith(("disruption.", "instances."))}  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "causes"),
    [
        ({"limits_usdPerHour": "400"}, ["13 pool limits.usdPerHour"]),
        ({"accelerator": "t4"}, ["11 pool accelerator"]),
        ({"zones": "a,c", "accelerator": "t4"}, ["11 pool accelerator", "12 pool zones"]),
        ({"cluster_region": "us-west-2"}, ["4 cluster cluster.region"]),
        ({"weight": "8"}, ["13 pool limits.usdPerHour"]),
        ({}, ["13 pool limits.usdPerHour"]),
    ],
)
def test_the_input_that_changed(chat: ObjectCauses, changed: dict[str, str], causes: list[str]) -> None:
    assert named(since(chat, **changed), LIMIT) == causes


def test_without_old_texts_it_is_the_primary_one(chat: ObjectCauses) -> None:
    assert named(chat, LIMIT) == ["13 pool limits.usdPerHour"]


@pytest.mark.parametrize(
    ("keys", "causes"),
    [
        ((*REQUIREMENTS, "karpenter.sh/capacity-type"), ["14 pool capacity"]),
        ((*REQUIREMENTS, "example.com/rack"), ["10 pool profile"]),
        (("spec", "weight"), ["16 tier one weight"]),
        (("spec", "limits", "cpu"), ["13 pool limits.usdPerHour"]),
        (("spec", "template", "metadata", "labels", "gone"), ["10 profile inference (line 22) labels"]),
        (("spec", "replicas"), ["10 pool profile"]),
        (("metadata", "labels", "gone"), ["10 pool profile"]),
    ],
)
def test_what_a_removed_value_came_from(chat: ObjectCauses, keys: LeafPath, causes: list[str]) -> None:
    assert named(chat, keys, is_removed=True) == causes


def test_layers(chat: ObjectCauses) -> None:
    shipped, name, own = (
        chat.find_cause(keys)
        for keys in (("spec", "disruption", "consolidateAfter"), ("metadata", "name"), ("spec", "weight"))
    )

    assert (shipped.place.line, shipped.layer.partition(" (line ")[0], shipped.field) == (
        10,
        "profile inference",
        "disruption.consolidateAfter",
    )
    assert (own.place.line, own.layer) == (16, "tier one")
    assert name.place.line == 16
