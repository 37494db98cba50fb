"""What a blueprint means, with every tier spelled out and every value's place kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gpupool.blueprint.load import LoadedBlueprint
    from gpupool.catalogue.accelerators import Maker
    from gpupool.expansion.catalogue_access import CatalogueAccess
    from gpupool.findings import Finding
    from gpupool.yamlio.located import Located


class ExpandedPool(NamedTuple):
    """One NodePool in Karpenter's terms; parts that nobody said are None and are not rendered."""

    name: str
    pool: str
    path: str
    """Where it stands in the blueprint: `pools.chat.tiers.spot`."""

    at: Located
    """The pool's own place."""

    metadata: Located | None
    """Labels and annotations of the object."""

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
    """What `limits.usdPerHour` says; the limit that it became stands among `limits`."""

    weight: Located | None
    replicas: Located | None

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
    metadata: Located | None
    spec: Located


class ExpandedOverlay(NamedTuple):
    """One NodeOverlay."""

    name: str
    path: str
    metadata: Located | None
    spec: Located


class Expanded(NamedTuple):
    """A whole blueprint after expansion."""

    loaded: LoadedBlueprint
    """The merged blueprint that it was expanded from."""

    name: str
    karpenter: str
    """The Karpenter minor version that the objects are for."""

    pools: tuple[ExpandedPool, ...]
    classes: tuple[ExpandedClass, ...]
    overlays: tuple[ExpandedOverlay, ...]
    known: CatalogueAccess
    """The catalogue that counts, and what was asked of it."""

    stack: Located | None
    """The blueprint's `stack`, laid over what the profiles say; its `null`s still stand."""

    findings: tuple[Finding, ...]
    """What is worth saying although nothing is wrong."""

    sensitive: tuple[str, ...] = ()
    """As in the blueprint's `sensitive`."""
