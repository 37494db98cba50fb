"""Source folders of pinned Go modules: Karpenter's CRDs and the device plugin's chart are read there."""

import json
from functools import cache
from pathlib import Path

from tests.rig.toolchain import go


@cache
def crd_folder() -> Path:
    """Return the folder with the CRDs that this Karpenter release ships."""
    return _source("karpenter", "github.com/aws/karpenter-provider-aws") / "pkg" / "apis" / "crds"


@cache
def chart_folder() -> Path:
    """Return the folder with the device plugin's Helm chart."""
    plugin = _source("device-plugin", "github.com/NVIDIA/k8s-device-plugin")
    return plugin / "deployments" / "helm" / "nvidia-device-plugin"


def _source(module: str, path: str) -> Path:
    # The checksum in go.sum is verified on the way; a module that is already there costs no network.
    return Path(json.loads(go().run(module, "mod", "download", "-json", path))["Dir"])
