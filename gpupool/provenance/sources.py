"""Sources of rendered values: the blueprint field behind each leaf of an object."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from gpupool.blueprint.pool import BlueprintDisruption, PoolFields
from gpupool.findings import Location
from gpupool.provenance.chain import child_kind, is_atomic
from gpupool.provenance.items import BlueprintItem
from gpupool.provenance.values import Path, Rendering, mask
from gpupool.yamlio.located import Located, leaves, plain

_HEAD: tuple[Path, ...] = (("apiVersion",), ("kind",), ("metadata", "name"))
_WINDOWS: tuple[Path, ...] = tuple(
    (PoolFields.disruption.key, row.key)
    for row in (BlueprintDisruption.protect, BlueprintDisruption.maintenance)
)
"""Fields that are compiled as a whole: a budget follows from several settings of several windows."""

_CLASS_REFERENCE: Path = tuple(PoolFields.node_class_ref.to.split("."))


@dataclass(slots=True)
class Sources:
    """The fields of one item and of `cluster`, by location."""

    item: BlueprintItem
    cluster: BlueprintItem
    _fields: dict[tuple[Location, str], tuple[BlueprintItem, Path]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for item in (self.item, self.cluster):
            for path, node in _nodes(item.fields):
                self._fields.setdefault((node.at, node.note), (item, _field_path(item, path)))

    def find_source(self, path: Path, node: Located) -> tuple[BlueprintItem, Path]:
        """Return the field that a leaf of an object is rendered from, or the item where there is none."""
        if path in _HEAD:
            return self.item, ()
        if (
            path[: len(_CLASS_REFERENCE)] == _CLASS_REFERENCE
            and PoolFields(self.item.fields).node_class_ref is None
        ):
            reference = PoolFields(self.item.fields).node_class.node
            return self.item, () if reference is None else (PoolFields.node_class.key,)
        source = self._fields.get((node.at, node.note)) or self._fields.get((node.at, ""))
        return source or (self.item, ())

    def leaves(self, below: Path) -> Iterator[tuple[Path, Located]]:
        """Yield each leaf of the item's own object below a path; without a path, of all its objects."""
        for manifest in self.item.objects[: 1 if below else None]:
            yield from (pair for pair in leaves(manifest.body) if _is_under(below, pair[0]))

    def find_renderings(
        self, source: tuple[BlueprintItem, Path], below: Sequence[Path] = ()
    ) -> Iterator[Rendering]:
        """Yield the parts of the item's objects that a field is rendered to, optionally only below paths."""

        def is_rendered_from_source(path: Path, node: Located) -> bool:
            if self.find_source(path, node) != source:
                return False
            return not below or any(_is_under(parent, path) for parent in below)

        for manifest in self.item.objects[: 1 if below else None]:
            name = str(manifest.ref)
            for path, node in _largest_parts(manifest.body, (), is_rendered_from_source):
                notes = dict.fromkeys(leaf.note for _, leaf in leaves(node) if leaf.note)
                yield Rendering(name, path, mask(plain(node), path), tuple(notes))


def _is_under(above: Path, path: Path) -> bool:
    return path[: len(above)] == above


def _largest_parts(
    node: Located, path: Path, matches: Callable[[Path, Located], bool]
) -> Iterator[tuple[Path, Located]]:
    """Yield the largest parts of a body all of whose leaves match, except maps with a single key."""
    is_worth_a_line = not isinstance(node.value, dict) or len(node.value) != 1
    if is_worth_a_line and all(matches((*path, *inner), leaf) for inner, leaf in leaves(node)):
        yield path, node
    else:
        for key, item in _children(node):
            yield from _largest_parts(item, (*path, key), matches)


def _nodes(node: Located, path: Path = ()) -> Iterator[tuple[Path, Located]]:
    yield path, node
    for key, item in _children(node):
        yield from _nodes(item, (*path, key))


def _children(node: Located) -> Iterable[tuple[str | int, Located]]:
    if isinstance(node.value, dict):
        return node.value.items()
    return enumerate(node.value) if isinstance(node.value, list) else ()


def _field_path(item: BlueprintItem, path: Path) -> Path:
    """Return a path up to the first value that is replaced as a whole: a list, a constraint, a selector."""
    if path[:2] in _WINDOWS:
        return path[:2]
    kind = item.kind
    for index, key in enumerate(path):
        if isinstance(key, int):
            return path[:index]
        if is_atomic(kind, key):
            return path[: index + 1]
        kind = child_kind(kind, key)
    return path
