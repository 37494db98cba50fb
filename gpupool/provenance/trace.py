"""Tracing of field values to the layers of the blueprint that set them."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from gpupool.blueprint.load import LoadedBlueprint
from gpupool.blueprint.merge import MergeKind, as_map
from gpupool.blueprint.pool import PoolFields
from gpupool.errors import UsageError
from gpupool.objects import Manifest
from gpupool.provenance import field_path as paths
from gpupool.provenance.chain import child_kind, find_effective, find_origin, is_atomic
from gpupool.provenance.field_path import UnknownFieldError
from gpupool.provenance.items import (
    BlueprintItem,
    PoolItem,
    build_class_item,
    build_cluster_item,
    build_overlay_item,
    build_pool_items,
)
from gpupool.provenance.sources import Sources
from gpupool.provenance.values import LayerOutcome, LayerValue, Origin, Path, Provenance
from gpupool.shapes.compiled import Model
from gpupool.shapes.error_messages import find_close_match, format_path, list_keys
from gpupool.yamlio.located import Located, find, mapping, place

_SECTIONS = {"nodeClasses": build_class_item, "nodeOverlays": build_overlay_item}
_LAYERS = {"pools": "pool", "nodeClasses": "class", "nodeOverlays": "overlay"}
_MODELS = {
    "pools": Model("gpupool.blueprint.pool", "BlueprintPool"),
    "nodeClasses": Model("gpupool.blueprint.nodeclass", "BlueprintNodeClass"),
    "nodeOverlays": Model("gpupool.blueprint.model", "BlueprintNodeOverlay"),
}


class _Query(NamedTuple):
    """A field path in one item, or a path in its rendered object."""

    item: BlueprintItem
    path: Path
    is_rendered: bool


def trace(loaded: LoadedBlueprint, manifests: Sequence[Manifest], path: str) -> Provenance:
    """Find the origin of a field: `chat.limits.gpus`, `chat-spot.spec.limits`, `chat.nodeClass.ami`.

    `manifests` are the rendered objects of the blueprint. A map is traced leaf by leaf; equal origins of
    several NodePools of a pool are joined.

    Raises:
        UsageError: for an unknown pool or field, with the closest match and the available names.
    """
    queries = list(_find_queries(loaded, manifests, path))
    cluster = build_cluster_item(loaded)
    origins = [origin for query in queries for origin in _find_origins(query, cluster)]
    return Provenance(path, tuple(_join_equal(origins)))


def _find_queries(loaded: LoadedBlueprint, manifests: Sequence[Manifest], path: str) -> Iterator[_Query]:
    section, rest = paths.split_name(path)
    if section in _SECTIONS:
        name, rest = paths.split_name(rest.removeprefix("."))
        names = _section_names(loaded, section)
        if name not in names:
            raise UsageError(_unknown(f"`{section}` has no", name, names))
        query = _build_query(_SECTIONS[section](loaded, name, manifests), rest)
        yield from [] if query is None else [query]
        return
    name, rest = paths.split_name(rest.removeprefix(".")) if section == "pools" else (section, rest)
    yield from _build_pool_queries(_find_pools(loaded, manifests, name), rest)


def _find_pools(loaded: LoadedBlueprint, manifests: Sequence[Manifest], name: str) -> list[PoolItem]:
    """Return the NodePools of a pool, or the NodePool with that name."""
    names = _section_names(loaded, "pools")
    if name in names:
        return list(build_pool_items(loaded, name, manifests))
    owners = [pool for pool in names if name.startswith(f"{pool}-")]
    candidates = [item for pool in owners for item in build_pool_items(loaded, pool, manifests)]
    matches = [item for item in candidates if item.pool.name == name]
    if not matches:
        available = [*names, *(item.ref.name for item in manifests if item.ref.kind == "NodePool")]
        raise UsageError(_unknown("unknown pool", name, list(dict.fromkeys(available))))
    return matches


def _build_pool_queries(pools: Sequence[PoolItem], rest: str) -> Iterator[_Query]:
    """Yield a query for each NodePool that has the field.

    Raises:
        UsageError: where no NodePool has the field.
    """
    key, behind = paths.split_name(rest.removeprefix("."))
    if key == "tiers" and any(item.pool.tier for item in pools):
        tier, rest = paths.split_name(behind.removeprefix("."))
        tiers = [item.pool.tier for item in pools]
        if tier and tier not in tiers:
            raise UsageError(_unknown("unknown tier", tier, tiers))
        pools = [item for item in pools if tier in ("", item.pool.tier)]
    problems: list[UsageError] = []
    has_field = False
    for item in pools:
        try:
            query = _build_pool_query(item, rest)
        except UsageError as problem:
            problems.append(problem)
            continue
        has_field = True
        if query is not None:
            yield query
    if problems and not has_field:
        raise problems[0]


def _build_pool_query(item: PoolItem, rest: str) -> _Query | None:
    key, behind = paths.split_name(rest.removeprefix("."))
    if key == "nodeClass" and item.node_class is not None and (behind or not _names_class(item.pool)):
        return _build_query(item.node_class, behind)
    return _build_query(item.pool, rest)


def _names_class(pool: BlueprintItem) -> bool:
    return PoolFields(pool.fields).node_class.node is not None


def _build_query(item: BlueprintItem, rest: str) -> _Query | None:
    """Parse the rest of the path; None for a valid field that no layer sets."""
    try:
        return _Query(item, paths.parse_field_path(item, rest), is_rendered=False)
    except UnknownFieldError as problem:
        first = problem
    if item.objects:
        try:
            return _Query(item, paths.parse_rendered_path(item, rest), is_rendered=True)
        except UnknownFieldError as problem:
            first = problem if problem.path else first
    valid_fields = _find_valid_fields(item, first.path)
    if first.key in valid_fields:
        return None
    parent = format_path((*item.path, *first.path))
    raise UsageError(_unknown(f"`{parent}` has no", first.key, first.available, valid_fields))


def _find_valid_fields(item: BlueprintItem, path: Path) -> list[str]:
    """Return the fields that a blueprint can set below a path."""
    inside = "nodeClasses" if item.path[-1] == "nodeClass" else item.path[0]
    return list_keys(_MODELS[inside].load(), path)


def _find_origins(query: _Query, cluster: BlueprintItem) -> list[Origin]:
    """Return the origin of each field below the path, and of each field that is rendered below it."""
    item, path, is_rendered = query
    sources = Sources(item, cluster)
    fields = [] if is_rendered else _find_leaf_fields(item, path)
    below = [path] if is_rendered else list(paths.find_rendered_paths(item, path))

    def is_queried(source: tuple[BlueprintItem, Path]) -> bool:
        return (
            not is_rendered and source[0] is item and (source[1] in fields or source[1][: len(path)] == path)
        )

    # A map that is replaced as a whole, such as a window, is rendered as a whole.
    rendered = [source for leaf in sources.leaves(()) if is_queried(source := sources.find_source(*leaf))]
    for parent in below if path else [()]:
        rendered += [sources.find_source(*leaf) for leaf in sources.leaves(parent)]
    origins: list[Origin] = []
    for source in _unique([*((item, field) for field in fields), *rendered]):
        origin = _root_origin(item) if source == (item, ()) else find_origin(*source)
        renderings = sources.find_renderings(source, () if is_queried(source) else below)
        origins.append(origin._replace(renderings=tuple(renderings)))
    return _without_redundant(origins)


def _unique(sources: Sequence[tuple[BlueprintItem, Path]]) -> list[tuple[BlueprintItem, Path]]:
    return list({(source[0].path, source[1]): source for source in sources}.values())


def _without_redundant(origins: list[Origin]) -> list[Origin]:
    """Return the origins without fields that no layer sets, and without the single field of a listed map."""
    rendered = {origin.path for origin in origins if origin.renderings}

    def is_inside_rendered(origin: Origin) -> bool:
        return any(origin.path[:length] in rendered for length in range(1, len(origin.path)))

    return [
        origin
        for origin in origins
        if origin.renderings or (origin.chain and not (len(origin.chain) == 1 and is_inside_rendered(origin)))
    ]


def _root_origin(item: BlueprintItem) -> Origin:
    """Return the origin of the parts that no field sets: the object's kind and its name."""
    path = (*item.path, "tiers", item.tier) if item.tier else item.path
    layer, note = _LAYERS[item.path[0]], "its name, and fields derived from it"
    return Origin(
        path, item.name, (LayerValue(layer, (), place(item.fields), item.name, LayerOutcome.WINS, note),)
    )


def _find_leaf_fields(item: BlueprintItem, path: Path) -> list[Path]:
    """Return the fields below a path that any layer sets, each by its effective field."""
    candidates: dict[Path, None] = {}
    for node in (item.fields, *(part.node for part in item.parts)):
        for leaf in _leaves(node, item.kind, ()):
            if leaf[: len(path)] == path or path[: len(leaf)] == leaf:
                candidates[leaf] = None
    fields: dict[Path, None] = {}
    for candidate in candidates or {path: None}:
        effective = find_effective(item, candidate)
        if effective is None or effective.is_atomic or not mapping(effective.node):
            fields[candidate if effective is None else effective.path] = None
    return list(fields)


def _leaves(node: Located, kind: MergeKind, path: Path) -> Iterator[Path]:
    current = as_map(node, kind)
    if not mapping(current):
        yield path
    for key, item in mapping(current).items():
        if is_atomic(kind, key):
            yield (*path, key)
        else:
            yield from _leaves(item, child_kind(kind, key), (*path, key))


def _join_equal(origins: Sequence[Origin]) -> list[Origin]:
    """Join the equal origins of several NodePools, with all their renderings."""
    joined: dict[str, Origin] = {}
    for origin in origins:
        key = repr((origin.path, origin.value, origin.chain))
        first = joined.get(key)
        if first is None:
            joined[key] = origin
        else:
            more = [rendering for rendering in origin.renderings if rendering not in first.renderings]
            joined[key] = first._replace(renderings=(*first.renderings, *more))
    return list(joined.values())


def _section_names(loaded: LoadedBlueprint, section: str) -> list[str]:
    return [name for name, node in mapping(find(loaded.node, section)).items() if node.value is not None]


def _unknown(subject: str, name: str, available: Collection[str], more: Collection[str] = ()) -> str:
    match = find_close_match(name, [*available, *more])
    hint = f"did you mean `{match}`? " if match else ""
    return f"{subject} `{name}`; {hint}available: {', '.join(available) or 'none'}"
