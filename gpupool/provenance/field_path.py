"""Parsing of field paths: keys can contain dots and slashes, and be in brackets or quotes."""

import re
from collections.abc import Collection, Iterator

from gpupool.blueprint.constraint import RequirementEntry
from gpupool.blueprint.merge import as_map
from gpupool.blueprint.pool import PoolFields
from gpupool.provenance.chain import child_kind
from gpupool.provenance.items import BlueprintItem
from gpupool.provenance.values import Path
from gpupool.yamlio.located import Located, find, items, mapping, text_of

_BRACKETED = re.compile(r"""\.?\[(?:"([^"]*)"|'([^']*)'|([^\]"']*))\]""")
_REQUIREMENTS = PoolFields.requirements
_RENDERED = {key: tuple(row.to.split(".")) for key, row in PoolFields.rows.items() if row.to}
"""The path in a NodePool of each field that it has."""

_SPEC = ("spec",)


class UnknownFieldError(Exception):
    """A key that does not exist below a path, with the available keys."""

    def __init__(self, path: Path, key: str, available: Collection[str]) -> None:
        super().__init__(key)
        self.path = path
        self.key = key
        self.available = tuple(available)


def split_name(text: str) -> tuple[str, str]:
    """Split a name from the path after it; names contain no dots."""
    if match := _BRACKETED.match(text):
        return next(filter(None, match.groups()), ""), text[match.end() :]
    name = re.match(r"[^.\[]*", text)
    end = name.end() if name else 0
    return text[:end], text[end:]


def parse_field_path(item: BlueprintItem, text: str) -> Path:
    """Parse a path of fields; each key is the longest one that a layer or the rendered object contains.

    Raises:
        UnknownFieldError: for a key that does not exist.
    """
    path: Path = ()
    while text:
        key, text = _split_key(text, path, find_keys(item, path))
        path = (*path, key)
    return path


def parse_rendered_path(item: BlueprintItem, text: str) -> Path:
    """Parse a path in the item's rendered object.

    Raises:
        UnknownFieldError: for a key that does not exist in it.
    """
    node, path = item.objects[0].body, Path()
    while text:
        key, text = _split_key(text, path, [*mapping(node), *map(str, range(len(items(node))))])
        step: str | int = int(key) if isinstance(node.value, list) else key
        node = items(node)[int(key)] if isinstance(node.value, list) else mapping(node)[key]
        path = (*path, step)
    return path


def _split_key(text: str, path: Path, available: Collection[str]) -> tuple[str, str]:
    """Split the next key from a text, given the keys that exist below `path`."""
    if match := _BRACKETED.match(text):
        key, rest = next((group for group in match.groups() if group is not None), ""), text[match.end() :]
        if key in available:
            return key, rest
        raise UnknownFieldError(path, key, available)
    text = text.removeprefix(".")
    matches = [key for key in available if text == key or text.startswith((f"{key}.", f"{key}["))]
    if not matches:
        # Label keys contain dots, so the whole rest can be one key.
        raise UnknownFieldError(path, text if "/" in text else split_name(text)[0], available)
    key = max(matches, key=len)
    return key, text[len(key) :]


def find_keys(item: BlueprintItem, path: Path) -> list[str]:
    """Return the keys that a layer sets below a path, and those that gpupool renders there by itself."""
    keys: dict[str, None] = {}
    for node in (item.fields, *(part.node for part in item.parts)):
        keys |= dict.fromkeys(_keys(item, node, path))
    return list(keys | dict.fromkeys(_rendered_keys(item, path)))


def _keys(item: BlueprintItem, node: Located, path: Path) -> Iterator[str]:
    kind, current = item.kind, as_map(node, item.kind)
    for key in path:
        kind = child_kind(kind, str(key))
        below = mapping(current).get(str(key))
        if below is None:
            return
        current = as_map(below, kind)
    yield from mapping(current)


def _rendered_keys(item: BlueprintItem, path: Path) -> Iterator[str]:
    body = item.objects[0].body if item.objects else None
    if path == (_REQUIREMENTS.key,):
        yield from (text_of(entry.label) for entry in _requirements(body))
    elif path:
        for rendered in find_rendered_paths(item, path):
            yield from mapping(find(body, *map(str, rendered)))
    elif item.objects and item.objects[0].ref.kind == "NodePool":
        yield from (field for field, rendered in _RENDERED.items() if find(body, *rendered) is not None)
    else:
        yield from mapping(find(body, *_SPEC))


def _requirements(body: Located | None) -> list[RequirementEntry]:
    return [RequirementEntry(item) for item in items(find(body, *_RENDERED[_REQUIREMENTS.key]))]


def find_rendered_paths(item: BlueprintItem, path: Path) -> Iterator[Path]:
    """Yield the paths in the rendered object that correspond to a field."""
    if not path or not item.objects:
        return
    body, key = item.objects[0].body, str(path[0])
    if item.objects[0].ref.kind != "NodePool":
        yield path if key == "metadata" else (*_SPEC, *path)
    elif key == _REQUIREMENTS.key and len(path) > 1:
        for index, entry in enumerate(_requirements(body)):
            if text_of(entry.label) == path[1]:
                yield (*_RENDERED[key], index)
    elif key in _RENDERED:
        yield (*_RENDERED[key], *path[1:])
