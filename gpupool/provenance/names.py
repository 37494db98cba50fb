"""Names of a blueprint's pools and fields, read without checking the blueprint, for shell completion."""

from collections.abc import Iterator, Sequence

from gpupool.blueprint import merge_schema
from gpupool.blueprint.load import Loaded, read_file
from gpupool.blueprint.merge import merge_all
from gpupool.findings import Location
from gpupool.provenance.field_path import keys_below
from gpupool.provenance.items import BlueprintItem, node_class, node_overlay, node_pools
from gpupool.provenance.values import Path
from gpupool.shapes.error_messages import format_path
from gpupool.yamlio.located import Located, find, mapping

_SECTIONS = {"nodeClasses": node_class, "nodeOverlays": node_overlay}


def read_unchecked(files: Sequence[str]) -> Loaded:
    """Read and merge blueprint files as far as they are YAML.

    The checks of `blueprint.load` take longer than a person waits for a list of names, and while a file is
    being written it is seldom without a mistake.
    """
    nodes = [node for file in files if (node := read_file(file, [])) is not None]
    whole = merge_all(nodes, merge_schema.BLUEPRINT) if nodes else Located({}, Location(""))
    return Loaded(whole, tuple(files), (), tuple(nodes))


def pool_names(loaded: Loaded) -> list[str]:
    """Return the names of the pools and of the NodePools of their tiers, in the order of the files."""
    names: dict[str, None] = {}
    for pool in _declared(loaded, "pools"):
        names |= dict.fromkeys([pool, *(each.pool.name for each in node_pools(loaded, pool, ()))])
    return list(names)


def field_paths(loaded: Loaded, pool: str) -> list[str]:
    """Return a pool, or one of its NodePools, and its fields, as in `chat.limits.gpus`."""
    owners = [each for each in _declared(loaded, "pools") if pool == each or pool.startswith(f"{each}-")]
    paths: dict[str, None] = {}
    for item, below in ((item, below) for owner in owners for item, below in _items(loaded, owner, pool)):
        paths |= dict.fromkeys(format_path((pool, *below, *path)) for path in _paths(item))
    return list(paths)


def section_paths(loaded: Loaded) -> list[str]:
    """Return the declared classes and overlays, and their fields, as in `nodeClasses.shared.ami`."""
    return [
        format_path((section, name, *path))
        for section, make in _SECTIONS.items()
        for name in _declared(loaded, section)
        for path in _paths(make(loaded, name, ()))
    ]


def _items(loaded: Loaded, owner: str, pool: str) -> Iterator[tuple[BlueprintItem, Path]]:
    for each in node_pools(loaded, owner, ()):
        if pool in (owner, each.pool.name):
            yield each.pool, ()
            if each.node_class is not None:
                yield each.node_class, ("nodeClass",)


def _paths(item: BlueprintItem, path: Path = ()) -> Iterator[Path]:
    """Yield a path and those of all fields below it, each before what is inside it."""
    yield path
    for key in keys_below(item, path):
        yield from _paths(item, (*path, key))


def _declared(loaded: Loaded, section: str) -> list[str]:
    return [name for name, node in mapping(find(loaded.node, section)).items() if node.value is not None]
