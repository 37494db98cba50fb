"""The NodePools that a user means: a blueprint's or plain manifests', each with what its class offers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpupool.errors import InputError
from gpupool.findings import has_errors
from gpupool.yamlio.located import find, plain, plain_map, text_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gpupool.catalogue.model import Catalogue
    from gpupool.findings import Finding
    from gpupool.scheduling.types.market import Market
    from gpupool.yamlio.located import Located, Plain


class LoadedNodePool(NamedTuple):
    """One NodePool, as it is rendered or as it stands in a file."""

    name: str
    pool: str
    """The blueprint's pool that it is of, or its tiers'; its own name in plain manifests."""

    body: Located
    data: Mapping[str, Plain]
    market: Market
    """What its class may launch; an absent class counts as AL2023 as it comes."""

    node_class: str
    """The class that it refers to; empty where that is not among the files."""

    in_blueprint: bool = False
    """Whether it is rendered from a blueprint, and not read from a manifest."""


class LoadedNodePools(NamedTuple):
    """The NodePools that were found."""

    items: tuple[LoadedNodePool, ...]
    region: str | None
    findings: tuple[Finding, ...]
    """What there is to say besides; no errors."""

    files: tuple[str, ...]
    cluster: Located | None = None
    """What the blueprint says of its cluster."""

    overlays: tuple[str, ...] = ()
    """The NodeOverlays beside them, by name."""

    def named(self, name: str) -> list[LoadedNodePool]:
        """Return the NodePool of that name, or those of a pool's tiers; none for an unknown name."""
        own = [each for each in self.items if each.name == name]
        return own or [each for each in self.items if each.pool == name]

    @property
    def names(self) -> list[str]:
        """Return the names that can be asked for."""
        return sorted({each.name for each in self.items} | {each.pool for each in self.items})


def of_blueprint(files: Sequence[str], region: str | None = None) -> LoadedNodePools:
    """Render a blueprint and give its NodePools.

    Raises:
        InputError: with every mistake found, in file order.
    """
    from gpupool.rendering.render import render_files

    rendered = render_files(files)
    cluster = find(rendered.blueprint, "cluster")
    region = region or text_at(cluster, "region") or None
    return LoadedNodePools(
        _read(
            [(each.body, each.pool) for each in rendered.manifests if each.ref.kind == "NodePool"],
            _Around(
                [each.body for each in rendered.manifests if each.ref.kind == "EC2NodeClass"],
                [each.body for each in rendered.manifests if each.ref.kind == "NodeOverlay"],
                rendered.expanded.known.named,
                region,
                in_blueprint=True,
            ),
        ),
        region,
        rendered.findings,
        tuple(files),
        cluster,
        tuple(each.ref.name for each in rendered.manifests if each.ref.kind == "NodeOverlay"),
    )


def of_manifests(paths: Sequence[str], stdin: bytes, region: str | None = None) -> LoadedNodePools:
    """Read plain manifests and give their NodePools.

    Raises:
        InputError: with every mistake found, in file order.
    """
    from gpupool.karpenter.validation.check import check
    from gpupool.karpenter.versions import LATEST
    from gpupool.manifests.read import read_manifests

    found = read_manifests(paths, lambda: stdin)
    wrong = [finding for each in found.objects for finding in check(each.kind, each.body, LATEST)]
    findings = (*found.findings, *wrong)
    if has_errors(findings):
        raise InputError(findings)
    pools = [(each.body, each.name) for each in found.objects if each.kind == "NodePool"]
    classes = [each.body for each in found.objects if each.kind == "EC2NodeClass"]
    overlays = [each for each in found.objects if each.kind == "NodeOverlay"]
    around = _Around(classes, [each.body for each in overlays], None, region)
    names = tuple(each.name for each in overlays)
    return LoadedNodePools(_read(pools, around), region, findings, found.files, overlays=names)


class _Around(NamedTuple):
    """What NodePools are seen with."""

    classes: Sequence[Located]
    overlays: Sequence[Located]
    """NodeOverlays; the gate that they need counts as open."""

    catalogue: Catalogue | None
    region: str | None
    in_blueprint: bool = False


def _read(pools: Iterable[tuple[Located, str]], around: _Around) -> tuple[LoadedNodePool, ...]:
    from gpupool.catalogue.load import load_preferred
    from gpupool.scheduling.overlays import apply_overlays, read_overlay
    from gpupool.scheduling.types.market import Market
    from gpupool.scheduling.types.nodeclass import read_node_class
    from gpupool.scheduling.types.typemasks import TypeMasks

    masks = TypeMasks(load_preferred(around.catalogue))
    markets = {"": Market(masks, None, around.region)}
    for body in around.classes:
        said = plain_map(plain(body))
        markets[text_at(body, "metadata", "name")] = Market(masks, read_node_class(said), around.region)
    overlays = [read_overlay(plain_map(plain(body))) for body in around.overlays]
    found = []
    for body, pool in pools:
        reference = text_at(body, "spec", "template", "spec", "nodeClassRef", "name")
        found.append((body, pool, plain_map(plain(body)), reference if reference in markets else ""))
    seen = apply_overlays([(markets[known], data) for _, _, data, known in found], overlays)
    return tuple(
        LoadedNodePool(
            text_at(body, "metadata", "name"), pool, body, data, market, known, around.in_blueprint
        )
        for (body, pool, data, known), market in zip(found, seen, strict=True)
    )
