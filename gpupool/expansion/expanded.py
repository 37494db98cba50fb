"""Expanded blueprint: its NodePools, node classes and overlays in Karpenter's fields, with locations."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gpupool.blueprint.load import LoadedBlueprint
    from gpupool.catalogue.accelerators import Maker
    from gpupool.expansion.catalogue_access import CatalogueAccess
    from gpupool.findings import Finding
    from gpupool.yamlio.located import Located


class ExpandedPool(NamedTuple):
    """One NodePool in Karpenter's fields; fields that are not set are None and not rendered."""

    name: str
    pool: str
    path: str
    """The path in the blueprint: `pools.chat.tiers.spot`."""

    at: Located
    """The location of the pool or tier."""

    metadata: Located | None
    """The labels and annotations of the object."""

    labels: Located | None
    annotations: Located | None
    class_ref: Located
    requirements: Located | None
    taints: Located | None
    startup_taints: Located | None
    expire_after: Located | None
    termination_grace_period: Located | None
    disruption: Located | None
    limits: Located | None
    usd_per_hour: Located | None
    """The value of `limits.usdPerHour`; the resulting limit is in `limits`."""

    weight: Located | None
    replicas: Located | None

    maker: Maker | None
    """The manufacturer of the pool's accelerators; None for CPU pools, and where it is unknown."""

    ami_family: str
    """The AMI family of the node class; empty where it is unknown."""

    slices: int
    """The number of pods that share one GPU; 1 without sharing."""

    gpu_counts: tuple[int, ...]
    """The GPU counts of the pool's instance types; only for pools with sharing."""


class ExpandedClass(NamedTuple):
    """One EC2NodeClass."""

    name: str
    path: str
    metadata: Located | None
    spec: Located


class ExpandedOverlay(NamedTuple):
    """One NodeOverlay."""

    name: str
    path: str
    metadata: Located | None
    spec: Located


class Expanded(NamedTuple):
    """A blueprint after expansion."""

    loaded: LoadedBlueprint
    """The merged blueprint that it was expanded from."""

    name: str
    karpenter: str
    """The Karpenter minor version that the objects are for."""

    pools: tuple[ExpandedPool, ...]
    classes: tuple[ExpandedClass, ...]
    overlays: tuple[ExpandedOverlay, ...]
    catalogue: CatalogueAccess
    """The catalogue that the blueprint uses."""

    stack: Located | None
    """The blueprint's `stack`, merged over that of the profiles, with its `null`s."""

    findings: tuple[Finding, ...]
    """Warnings and notes; no errors."""

    sensitive: tuple[str, ...] = ()
    """The blueprint's `sensitive`."""
