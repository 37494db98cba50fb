"""The things of a blueprint that values belong to, each with what every layer and every file says of it."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpupool.blueprint import merge_schema
from gpupool.blueprint.load import LoadedBlueprint
from gpupool.blueprint.merge import ANY, MergeKind, merge_all
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
from gpupool.yamlio.located import Located, find, mapping, text_at


class LayerPart(NamedTuple):
    """What one layer says in one file."""

    layer: str
    node: Located


class BlueprintItem(NamedTuple):
    """One NodePool, class or overlay, or the blueprint's `cluster`."""

    path: tuple[str, ...]
    """Where it stands in the blueprint: `pools`, `chat`."""

    tier: str
    """The tier that the NodePool is of; empty where there is none."""

    kind: MergeKind
    parts: tuple[LayerPart, ...]
    """From the lowest layer to the highest; within a layer by file."""

    words: Located
    """What counts in the end; a `null` still stands where somebody wrote it."""

    objects: tuple[Manifest, ...]
    """What it is rendered to."""

    name: str = ""
    """The NodePool's or the class' name."""


class PoolItem(NamedTuple):
    """One NodePool with the class that it refers to, where the blueprint has that class."""

    pool: BlueprintItem
    node_class: BlueprintItem | None


def build_cluster_item(loaded: LoadedBlueprint) -> BlueprintItem:
    """Return the blueprint's `cluster`."""
    parts = _parts("cluster", loaded.documents, "cluster")
    words = find(loaded.node, "cluster") or Located({}, loaded.node.at)
    return BlueprintItem(("cluster",), "", ANY, parts, words, ())


def build_pool_items(loaded: LoadedBlueprint, name: str, manifests: Sequence[Manifest]) -> Iterator[PoolItem]:
    """Yield the NodePools of a pool: one, or one for each tier."""
    node = mapping(find(loaded.node, "pools"))[name]
    defaults, target = find(loaded.node, "defaults"), TargetCluster(find(loaded.node, "cluster"))
    profiles, word = Profiles(loaded.files), find_profile_reference(node)
    lineage = [] if word is None else profiles.lineage(word)
    profile = None if word is None else profiles.named(word)
    said = [
        *_parts("defaults", loaded.documents, "defaults", "pool"),
        *(part for each in lineage for part in _parts(f"profile {_name(each)}", [each], "pool")),
        *_parts("pool", loaded.documents, "pools", name),
    ]
    under = [
        *_parts("defaults", loaded.documents, "defaults", "nodeClass"),
        *(part for each in lineage for part in _parts(f"profile {_name(each)}", [each], "nodeClass")),
    ]
    for each in layer_pools(name, node, profile, defaults, target):
        tier = each.tier_name
        whole = [*said, *_tier_parts(said, tier)]
        pool = _pool(each, tier, whole, target, manifests)
        yield PoolItem(pool, _class_of(loaded, each, tier, [*under, *_below(whole, "nodeClass")], manifests))


def build_class_item(loaded: LoadedBlueprint, name: str, manifests: Sequence[Manifest]) -> BlueprintItem:
    """Return a class under `nodeClasses`."""
    defaults = find(loaded.node, "defaults")
    parts = (
        *_parts("defaults", loaded.documents, "defaults", "nodeClass"),
        *_parts(f"class {name}", loaded.documents, "nodeClasses", name),
    )
    words = merge_declared_class(mapping(find(loaded.node, "nodeClasses"))[name], defaults)
    objects = _objects(manifests, "EC2NodeClass", name)
    return BlueprintItem(("nodeClasses", name), "", merge_schema.CLASS, parts, words, objects, name)


def build_overlay_item(loaded: LoadedBlueprint, name: str, manifests: Sequence[Manifest]) -> BlueprintItem:
    """Return an overlay under `nodeOverlays`."""
    parts = _parts(f"overlay {name}", loaded.documents, "nodeOverlays", name)
    words = mapping(find(loaded.node, "nodeOverlays"))[name]
    objects = _objects(manifests, "NodeOverlay", name)
    return BlueprintItem(("nodeOverlays", name), "", ANY, parts, words, objects, name)


def _pool(
    layers: LayeredPool,
    tier: str,
    parts: list[LayerPart],
    target: TargetCluster,
    manifests: Sequence[Manifest],
) -> BlueprintItem:
    built_in = mapping(build_built_in_layer(target))
    lowest = [
        LayerPart("cluster" if key == "zones" else "built-in", Located({key: node}, node.at))
        for key, node in built_in.items()
    ]
    own = [LayerPart(part.layer, _flat(part.node)) for part in parts]
    said = dict(mapping(layers.words_and_nulls))
    if profile := find_profile_reference(layers.own):
        said["profile"] = profile
    classes = [part.node for part in _below(parts, "nodeClass")]
    if classes and not isinstance((named := merge_all(classes, merge_schema.CLASS)).value, dict):
        said["nodeClass"] = named
    words = Located(said, layers.words_and_nulls.at, layers.words_and_nulls.key)
    objects = [*_objects(manifests, "NodePool", layers.name), *_sharing(manifests, layers.path)]
    path = ("pools", layers.pool)
    return BlueprintItem(path, tier, merge_schema.TIER, (*lowest, *own), words, tuple(objects), layers.name)


def _class_of(
    loaded: LoadedBlueprint,
    layers: LayeredPool,
    tier: str,
    parts: list[LayerPart],
    manifests: Sequence[Manifest],
) -> BlueprintItem | None:
    name, words = layers.class_name, layers.class_words
    if words is None:
        declared = mapping(find(loaded.node, "nodeClasses")).get(name)
        return (
            None if declared is None or declared.value is None else build_class_item(loaded, name, manifests)
        )
    path = ("pools", layers.pool, *(("tiers", tier) if tier and name == layers.name else ()), "nodeClass")
    objects = _objects(manifests, "EC2NodeClass", name)
    return BlueprintItem(path, "", merge_schema.CLASS, tuple(parts), words, objects, name)


def _parts(layer: str, files: Sequence[Located], *path: str) -> tuple[LayerPart, ...]:
    found = (find(file, *path) for file in files)
    return tuple(LayerPart(layer, node) for node in found if node is not None)


def _below(parts: Sequence[LayerPart], key: str) -> list[LayerPart]:
    found = ((part.layer, find(part.node, key)) for part in parts)
    return [LayerPart(layer, node) for layer, node in found if node is not None]


def _tier_parts(parts: Sequence[LayerPart], tier: str) -> Iterator[LayerPart]:
    for part in parts:
        node = find(part.node, "tiers", tier)
        if node is not None:
            yield LayerPart(f"tier {tier}" if part.layer == "pool" else f"{part.layer}, tier {tier}", node)


def _flat(node: Located) -> Located:
    """Return a pool's words without its tiers, and without a class of its own: that is an item by itself."""
    if not isinstance(node.value, dict):
        return node
    own = isinstance(getattr(find(node, "nodeClass"), "value", None), dict)
    gone = ("tiers", "nodeClass") if own else ("tiers",)
    return Located({key: item for key, item in node.value.items() if key not in gone}, node.at, node.key)


def _name(profile: Located) -> str:
    return text_at(profile, "metadata", "name")


def _objects(manifests: Sequence[Manifest], kind: str, name: str) -> tuple[Manifest, ...]:
    return tuple(each for each in manifests if each.ref == (kind, name))


def _sharing(manifests: Sequence[Manifest], path: str) -> Iterator[Manifest]:
    return (each for each in manifests if each.ref.kind == "NodeOverlay" and each.path == path)
