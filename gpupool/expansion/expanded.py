"""Expanded blueprint: its NodePools, node classes and overlays in Karpenter's fields, with locations."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpupool.blueprint.pool import PoolFields

if TYPE_CHECKING:
    from collections.abc import Mapping

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

    values: Mapping[str, Located]
    """The fields of the object that are set, by path, as in `spec.template.spec.taints`."""

    usd_per_hour: Located | None
    """The value of `limits.usdPerHour`; the resulting limit is in `limits`."""

    maker: Maker | None
    """The manufacturer of the pool's accelerators; None for CPU pools, and where it is unknown."""

    ami_family: str
    """The AMI family of the node class; empty where it is unknown."""

    slices: int
    """The number of pods that share one GPU; 1 without sharing."""

    gpu_counts: tuple[int, ...]
    """The GPU counts of the pool's instance types; only for pools with sharing."""

    @property
    def metadata(self) -> Located | None:
        """Return the labels and annotations of the object."""
        return self.values.get(PoolFields.metadata.to)

    @property
    def labels(self) -> Located | None:
        """Return the labels of the nodes."""
        return self.values.get(PoolFields.labels.to)

    @property
    def requirements(self) -> Located | None:
        """Return the requirements on instance types."""
        return self.values.get(PoolFields.requirements.to)

    @property
    def taints(self) -> Located | None:
        """Return the taints of the nodes."""
        return self.values.get(PoolFields.taints.to)

    @property
    def startup_taints(self) -> Located | None:
        """Return the taints that an agent has to remove."""
        return self.values.get(PoolFields.startup_taints.to)

    @property
    def limits(self) -> Located | None:
        """Return the limits by resource."""
        return self.values.get(PoolFields.limits.to)

    @property
    def weight(self) -> Located | None:
        """Return the priority among the pools that fit a pod."""
        return self.values.get(PoolFields.weight.to)

    @property
    def replicas(self) -> Located | None:
        """Return the fixed number of nodes."""
        return self.values.get(PoolFields.replicas.to)


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
