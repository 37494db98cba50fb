"""The path that somebody asks for: keys may hold dots and slashes, and stand in brackets or quotes."""

import re
from collections.abc import Collection, Iterator

from gpupool.blueprint.merge import as_map
from gpupool.provenance.chain import child_kind
from gpupool.provenance.items import BlueprintItem
from gpupool.provenance.values import Path
from gpupool.yamlio.located import Located, find, items, mapping, text_at

_BRACKETED = re.compile(r"""\.?\[(?:"([^"]*)"|'([^']*)'|([^\]"']*))\]""")


class UnknownFieldError(Exception):
    """A key that is not there: below what, and which ones are."""

    def __init__(self, path: Path, key: str, known: Collection[str]) -> None:
        super().__init__(key)
        self.path = path
        self.key = key
        self.known = tuple(known)


def split_name(text: str) -> tuple[str, str]:
    """Split a name off the path behind it; names hold no dots."""
    if match := _BRACKETED.match(text):
        return next(filter(None, match.groups()), ""), text[match.end() :]
    name = re.match(r"[^.\[]*", text)
    end = name.end() if name else 0
    return text[:end], text[end:]


def parse_field_path(item: BlueprintItem, text: str) -> Path:
    """Read a path of words, each key the longest that some layer, or the rendered object, has there.

    Raises:
        UnknownFieldError: where a key is nowhere.
    """
    path: Path = ()
    while text:
        key, text = _step(text, path, find_keys(item, path))
        path = (*path, key)
    return path


def parse_rendered_path(item: BlueprintItem, text: str) -> Path:
    """Read a path in the item's rendered object.

    Raises:
        UnknownFieldError: where a key is not in it.
    """
    node, path = item.objects[0].body, Path()
    while text:
        key, text = _step(text, path, [*mapping(node), *map(str, range(len(items(node))))])
        step: str | int = int(key) if isinstance(node.value, list) else key
        node = items(node)[int(key)] if isinstance(node.value, list) else mapping(node)[key]
        path = (*path, step)
    return path


def _step(text: str, path: Path, known: Collection[str]) -> tuple[str, str]:
    """Take the next key off a text that goes on below `path`."""
    if match := _BRACKETED.match(text):
        key, rest = next((group for group in match.groups() if group is not None), ""), text[match.end() :]
        if key in known:
            return key, rest
        raise UnknownFieldError(path, key, known)
    text = text.removeprefix(".")
    fitting = [key for key in known if text == key or text.startswith((f"{key}.", f"{key}["))]
    if not fitting:
        # A label's key has dots of its own, so that all the rest may be one key.
        raise UnknownFieldError(path, text if "/" in text else split_name(text)[0], known)
    key = max(fitting, key=len)
    return key, text[len(key) :]


def find_keys(item: BlueprintItem, path: Path) -> list[str]:
    """Return the keys that some layer has below a path, and those that gpupool renders there by itself."""
    keys: dict[str, None] = {}
    for node in (item.words, *(part.node for part in item.parts)):
        keys |= dict.fromkeys(_keys(item, node, path))
    return list(keys | dict.fromkeys(_rendered_keys(item, path)))


def _keys(item: BlueprintItem, node: Located, path: Path) -> Iterator[str]:
    kind, here = item.kind, as_map(node, item.kind)
    for key in path:
        kind = child_kind(kind, str(key))
        below = mapping(here).get(str(key))
        if below is None:
            return
        here = as_map(below, kind)
    yield from mapping(here)


def _rendered_keys(item: BlueprintItem, path: Path) -> Iterator[str]:
    body = item.objects[0].body if item.objects else None
    if path == ("requirements",):
        yield from (text_at(each, "key") for each in _requirements(body))
    elif path:
        for rendered in find_rendered_paths(item, path):
            yield from mapping(find(body, *map(str, rendered)))
    elif item.objects and item.objects[0].ref.kind == "NodePool":
        yield from (word for word in _PLACES if find(body, *_PLACES[word], word) is not None)
    else:
        yield from mapping(find(body, "spec"))


def _requirements(body: Located | None) -> list[Located]:
    return items(find(body, *_TEMPLATE, "requirements"))


def find_rendered_paths(item: BlueprintItem, path: Path) -> Iterator[Path]:
    """Yield the paths in the rendered object of the same name as a word."""
    if not path or not item.objects:
        return
    body, key = item.objects[0].body, str(path[0])
    if item.objects[0].ref.kind != "NodePool":
        yield path if key == "metadata" else ("spec", *path)
    elif key == "requirements" and len(path) > 1:
        for index, each in enumerate(_requirements(body)):
            if text_at(each, "key") == path[1]:
                yield (*_TEMPLATE, "requirements", index)
    elif key in _PLACES:
        yield (*_PLACES[key], *path)


_TEMPLATE = ("spec", "template", "spec")
_PLACES: dict[str, tuple[str, ...]] = {
    "metadata": (),
    "labels": ("spec", "template", "metadata"),
    "annotations": ("spec", "template", "metadata"),
    **dict.fromkeys(
        ("requirements", "taints", "startupTaints", "expireAfter", "terminationGracePeriod"), _TEMPLATE
    ),
    **dict.fromkeys(("disruption", "limits", "weight", "replicas"), ("spec",)),
}
