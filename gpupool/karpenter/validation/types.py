"""The type of each kind that can be checked."""

from collections.abc import Mapping
from typing import Final

from gpupool.karpenter.v1.ec2nodeclass import EC2NodeClass
from gpupool.karpenter.v1.nodepool import NodePool
from gpupool.karpenter.v1alpha1.nodeoverlay import NodeOverlay
from gpupool.shapes.base import Shape

TYPES: Final[Mapping[str, type[Shape]]] = {
    "NodePool": NodePool,
    "EC2NodeClass": EC2NodeClass,
    "NodeOverlay": NodeOverlay,
}
