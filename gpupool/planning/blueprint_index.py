"""Index of a blueprint's values by location: the layer and the field that each one is set in.

Plans name the lines that cause a change. The index is built only for a plan that has changes, in one walk
over the blueprint files and the profiles that they use.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from gpupool.blueprint.model import Blueprint, Defaults
from gpupool.blueprint.pool import BlueprintDisruption, BlueprintPool, PoolFields, TieredPoolFields
from gpupool.profiles.load import SHIPPED, Profiles
from gpupool.profiles.model import Profile
from gpupool.yamlio.located import find, mapping, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gpupool.blueprint.load import LoadedBlueprint
    from gpupool.findings import Location
    from gpupool.yamlio.located import Located

FieldPath: TypeAlias = tuple[str, ...]

NODE_CLASS: Final = PoolFields.node_class.key
_POOLS, _CLASSES, _OVERLAYS = Blueprint.pools.key, Blueprint.node_classes.key, Blueprint.node_overlays.key
_DEFAULTS, _CLUSTER = Blueprint.defaults.key, Blueprint.cluster.key
_TIERS, _POOL = TieredPoolFields.tiers.key, Defaults.pool.key
_SECTIONS: Final = {_CLASSES: "class", _OVERLAYS: "overlay"}


_WINDOWS: Final = tuple(
    (PoolFields.disruption.key, row.key)
    for row in (BlueprintDisruption.protect, BlueprintDisruption.maintenance)
)
"""Fields that are compiled as a whole."""


class Owner(NamedTuple):
    """The item of the blueprint that an object is rendered from."""

    section: str
    """`pools`, `nodeClasses` or `nodeOverlays`."""

    name: str
    tier: str = ""
    is_class: bool = False
    """Whether the object is the node class of a pool."""

    @classmethod
    def parse(cls, path: str) -> Owner:
        """Parse a path such as `pools.chat.tiers.spot.nodeClass`."""
        section, name, *rest = path.split(".")
        tier = rest[1] if rest[:1] == [_TIERS] else ""
        return cls(section, name, tier, rest[-1:] == [NODE_CLASS])


class IndexedValue(NamedTuple):
    """A value in a file, with its layer and its field."""

    layer: str
    """`cluster`, `defaults`, `profile NAME`, `pool`, `tier NAME`, `class NAME`, `overlay NAME` or
    `blueprint`."""

    home: str
    """The name of the pool, class or overlay that sets it; empty for other layers."""

    field: FieldPath
    """The path in its item, up to the first list."""

    node: Located
    """The value of the field; for an item of a list, the list."""


class Layer(NamedTuple):
    """The fields that one layer sets in one file."""

    name: str
    node: Located


@dataclass
class BlueprintIndex:
    """The values of a blueprint and its profiles, by location and by field; built when it is first used.

    The profiles are read at once: the folders that they may be in are known only to the thread that has read
    the blueprint, and plans are made by several.
    """

    loaded: LoadedBlueprint
    _profiles: Profiles = field(init=False)

    def __post_init__(self) -> None:
        """Read the profiles."""
        self._profiles = Profiles(self.loaded.files)
        for reference in self._find_references():
            self._lineage(reference)

    def find_values(self, at: Location) -> Sequence[IndexedValue]:
        """Return the values at a location; a YAML alias makes several of one."""
        return self._by_location.get(at, ())

    def find_layers(self, owner: Owner) -> tuple[Layer, ...]:
        """Return the layers of an item, the lowest first."""
        return tuple(self._layers_of(owner))

    def find_profile(self, owner: Owner) -> Located | None:
        """Return the `profile` of the pool that an item belongs to."""
        if owner.section != _POOLS:
            return None
        effective = find_effective(self._pool_layers(owner), (BlueprintPool.profile.key,))
        return None if effective is None or not effective[1].value else effective[1]

    def find_cluster(self) -> tuple[Layer, ...]:
        """Return the `cluster` of each file."""
        return tuple(_layers("cluster", self.loaded.documents, _CLUSTER))

    @cached_property
    def name(self) -> Located | None:
        """The blueprint's `metadata.name`."""
        return self.loaded.blueprint.metadata.name

    @cached_property
    def _by_location(self) -> dict[Location, list[IndexedValue]]:
        values: dict[Location, list[IndexedValue]] = {}
        for value, at in self._walk_all():
            values.setdefault(at, []).append(value)
        return values

    def _walk_all(self) -> Iterator[tuple[IndexedValue, Location]]:
        for document in self.loaded.documents:
            for key, node in mapping(document).items():
                yield from _walk_section(key, node)
        profiles = {
            base.at.file: base for reference in self._find_references() for base in self._lineage(reference)
        }
        for profile in profiles.values():
            yield from _walk_defaults(profile, f"profile {_profile_name(profile)}")

    def _find_references(self) -> Iterator[Located]:
        for document in self.loaded.documents:
            for pool in Blueprint(document).pools.values():
                if pool.profile is not None:
                    yield pool.profile

    def _lineage(self, reference: Located | None) -> list[Located]:
        if reference is None or not reference.value:
            return []
        return self._profiles.find_lineage(reference)

    def _layers_of(self, owner: Owner) -> Iterator[Layer]:
        if owner.section == _OVERLAYS:
            yield from _layers(f"overlay {owner.name}", self.loaded.documents, owner.section, owner.name)
        elif owner.section == _CLASSES:
            yield from _layers("defaults", self.loaded.documents, _DEFAULTS, NODE_CLASS)
            yield from _layers(f"class {owner.name}", self.loaded.documents, owner.section, owner.name)
        else:
            below = (NODE_CLASS,) if owner.is_class else ()
            section = NODE_CLASS if owner.is_class else _POOL
            yield from self._lower_layers(owner, section)
            pools = list(self._pool_layers(owner))
            yield from _below(pools, below)
            if owner.tier:
                base = [*self._lower_layers(owner, _POOL), *pools]
                tiers = [
                    Layer(_tier_name(layer.name, owner.tier), tier)
                    for layer in base
                    if (tier := find(layer.node, _TIERS, owner.tier)) is not None
                ]
                yield from _below(tiers, below)

    def _pool_layers(self, owner: Owner) -> Iterator[Layer]:
        return _layers("pool", self.loaded.documents, _POOLS, owner.name)

    def _lower_layers(self, owner: Owner, section: str) -> Iterator[Layer]:
        yield from _layers("defaults", self.loaded.documents, _DEFAULTS, section)
        for base in self._lineage(self.find_profile(owner)):
            yield from _layers(f"profile {_profile_name(base)}", [base], section)


def is_shipped(at: Location) -> bool:
    """Return whether a location is in a profile that gpupool ships."""
    return at.file.startswith(SHIPPED)


def find_effective(layers: Iterable[Layer], path: FieldPath) -> tuple[Layer, Located] | None:
    """Return the highest layer that sets a field, and its value, which may be null; None where none does."""
    for layer in reversed([*layers]):
        node: Located | None = layer.node
        for key in path:
            if node is None or not isinstance(node.value, dict):
                break
            node = node.value.get(key)
            if node is None or node.value is None:
                break
        else:
            if node is not None:
                return layer, node
            continue
        if node is not None and node.value is None:
            return layer, node
    return None


def _layers(name: str, files: Iterable[Located], *path: str) -> Iterator[Layer]:
    return (Layer(name, node) for file in files if (node := find(file, *path)) is not None)


def _below(layers: Iterable[Layer], path: FieldPath) -> Iterator[Layer]:
    for layer in layers:
        node = find(layer.node, *path)
        if node is not None and isinstance(node.value, dict):
            yield Layer(layer.name, node)


def _profile_name(profile: Located) -> str:
    return text_of(Profile(profile).metadata.name)


def _tier_name(layer: str, tier: str) -> str:
    return f"tier {tier}" if layer == "pool" else f"{layer}, tier {tier}"


def _walk_section(key: str, node: Located) -> Iterator[tuple[IndexedValue, Location]]:
    """Yield the values of a field of the blueprint itself, such as `pools`."""
    if key == _POOLS:
        for name, pool in mapping(node).items():
            yield from _walk_layer(pool, "pool", name)
    elif key in _SECTIONS:
        for name, item in mapping(node).items():
            yield from _walk(item, IndexedValue(f"{_SECTIONS[key]} {name}", name, (), item))
    elif key == _DEFAULTS:
        yield from _walk_defaults(node, "defaults")
    else:
        yield from _walk(node, IndexedValue("cluster" if key == _CLUSTER else "blueprint", "", (key,), node))


def _walk_defaults(node: Located, layer: str) -> Iterator[tuple[IndexedValue, Location]]:
    for key, item in mapping(node).items():
        if key == _POOL:
            yield from _walk_layer(item, layer, "")
        elif key == NODE_CLASS:
            yield from _walk(item, IndexedValue(layer, "", (NODE_CLASS,), item))
        else:
            yield from _walk(item, IndexedValue(layer, "", (key,), item))


def _walk_layer(node: Located, layer: str, home: str) -> Iterator[tuple[IndexedValue, Location]]:
    """Yield the values of a pool; those of its tiers are layers of their own."""
    yield IndexedValue(layer, home, (), node), node.at
    for key, item in mapping(node).items():
        if key == _TIERS:
            for tier, fields in mapping(item).items():
                yield from _walk(fields, IndexedValue(_tier_name(layer, tier), home, (), fields))
        else:
            yield from _walk(item, IndexedValue(layer, home, (key,), item))


def _walk(node: Located, value: IndexedValue) -> Iterator[tuple[IndexedValue, Location]]:
    if value.field in _WINDOWS:
        yield from _walk_item(node, value)
        return
    yield value, node.at
    if isinstance(node.value, dict):
        for key, item in node.value.items():
            yield from _walk(item, value._replace(field=(*value.field, key), node=item))
    elif isinstance(node.value, list):
        for item in node.value:
            yield from _walk_item(item, value)


def _walk_item(node: Located, value: IndexedValue) -> Iterator[tuple[IndexedValue, Location]]:
    """Yield what is inside a list, all of it under the list's own field."""
    yield value, node.at
    for inner in node.value.values() if isinstance(node.value, dict) else _items(node):
        yield from _walk_item(inner, value)


def _items(node: Located) -> list[Located]:
    return node.value if isinstance(node.value, list) else []
