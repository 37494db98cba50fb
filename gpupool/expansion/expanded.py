"""What a blueprint means, with every tier spelled out and every value's place kept."""

from typing import NamedTuple

from gpupool.catalogue.accelerators import Maker
from gpupool.expansion.catalogued import Catalogued
from gpupool.findings import Finding
from gpupool.yamlio.nodes import Node


class ExpandedPool(NamedTuple):
    """One NodePool in Karpenter's terms; parts that nobody said are None and are not rendered."""

    name: str
    pool: str
    path: str
    """Where it stands in the blueprint: `pools.chat.tiers.spot`."""

    at: Node
    """The pool's own place."""

    metadata: Node | None
    """Labels and annotations of the object."""

    labels: Node | None
    annotations: Node | None
    class_ref: Node
    requirements: Node | None
    taints: Node | None
    startup_taints: Node | None
    expire_after: Node | None
    termination_grace_period: Node | None
    disruption: Node | None
    limits: Node | None
    usd_per_hour: Node | None
    """What `limits.usdPerHour` says; the limit that it became stands among `limits`."""

    weight: Node | None
    replicas: Node | None

    maker: Maker | None
    """Whose accelerators the pool has; None for CPU machines, and where nothing tells."""

    ami_family: str
    """The family of the class' image; empty where nothing tells."""

    slices: int
    """How many pods take turns on one GPU; 1 where they are not shared."""

    gpu_counts: tuple[int, ...]
    """The numbers of GPUs in one machine that the pool admits, where it shares them."""


class ExpandedClass(NamedTuple):
    """One EC2NodeClass."""

    name: str
    path: str
    metadata: Node | None
    spec: Node


class ExpandedOverlay(NamedTuple):
    """One NodeOverlay."""

    name: str
    path: str
    metadata: Node | None
    spec: Node


class Expanded(NamedTuple):
    """A whole blueprint after expansion."""

    name: str
    karpenter: str
    """The Karpenter minor version that the objects are for."""

    pools: tuple[ExpandedPool, ...]
    classes: tuple[ExpandedClass, ...]
    overlays: tuple[ExpandedOverlay, ...]
    known: Catalogued
    """The catalogue that counts, and what was asked of it."""

    stack: Node | None
    """The blueprint's `stack`, laid over what the profiles say; its `null`s still stand."""

    findings: tuple[Finding, ...]
    """What is worth saying although nothing is wrong."""

    sensitive: tuple[str, ...] = ()
    """As in the blueprint's `sensitive`."""
