"""Names of pools and fields for shell completion, read without checking the blueprint."""

from collections.abc import Iterator, Sequence

from gpupool.blueprint import merge_schema
from gpupool.blueprint.load import LoadedBlueprint, read_file
from gpupool.blueprint.merge import merge_all
from gpupool.findings import Location
from gpupool.provenance.field_path import find_keys
from gpupool.provenance.items import BlueprintItem, build_class_item, build_overlay_item, build_pool_items
from gpupool.provenance.values import Path
from gpupool.shapes.error_messages import format_path
from gpupool.yamlio.located import Located, find, mapping

_SECTIONS = {"nodeClasses": build_class_item, "nodeOverlays": build_overlay_item}


def read_unchecked(files: Sequence[str]) -> LoadedBlueprint:
    """Read and merge blueprint files without checking them.

    The checks of `blueprint.load` are too slow for shell completion, and a file that is being edited seldom
    passes them.
    """
    nodes = [node for file in files if (node := read_file(file, [])) is not None]
    merged = merge_all(nodes, merge_schema.BLUEPRINT) if nodes else Located({}, Location(""))
    return LoadedBlueprint(merged, tuple(files), (), tuple(nodes))


def pool_names(loaded: LoadedBlueprint) -> list[str]:
    """Return the names of the pools and of the NodePools of their tiers, in the order of the files."""
    names: dict[str, None] = {}
    for pool in _declared(loaded, "pools"):
        names |= dict.fromkeys([pool, *(item.pool.name for item in build_pool_items(loaded, pool, ()))])
    return list(names)


def field_paths(loaded: LoadedBlueprint, pool: str) -> list[str]:
    """Return the path of a pool or NodePool, and those of its fields, as in `chat.limits.gpus`."""
    owners = [name for name in _declared(loaded, "pools") if pool == name or pool.startswith(f"{name}-")]
    paths: dict[str, None] = {}
    for item, below in ((item, below) for owner in owners for item, below in _items(loaded, owner, pool)):
        paths |= dict.fromkeys(format_path((pool, *below, *path)) for path in _paths(item))
    return list(paths)


def section_paths(loaded: LoadedBlueprint) -> list[str]:
    """Return the paths of node classes and overlays, and of their fields, as in `nodeClasses.shared.ami`."""
    return [
        format_path((section, name, *path))
        for section, build_item in _SECTIONS.items()
        for name in _declared(loaded, section)
        for path in _paths(build_item(loaded, name, ()))
    ]


def _items(loaded: LoadedBlueprint, owner: str, pool: str) -> Iterator[tuple[BlueprintItem, Path]]:
    for item in build_pool_items(loaded, owner, ()):
        if pool in (owner, item.pool.name):
            yield item.pool, ()
            if item.node_class is not None:
                yield item.node_class, ("nodeClass",)


def _paths(item: BlueprintItem, path: Path = ()) -> Iterator[Path]:
    """Yield a path and the paths of all fields below it, parents first."""
    yield path
    for key in find_keys(item, path):
        yield from _paths(item, (*path, key))


def _declared(loaded: LoadedBlueprint, section: str) -> list[str]:
    return [name for name, node in mapping(find(loaded.node, section)).items() if node.value is not None]
