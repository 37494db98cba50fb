"""The chain of one value: what each layer says of it, and what became of that."""

from collections.abc import Iterator
from typing import NamedTuple

from gpupool.blueprint.merge import ANY, MergeKind, as_map
from gpupool.provenance.items import BlueprintItem, LayerPart
from gpupool.provenance.values import LayerOutcome, LayerValue, Origin, Path, masked
from gpupool.yamlio.located import Located, place, plain


class ChainLink(NamedTuple):
    """A value and the word that says it."""

    node: Located
    path: Path
    is_atomic: bool = True
    """Whether it is one value even where it is a map."""


def find_origin(item: BlueprintItem, path: Path) -> Origin:
    """Tell where the value of a word came from; what it was rendered to is not said yet."""
    here = find_effective(item, path)
    word = path if here is None else here.path
    found = _said(item, word)
    chain = [_outcome(each, part, here, is_last=part is found[-1][1]) for each, part in found]
    is_made = here is not None and here.node.value is not None and not any(map(_is_in_force, chain))
    if here is not None and is_made:
        chain = [
            said._replace(outcome=LayerOutcome.REPLACED) if said.value is not None else said for said in chain
        ]
        chain.append(_made(here))
    home = item.path
    if item.tier and (is_made or any(f"tier {item.tier}" in said.layer for said in chain)):
        home = (*home, "tiers", item.tier)
    return Origin((*home, *word), None if here is None else masked(plain(here.node), word), tuple(chain))


def find_effective(item: BlueprintItem, path: Path) -> ChainLink | None:
    """Return the value that counts, of this word or of another one that reaches the same field."""
    found = walk(item.words, path, item.kind)
    if found is not None and found.path:
        return found
    targets = _targets(item, path)
    for word, target in item.kind.find_targets(item.words) if item.kind.find_targets else ():
        if target in targets:
            return walk(item.words, word, item.kind)
    return None


def walk(node: Located, path: Path, kind: MergeKind) -> ChainLink | None:
    """Follow a path of words; ends early at what stands for the whole: a scalar, a list, a constraint.

    None where the node does not speak of the path.
    """
    for index, key in enumerate(path):
        node = as_map(node, kind)
        if not isinstance(node.value, dict):
            return ChainLink(node, path[:index])
        below = node.value.get(str(key))
        if below is None:
            return None
        if is_atomic(kind, str(key)):
            return ChainLink(below, path[: index + 1])
        node, kind = below, child_kind(kind, str(key))
    return ChainLink(as_map(node, kind), path, is_atomic=False)


def is_atomic(kind: MergeKind, key: str) -> bool:
    """Return whether the value under a key is one value, even where it is a map."""
    return kind.all_atomic or key in kind.atomic


def child_kind(kind: MergeKind, key: str) -> MergeKind:
    """Return how the map under a key merges."""
    return kind.fields.get(key) or kind.entries or ANY


def _said(item: BlueprintItem, path: Path) -> list[tuple[ChainLink, LayerPart]]:
    """Return what each part says of a value, the lowest first."""
    targets = _targets(item, path)
    return [(each, part) for part in item.parts for each in _of_part(item, part, path, targets)]


def _of_part(item: BlueprintItem, part: LayerPart, path: Path, targets: set[str]) -> Iterator[ChainLink]:
    own = walk(part.node, path, item.kind)
    if own is not None:
        yield own
    words = item.kind.find_targets(part.node) if item.kind.find_targets else ()
    seen: set[Path] = {path} if own is None else {path, own.path}
    for word, target in words:
        if target in targets and word not in seen and word != path[: len(word)]:
            seen.add(word)
            other = walk(part.node, word, item.kind)
            if other is not None:
                yield other


def _targets(item: BlueprintItem, path: Path) -> set[str]:
    """Return the fields and label keys that a word reaches, in whatever part it stands."""
    if item.kind.find_targets is None:
        return set()
    nodes = [item.words, *(part.node for part in item.parts)]
    found = {
        target for node in nodes for word, target in item.kind.find_targets(node) if word == path[: len(word)]
    }
    return found or {target for _, target in item.kind.find_targets(_alone(path, item.words))}


def _alone(path: Path, cause: Located) -> Located:
    """Return a word that nobody says as if somebody did."""
    node = Located("", cause.at)
    for key in reversed(path):
        node = Located({str(key): node}, cause.at)
    return node


def _outcome(found: ChainLink, part: LayerPart, here: ChainLink | None, *, is_last: bool) -> LayerValue:
    node, counts = found.node, here.node if here is not None else None
    are_maps = counts is not None and isinstance(counts.value, dict) and isinstance(node.value, dict)
    if node.value is None:
        outcome = LayerOutcome.REMOVES
    elif counts is not None and node.at == counts.at and node.value == counts.value:
        outcome = LayerOutcome.WINS
    elif are_maps and not found.is_atomic:
        outcome = LayerOutcome.MERGED
    else:
        outcome = LayerOutcome.NO_EFFECT if is_last else LayerOutcome.REPLACED
    note = "" if node.note == part.layer else node.note
    return LayerValue(part.layer, found.path, place(node), masked(plain(node), found.path), outcome, note)


def _made(here: ChainLink) -> LayerValue:
    """Return what gpupool itself puts in a word's place, such as a tier's weight."""
    layer, _, note = here.node.note.partition(": ")
    value = masked(plain(here.node), here.path)
    return LayerValue(layer or "built-in", here.path, place(here.node), value, LayerOutcome.WINS, note)


def _is_in_force(said: LayerValue) -> bool:
    return said.outcome in (LayerOutcome.WINS, LayerOutcome.MERGED)
