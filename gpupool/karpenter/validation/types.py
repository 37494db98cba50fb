"""The model of each kind that can be validated, by name."""

from collections.abc import Mapping
from typing import Final

from gpupool.shapes.compiled import Model

TYPES: Final[Mapping[str, Model]] = {
    "NodePool": Model("gpupool.karpenter.v1.nodepool", "NodePool"),
    "EC2NodeClass": Model("gpupool.karpenter.v1.ec2nodeclass", "EC2NodeClass"),
    "NodeOverlay": Model("gpupool.karpenter.v1alpha1.nodeoverlay", "NodeOverlay"),
}
