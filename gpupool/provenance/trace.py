"""Answer where the value of a field of a pool came from."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from gpupool.blueprint.load import Loaded
from gpupool.blueprint.merge import MergeKind, as_map
from gpupool.errors import UsageError
from gpupool.objects import Manifest
from gpupool.provenance import field_path as paths
from gpupool.provenance.chain import in_the_end, is_whole, kind_below, origin
from gpupool.provenance.field_path import UnknownFieldError
from gpupool.provenance.items import BlueprintItem, PoolItem, cluster, node_class, node_overlay, node_pools
from gpupool.provenance.sources import Sources
from gpupool.provenance.values import LayerOutcome, LayerValue, Origin, Path, Provenance
from gpupool.shapes.compiled import Model
from gpupool.shapes.error_messages import find_close_match, format_path, list_keys
from gpupool.yamlio.located import Located, find, mapping, place

_SECTIONS = {"nodeClasses": node_class, "nodeOverlays": node_overlay}
_LAYERS = {"pools": "pool", "nodeClasses": "class", "nodeOverlays": "overlay"}
_MODELS = {
    "pools": Model("gpupool.blueprint.pool", "BlueprintPool"),
    "nodeClasses": Model("gpupool.blueprint.nodeclass", "BlueprintNodeClass"),
    "nodeOverlays": Model("gpupool.blueprint.model", "BlueprintNodeOverlay"),
}


class _Question(NamedTuple):
    """A path of words of one item, or of its rendered object."""

    item: BlueprintItem
    path: Path
    is_rendered: bool


def trace(loaded: Loaded, manifests: Sequence[Manifest], asked: str) -> Provenance:
    """Tell where a field came from: `chat.limits.gpus`, `chat-spot.spec.limits`, `chat.nodeClass.ami`.

    `manifests` is what the blueprint renders to. A map is told leaf by leaf; the NodePools of a pool with
    tiers are told together where all is the same.

    Raises:
        UsageError: for a pool or a field that is not there, with the nearest name and what there is.
    """
    questions = list(_questions(loaded, manifests, asked))
    base = cluster(loaded)
    found = [each for question in questions for each in _origins(question, base)]
    return Provenance(asked, tuple(_together(found)))


def _questions(loaded: Loaded, manifests: Sequence[Manifest], asked: str) -> Iterator[_Question]:
    section, rest = paths.first_name(asked)
    if section in _SECTIONS:
        name, rest = paths.first_name(rest.removeprefix("."))
        known = _named(loaded, section)
        if name not in known:
            raise UsageError(_unknown(f"`{section}` has no", name, known))
        question = _question(_SECTIONS[section](loaded, name, manifests), rest)
        yield from [] if question is None else [question]
        return
    name, rest = paths.first_name(rest.removeprefix(".")) if section == "pools" else (section, rest)
    yield from _of_pools(_pools(loaded, manifests, name), rest)


def _pools(loaded: Loaded, manifests: Sequence[Manifest], name: str) -> list[PoolItem]:
    """Return the NodePools of a pool, or the one of that name."""
    names = _named(loaded, "pools")
    if name in names:
        return list(node_pools(loaded, name, manifests))
    owners = [pool for pool in names if name.startswith(f"{pool}-")]
    all_found = [each for pool in owners for each in node_pools(loaded, pool, manifests)]
    found = [each for each in all_found if each.pool.name == name]
    if not found:
        known = [*names, *(each.ref.name for each in manifests if each.ref.kind == "NodePool")]
        raise UsageError(_unknown("this blueprint has no pool", name, list(dict.fromkeys(known))))
    return found


def _of_pools(pools: Sequence[PoolItem], rest: str) -> Iterator[_Question]:
    """Answer for each NodePool that has the field; a mistake where none has it."""
    key, behind = paths.first_name(rest.removeprefix("."))
    if key == "tiers" and any(each.pool.tier for each in pools):
        tier, rest = paths.first_name(behind.removeprefix("."))
        tiers = [each.pool.tier for each in pools]
        if tier and tier not in tiers:
            raise UsageError(_unknown("this pool has no tier", tier, tiers))
        pools = [each for each in pools if tier in ("", each.pool.tier)]
    problems: list[UsageError] = []
    answered = False
    for each in pools:
        try:
            question = _of_pool(each, rest)
        except UsageError as problem:
            problems.append(problem)
            continue
        answered = True
        if question is not None:
            yield question
    if problems and not answered:
        raise problems[0]


def _of_pool(each: PoolItem, rest: str) -> _Question | None:
    key, behind = paths.first_name(rest.removeprefix("."))
    if key == "nodeClass" and each.node_class is not None and (behind or not _names_class(each.pool)):
        return _question(each.node_class, behind)
    return _question(each.pool, rest)


def _names_class(pool: BlueprintItem) -> bool:
    return find(pool.words, "nodeClass") is not None


def _question(item: BlueprintItem, rest: str) -> _Question | None:
    """Read the rest of the path; None where it is a word, but one that nobody says."""
    try:
        return _Question(item, paths.word_path(item, rest), is_rendered=False)
    except UnknownFieldError as problem:
        first = problem
    if item.objects:
        try:
            return _Question(item, paths.rendered_path(item, rest), is_rendered=True)
        except UnknownFieldError as problem:
            first = problem if problem.path else first
    sayable = _sayable(item, first.path)
    if first.key in sayable:
        return None
    where = format_path((*item.path, *first.path))
    raise UsageError(_unknown(f"`{where}` has no", first.key, first.known, sayable))


def _sayable(item: BlueprintItem, path: Path) -> list[str]:
    """Return the words that a blueprint may have there."""
    inside = "nodeClasses" if item.path[-1] == "nodeClass" else item.path[0]
    return list_keys(_MODELS[inside].load(), path)


def _origins(question: _Question, base: BlueprintItem) -> list[Origin]:
    """Tell of each word under the path, and of each that something rendered under it stands for."""
    item, path, is_rendered = question
    sources = Sources(item, base)
    words = [] if is_rendered else _leaf_words(item, path)
    below = [path] if is_rendered else list(paths.rendered_as(item, path))

    def is_asked(source: tuple[BlueprintItem, Path]) -> bool:
        return (
            not is_rendered and source[0] is item and (source[1] in words or source[1][: len(path)] == path)
        )

    # A map that is one value to gpupool, such as a window, is rendered as a whole.
    made = [source for leaf in sources.leaves(()) if is_asked(source := sources.of(*leaf))]
    made += [sources.of(*leaf) for one in (below if path else [()]) for leaf in sources.leaves(one)]
    found: list[Origin] = []
    for source in _once([*((item, word) for word in words), *made]):
        told = _root(item) if source == (item, ()) else origin(*source)
        where = sources.renderings(source, () if is_asked(source) else below)
        found.append(told._replace(renderings=tuple(where)))
    return _telling(found)


def _once(sources: Sequence[tuple[BlueprintItem, Path]]) -> list[tuple[BlueprintItem, Path]]:
    return list({(source[0].path, source[1]): source for source in sources}.values())


def _telling(origins: list[Origin]) -> list[Origin]:
    """Leave out what nobody says, and the one word inside a map that is told as a whole."""
    whole = {each.path for each in origins if each.renderings}

    def is_told_above(each: Origin) -> bool:
        return any(each.path[:length] in whole for length in range(1, len(each.path)))

    return [
        each
        for each in origins
        if each.renderings or (each.chain and not (len(each.chain) == 1 and is_told_above(each)))
    ]


def _root(item: BlueprintItem) -> Origin:
    """Tell of the parts that no word says: the object's kind and its name."""
    path = (*item.path, "tiers", item.tier) if item.tier else item.path
    layer, note = _LAYERS[item.path[0]], "its name, and fields derived from it"
    return Origin(
        path, item.name, (LayerValue(layer, (), place(item.words), item.name, LayerOutcome.WINS, note),)
    )


def _leaf_words(item: BlueprintItem, path: Path) -> list[Path]:
    """Return the words under a path that any layer says, each by the word that counts in the end."""
    found: dict[Path, None] = {}
    for node in (item.words, *(part.node for part in item.parts)):
        for word in _leaves(node, item.kind, ()):
            if word[: len(path)] == path or path[: len(word)] == word:
                found[word] = None
    told: dict[Path, None] = {}
    for word in found or {path: None}:
        here = in_the_end(item, word)
        if here is None or here.is_whole or not mapping(here.node):
            told[word if here is None else here.path] = None
    return list(told)


def _leaves(node: Located, kind: MergeKind, path: Path) -> Iterator[Path]:
    here = as_map(node, kind)
    if not mapping(here):
        yield path
    for key, item in mapping(here).items():
        if is_whole(kind, key):
            yield (*path, key)
        else:
            yield from _leaves(item, kind_below(kind, key), (*path, key))


def _together(origins: Sequence[Origin]) -> list[Origin]:
    """Put together what is told of several NodePools in the same words."""
    found: dict[str, Origin] = {}
    for each in origins:
        key = repr((each.path, each.value, each.chain))
        first = found.get(key)
        if first is None:
            found[key] = each
        else:
            more = [one for one in each.renderings if one not in first.renderings]
            found[key] = first._replace(renderings=(*first.renderings, *more))
    return list(found.values())


def _named(loaded: Loaded, section: str) -> list[str]:
    return [name for name, node in mapping(find(loaded.node, section)).items() if node.value is not None]


def _unknown(where: str, name: str, known: Collection[str], more: Collection[str] = ()) -> str:
    near = find_close_match(name, [*known, *more])
    hint = f"did you mean `{near}`? " if near else ""
    return f"{where} `{name}`; {hint}available: {', '.join(known) or 'none'}"
