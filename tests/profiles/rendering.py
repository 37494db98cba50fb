"""Render small blueprints that are written as Python maps."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from gpupool.api import render_files
from gpupool.rendering.render import Rendered

Words: TypeAlias = Mapping[str, Any]
LIMITED: Words = {"limits": {"gpus": 64}}
CLUSTER: Words = {
    "name": "prod",
    "region": "us-east-1",
    "timezone": "America/New_York",
    "features": ["StaticCapacity", "NodeOverlay"],
}


def write(folder: Path, pools: Mapping[str, Words], *, ami: str = "al2023@v20260810") -> str:
    """Write a blueprint of these pools on a cluster where all is there that profiles need; give its path."""
    blueprint = {
        "apiVersion": "gpupool.dev/v1alpha1",
        "kind": "Blueprint",
        "metadata": {"name": "ml"},
        "cluster": CLUSTER,
        "defaults": {"nodeClass": {"ami": ami}},
        "pools": pools,
    }
    path = folder / "blueprint.yaml"
    path.write_text(json.dumps(blueprint, indent=1), encoding="utf-8")
    return str(path)


def render(folder: Path, pools: Mapping[str, Words], *, ami: str = "al2023@v20260810") -> Rendered:
    """Render these pools."""
    return render_files([write(folder, pools, ami=ami)])


def specs(rendered: Rendered, kind: str = "NodePool") -> dict[str, Any]:
    """Return the specs of all rendered objects of a kind, by name."""
    objects = list(yaml.safe_load_all(rendered.text()))
    return {item["metadata"]["name"]: item["spec"] for item in objects if item["kind"] == kind}


def plugin_values(rendered: Rendered) -> dict[str, Any]:
    """Return the device plugin chart's values."""
    (release,) = rendered.releases
    values: dict[str, Any] = yaml.safe_load(rendered.values_text(release))
    return values


def words_of(profile: str) -> dict[str, Any]:
    """Return what a person has to say beside the profile's name, so that it renders."""
    if profile.startswith(("general", "graviton")):
        return {"profile": profile}
    if profile == "training-static":
        return {"profile": profile, "limits": {"nodes": 2}}
    limit = "aws.amazon.com/neuron" if profile.startswith("neuron") else "gpus"
    return {"profile": profile, "limits": {limit: 64}}
