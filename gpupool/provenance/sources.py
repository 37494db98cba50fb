"""Which word each leaf of a rendered object stands for."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from gpupool.findings import Location
from gpupool.provenance.chain import is_whole, kind_below
from gpupool.provenance.items import BlueprintItem
from gpupool.provenance.values import Path, Rendering, masked
from gpupool.yamlio.located import Located, find, leaves, plain

_HEAD: tuple[Path, ...] = (("apiVersion",), ("kind",), ("metadata", "name"))
_CLASS_REFERENCE: Path = ("spec", "template", "spec", "nodeClassRef")


@dataclass(slots=True)
class Sources:
    """The words of one item and of `cluster` by their places."""

    item: BlueprintItem
    cluster: BlueprintItem
    _words: dict[tuple[Location, str], tuple[BlueprintItem, Path]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for item in (self.item, self.cluster):
            for path, node in _nodes(item.words):
                self._words.setdefault((node.at, node.note), (item, _word(item, path)))

    def of(self, path: Path, node: Located) -> tuple[BlueprintItem, Path]:
        """Return the word that a leaf of an object stands for; the item itself where it is no word's."""
        if path in _HEAD:
            return self.item, ()
        if (
            path[: len(_CLASS_REFERENCE)] == _CLASS_REFERENCE
            and find(self.item.words, "nodeClassRef") is None
        ):
            named = find(self.item.words, "nodeClass")
            return self.item, () if named is None else ("nodeClass",)
        source = self._words.get((node.at, node.note)) or self._words.get((node.at, ""))
        return source or (self.item, ())

    def leaves(self, below: Path) -> Iterator[tuple[Path, Located]]:
        """Yield each leaf of the item's own object under a path; of all its objects without one."""
        for manifest in self.item.objects[: 1 if below else None]:
            yield from (pair for pair in leaves(manifest.body) if _is_under(below, pair[0]))

    def renderings(
        self, source: tuple[BlueprintItem, Path], below: Sequence[Path] = ()
    ) -> Iterator[Rendering]:
        """Yield the parts of the item's objects that a word became; `below` narrows them."""

        def is_its(path: Path, node: Located) -> bool:
            return self.of(path, node) == source and (not below or any(_is_under(one, path) for one in below))

        for manifest in self.item.objects[: 1 if below else None]:
            name = str(manifest.ref)
            for path, node in _parts(manifest.body, (), is_its):
                notes = dict.fromkeys(leaf.note for _, leaf in leaves(node) if leaf.note)
                yield Rendering(name, path, masked(plain(node), path), tuple(notes))


def _is_under(above: Path, path: Path) -> bool:
    return path[: len(above)] == above


def _parts(
    node: Located, path: Path, is_its: Callable[[Path, Located], bool]
) -> Iterator[tuple[Path, Located]]:
    """Yield the largest parts of a body all of whose leaves are the word's; no map with a single key."""
    is_worth_a_line = not isinstance(node.value, dict) or len(node.value) != 1
    if is_worth_a_line and all(is_its((*path, *inner), leaf) for inner, leaf in leaves(node)):
        yield path, node
    else:
        for key, item in _children(node):
            yield from _parts(item, (*path, key), is_its)


def _nodes(node: Located, path: Path = ()) -> Iterator[tuple[Path, Located]]:
    yield path, node
    for key, item in _children(node):
        yield from _nodes(item, (*path, key))


def _children(node: Located) -> Iterable[tuple[str | int, Located]]:
    if isinstance(node.value, dict):
        return node.value.items()
    return enumerate(node.value) if isinstance(node.value, list) else ()


def _word(item: BlueprintItem, path: Path) -> Path:
    """Cut a path where one value begins: a list, a constraint, a selector."""
    kind = item.kind
    for index, key in enumerate(path):
        if isinstance(key, int):
            return path[:index]
        if is_whole(kind, key):
            return path[: index + 1]
        kind = kind_below(kind, key)
    return path
