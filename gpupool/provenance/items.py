"""Items of a blueprint (NodePools, node classes, overlays, the cluster) with their layers in every file."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpupool.blueprint import merge_schema
from gpupool.blueprint.load import LoadedBlueprint
from gpupool.blueprint.merge import ANY, MergeKind, merge_all
from gpupool.blueprint.model import Blueprint, Defaults
from gpupool.blueprint.pool import BlueprintPool, PoolFields, TieredPoolFields
from gpupool.expansion.layers import (
    LayeredPool,
    build_built_in_layer,
    find_profile_reference,
    layer_pools,
    merge_declared_class,
)
from gpupool.expansion.target import TargetCluster
from gpupool.objects import Manifest
from gpupool.profiles.load import Profiles
from gpupool.profiles.model import Profile
from gpupool.yamlio.located import Located, find, mapping, text_of

_DEFAULT_POOL = (Blueprint.defaults.key, Defaults.pool.key)
_DEFAULT_CLASS = (Blueprint.defaults.key, Defaults.node_class.key)


class LayerPart(NamedTuple):
    """The fields that one layer sets in one file."""

    layer: str
    node: Located


class BlueprintItem(NamedTuple):
    """A NodePool, node class or overlay, or the blueprint's `cluster`."""

    path: tuple[str, ...]
    """The path in the blueprint: `pools`, `chat`."""

    tier: str
    """The NodePool's tier; empty for a pool without tiers."""

    kind: MergeKind
    parts: tuple[LayerPart, ...]
    """The parts from the lowest layer to the highest, in the order of the files within a layer."""

    fields: Located
    """The merged fields, with explicit `null`s."""

    objects: tuple[Manifest, ...]
    """The objects that the item is rendered to."""

    name: str = ""
    """The name of the NodePool or node class."""


class PoolItem(NamedTuple):
    """A NodePool and its node class, if the blueprint contains that class."""

    pool: BlueprintItem
    node_class: BlueprintItem | None


def build_cluster_item(loaded: LoadedBlueprint) -> BlueprintItem:
    """Build the item of the blueprint's `cluster`."""
    parts = _parts("cluster", loaded.documents, Blueprint.cluster.key)
    fields = loaded.blueprint.cluster.node or Located({}, loaded.node.at)
    return BlueprintItem(("cluster",), "", ANY, parts, fields, ())


def build_pool_items(loaded: LoadedBlueprint, name: str, manifests: Sequence[Manifest]) -> Iterator[PoolItem]:
    """Build the items of a pool's NodePools: one, or one for each tier."""
    blueprint = loaded.blueprint
    fields, target = blueprint.pools[name], TargetCluster(blueprint.cluster.node)
    profiles, reference = Profiles(loaded.files), find_profile_reference(fields)
    lineage = [] if reference is None else profiles.find_lineage(reference)
    profile = Profile(None if reference is None else profiles.resolve(reference))
    pool_parts = [
        *_parts("defaults", loaded.documents, *_DEFAULT_POOL),
        *(part for base in lineage for part in _parts(f"profile {_name(base)}", [base], Profile.pool.key)),
        *_parts("pool", loaded.documents, Blueprint.pools.key, name),
    ]
    class_parts = [
        *_parts("defaults", loaded.documents, *_DEFAULT_CLASS),
        *(
            part
            for base in lineage
            for part in _parts(f"profile {_name(base)}", [base], Profile.node_class.key)
        ),
    ]
    for layers in layer_pools(name, fields, profile, blueprint.defaults, target):
        parts = [*pool_parts, *_tier_parts(pool_parts, layers.tier_name)]
        pool = _build_pool_item(layers, parts, target, manifests)
        own_class = [*class_parts, *_parts_below(parts, PoolFields.node_class.key)]
        yield PoolItem(pool, _build_own_class_item(loaded, layers, own_class, manifests))


def build_class_item(loaded: LoadedBlueprint, name: str, manifests: Sequence[Manifest]) -> BlueprintItem:
    """Build the item of a class under `nodeClasses`."""
    blueprint = loaded.blueprint
    parts = (
        *_parts("defaults", loaded.documents, *_DEFAULT_CLASS),
        *_parts(f"class {name}", loaded.documents, Blueprint.node_classes.key, name),
    )
    fields = merge_declared_class(blueprint.node_classes[name], blueprint.defaults).here
    objects = _objects(manifests, "EC2NodeClass", name)
    return BlueprintItem(("nodeClasses", name), "", merge_schema.CLASS, parts, fields, objects, name)


def build_overlay_item(loaded: LoadedBlueprint, name: str, manifests: Sequence[Manifest]) -> BlueprintItem:
    """Build the item of an overlay under `nodeOverlays`."""
    parts = _parts(f"overlay {name}", loaded.documents, Blueprint.node_overlays.key, name)
    fields = loaded.blueprint.node_overlays[name].here
    objects = _objects(manifests, "NodeOverlay", name)
    return BlueprintItem(("nodeOverlays", name), "", ANY, parts, fields, objects, name)


def _build_pool_item(
    layers: LayeredPool, parts: list[LayerPart], target: TargetCluster, manifests: Sequence[Manifest]
) -> BlueprintItem:
    built_in = mapping(build_built_in_layer(target))
    lowest = [
        LayerPart("cluster" if key == PoolFields.zones.key else "built-in", Located({key: node}, node.at))
        for key, node in built_in.items()
    ]
    own = [LayerPart(part.layer, _without_items(part.node)) for part in parts]
    layered = layers.fields_and_nulls.here
    merged = dict(mapping(layered))
    if profile := find_profile_reference(layers.own):
        merged[BlueprintPool.profile.key] = profile
    classes = [part.node for part in _parts_below(parts, PoolFields.node_class.key)]
    if classes and not isinstance((reference := merge_all(classes, merge_schema.CLASS)).value, dict):
        merged[PoolFields.node_class.key] = reference
    fields = Located(merged, layered.at, layered.key)
    objects = (*_objects(manifests, "NodePool", layers.name), *_sharing_overlays(manifests, layers.path))
    path, all_parts = ("pools", layers.pool), (*lowest, *own)
    return BlueprintItem(path, layers.tier_name, merge_schema.TIER, all_parts, fields, objects, layers.name)


def _build_own_class_item(
    loaded: LoadedBlueprint, layers: LayeredPool, parts: list[LayerPart], manifests: Sequence[Manifest]
) -> BlueprintItem | None:
    name, tier, fields = layers.class_name, layers.tier_name, layers.class_fields
    if fields is None:
        is_declared = name in loaded.blueprint.node_classes
        return build_class_item(loaded, name, manifests) if is_declared else None
    path = ("pools", layers.pool, *(("tiers", tier) if tier and name == layers.name else ()), "nodeClass")
    objects = _objects(manifests, "EC2NodeClass", name)
    return BlueprintItem(path, "", merge_schema.CLASS, tuple(parts), fields.here, objects, name)


def _parts(layer: str, files: Sequence[Located], *path: str) -> tuple[LayerPart, ...]:
    nodes = (find(file, *path) for file in files)
    return tuple(LayerPart(layer, node) for node in nodes if node is not None)


def _parts_below(parts: Sequence[LayerPart], key: str) -> list[LayerPart]:
    nodes = ((part.layer, find(part.node, key)) for part in parts)
    return [LayerPart(layer, node) for layer, node in nodes if node is not None]


def _tier_parts(parts: Sequence[LayerPart], tier: str) -> Iterator[LayerPart]:
    for part in parts:
        node = find(part.node, TieredPoolFields.tiers.key, tier)
        if node is not None:
            yield LayerPart(f"tier {tier}" if part.layer == "pool" else f"{part.layer}, tier {tier}", node)


def _without_items(node: Located) -> Located:
    """Return a pool's fields without its tiers and its own node class, which are items of their own."""
    if not isinstance(node.value, dict):
        return node
    node_class = PoolFields(node).node_class.node
    has_own_class = node_class is not None and isinstance(node_class.value, dict)
    removed = [TieredPoolFields.tiers.key, *([PoolFields.node_class.key] if has_own_class else [])]
    return Located({key: item for key, item in node.value.items() if key not in removed}, node.at, node.key)


def _name(profile: Located) -> str:
    return text_of(Profile(profile).metadata.name)


def _objects(manifests: Sequence[Manifest], kind: str, name: str) -> tuple[Manifest, ...]:
    return tuple(manifest for manifest in manifests if manifest.ref == (kind, name))


def _sharing_overlays(manifests: Sequence[Manifest], path: str) -> Iterator[Manifest]:
    return (
        manifest for manifest in manifests if manifest.ref.kind == "NodeOverlay" and manifest.path == path
    )
