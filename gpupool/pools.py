"""NodePools of a blueprint or of plain manifests, each with the instance types of its node class."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpupool.errors import InputError
from gpupool.findings import has_errors
from gpupool.yamlio.located import plain, plain_map, text_at, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gpupool.catalogue.model import Catalogue
    from gpupool.findings import Finding
    from gpupool.scheduling.types.market import Market
    from gpupool.yamlio.located import Located, Plain


class LoadedNodePool(NamedTuple):
    """One NodePool, rendered from a blueprint or read from a manifest."""

    name: str
    pool: str
    """The name of its pool in the blueprint; its own name in plain manifests."""

    body: Located
    data: Mapping[str, Plain]
    market: Market
    """The instance types of its node class; an absent class counts as AL2023 with its defaults."""

    node_class: str
    """The node class that it refers to; empty where the files do not contain it."""

    in_blueprint: bool = False
    """Whether it is rendered from a blueprint, and not read from a manifest."""


class LoadedNodePools(NamedTuple):
    """The NodePools of a blueprint or of plain manifests."""

    items: tuple[LoadedNodePool, ...]
    region: str | None
    findings: tuple[Finding, ...]
    """Warnings and notes; no errors."""

    files: tuple[str, ...]
    cluster: Located | None = None
    """The blueprint's `cluster`."""

    overlays: tuple[str, ...] = ()
    """The names of the NodeOverlays."""

    def find(self, name: str) -> list[LoadedNodePool]:
        """Return the NodePool with a name, or those of a pool's tiers; empty for an unknown name."""
        exact = [pool for pool in self.items if pool.name == name]
        return exact or [pool for pool in self.items if pool.pool == name]

    @property
    def names(self) -> list[str]:
        """Return the names of all NodePools and pools."""
        return sorted({pool.name for pool in self.items} | {pool.pool for pool in self.items})


def load_from_blueprint(files: Sequence[str], region: str | None = None) -> LoadedNodePools:
    """Render a blueprint and return its NodePools.

    Raises:
        InputError: with all findings, in file order.
    """
    from gpupool.rendering.render import render_files

    rendered = render_files(files)
    cluster = rendered.expanded.loaded.blueprint.cluster
    region = region or text_of(cluster.region) or None
    return LoadedNodePools(
        _read(
            [
                (manifest.body, manifest.pool)
                for manifest in rendered.manifests
                if manifest.ref.kind == "NodePool"
            ],
            _PoolContext(
                [manifest.body for manifest in rendered.manifests if manifest.ref.kind == "EC2NodeClass"],
                [manifest.body for manifest in rendered.manifests if manifest.ref.kind == "NodeOverlay"],
                rendered.expanded.catalogue.own,
                region,
                in_blueprint=True,
            ),
        ),
        region,
        rendered.findings,
        tuple(files),
        cluster.node,
        tuple(manifest.ref.name for manifest in rendered.manifests if manifest.ref.kind == "NodeOverlay"),
    )


def load_from_manifests(paths: Sequence[str], stdin: bytes, region: str | None = None) -> LoadedNodePools:
    """Read plain manifests and return their NodePools.

    Raises:
        InputError: with all findings, in file order.
    """
    from gpupool.karpenter.validation.check import check
    from gpupool.karpenter.versions import LATEST
    from gpupool.manifests.read import read_manifests

    manifests = read_manifests(paths, lambda: stdin)
    errors = [finding for item in manifests.objects for finding in check(item.kind, item.body, LATEST)]
    findings = (*manifests.findings, *errors)
    if has_errors(findings):
        raise InputError(findings)
    pools = [(item.body, item.name) for item in manifests.objects if item.kind == "NodePool"]
    classes = [item.body for item in manifests.objects if item.kind == "EC2NodeClass"]
    overlays = [item for item in manifests.objects if item.kind == "NodeOverlay"]
    context = _PoolContext(classes, [item.body for item in overlays], None, region)
    names = tuple(item.name for item in overlays)
    return LoadedNodePools(_read(pools, context), region, findings, manifests.files, overlays=names)


class _PoolContext(NamedTuple):
    """The objects and settings that NodePools are read with."""

    classes: Sequence[Located]
    overlays: Sequence[Located]
    """NodeOverlays; their feature gate counts as enabled."""

    catalogue: Catalogue | None
    region: str | None
    in_blueprint: bool = False


def _read(pools: Iterable[tuple[Located, str]], context: _PoolContext) -> tuple[LoadedNodePool, ...]:
    from gpupool.catalogue.load import load_preferred
    from gpupool.scheduling.overlays import apply_overlays, read_overlay
    from gpupool.scheduling.types.market import Market
    from gpupool.scheduling.types.nodeclass import read_node_class
    from gpupool.scheduling.types.typemasks import TypeMasks

    masks = TypeMasks(load_preferred(context.catalogue))
    markets = {"": Market(masks, None, context.region)}
    for body in context.classes:
        node_class_data = plain_map(plain(body))
        markets[text_at(body, "metadata", "name")] = Market(
            masks, read_node_class(node_class_data), context.region
        )
    overlays = [read_overlay(plain_map(plain(body))) for body in context.overlays]
    loaded = []
    for body, pool in pools:
        reference = text_at(body, "spec", "template", "spec", "nodeClassRef", "name")
        loaded.append((body, pool, plain_map(plain(body)), reference if reference in markets else ""))
    pool_markets = apply_overlays([(markets[reference], data) for _, _, data, reference in loaded], overlays)
    return tuple(
        LoadedNodePool(
            text_at(body, "metadata", "name"), pool, body, data, market, reference, context.in_blueprint
        )
        for (body, pool, data, reference), market in zip(loaded, pool_markets, strict=True)
    )
