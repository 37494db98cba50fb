"""The index of a blueprint's values: layers of its items, and what a location is of."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from gpupool.blueprint.load import load
from gpupool.planning.blueprint_index import BlueprintIndex, Owner, find_effective
from gpupool.profiles.folders import allow_folders
from gpupool.yamlio.located import find, plain

if TYPE_CHECKING:
    from pathlib import Path

    from gpupool.planning.blueprint_index import FieldPath

BLUEPRINT = """\
apiVersion: gpupool.dev/v1alpha1
kind: Blueprint
metadata: {name: ml}
cluster: {name: c, region: us-east-1, timezone: UTC}
defaults:
  nodeClass: {ami: al2023@v20260810, tags: {a: "1"}}
  pool: {weight: 5, labels: &labels {team: ml}}
nodeClasses:
  own: {tags: {a: "2"}}
pools:
  chat:
    profile: DIR/ours.yaml
    labels: *labels
    disruption: null
    nodeClass: {disk: {size: 50Gi}}
    tiers:
      one: {weight: 7, nodeClass: {disk: {size: 60Gi}}}
"""
PROFILE = """\
apiVersion: gpupool.dev/v1alpha1
kind: Profile
metadata: {name: ours}
summary: s
description: d
extends: inference
pool: {weight: 9, accelerator: l4}
"""


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BlueprintIndex:
    """A blueprint with a profile in a folder that only the command line allows."""
    elsewhere, here = tmp_path / "elsewhere", tmp_path / "here"
    elsewhere.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    (elsewhere / "ours.yaml").write_text(PROFILE, "utf-8")
    (here / "f.yaml").write_text(BLUEPRINT.replace("DIR", "../elsewhere"), "utf-8")
    with allow_folders([str(elsewhere)]):
        return BlueprintIndex(load(["f.yaml"]))


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        ("pools.chat", Owner("pools", "chat")),
        ("pools.chat.tiers.one", Owner("pools", "chat", "one")),
        ("pools.chat.nodeClass", Owner("pools", "chat", "", is_class=True)),
        ("pools.chat.tiers.one.nodeClass", Owner("pools", "chat", "one", is_class=True)),
        ("nodeClasses.own", Owner("nodeClasses", "own")),
    ],
)
def test_an_owner(path: str, owner: Owner) -> None:
    assert Owner.parse(path) == owner


@pytest.mark.parametrize(
    ("owner", "names"),
    [
        ("pools.chat", ["defaults", "profile inference", "profile ours", "pool"]),
        ("pools.chat.tiers.one", ["defaults", "profile inference", "profile ours", "pool", "tier one"]),
        ("pools.chat.tiers.one.nodeClass", ["defaults", "profile inference", "pool", "tier one"]),
        ("nodeClasses.own", ["defaults", "class own"]),
    ],
)
def test_the_layers_are_found_by_any_thread(index: BlueprintIndex, owner: str, names: list[str]) -> None:
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(index.find_layers, Owner.parse(owner)).result()

    assert [layer.name for layer in found] == names


@pytest.mark.parametrize(
    ("owner", "path", "found"),
    [
        ("pools.chat", ("weight",), ("profile ours", 9)),
        ("pools.chat.tiers.one", ("weight",), ("tier one", 7)),
        ("pools.chat.tiers.one.nodeClass", ("disk", "size"), ("tier one", "60Gi")),
        ("pools.chat.nodeClass", ("tags", "a"), ("defaults", "1")),
        ("pools.chat", ("disruption", "consolidateAfter"), ("pool", None)),
        ("pools.chat", ("replicas",), None),
    ],
)
def test_the_highest_layer_counts(
    index: BlueprintIndex, owner: str, path: FieldPath, found: tuple[str, object] | None
) -> None:
    effective = find_effective(index.find_layers(Owner.parse(owner)), path)

    assert (None if effective is None else (effective[0].name, plain(effective[1]))) == found


def test_a_value_that_several_items_share_by_an_alias(index: BlueprintIndex) -> None:
    team = find(index.loaded.node, "pools", "chat", "labels", "team")
    assert team is not None

    values = index.find_values(team.at)

    assert [(value.layer, value.home, value.field) for value in values] == [
        ("defaults", "", ("labels", "team")),
        ("pool", "chat", ("labels", "team")),
    ]
