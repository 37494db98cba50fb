"""Short texts of blueprint values, as plans show them and inventories keep them.

A text is made of parts, one for each scalar and for each key of a map. Comparing the parts of an old text
with those of the new value shows which scalar changed, so that a plan names its line.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.blueprint.pool import BlueprintWindow
from gpupool.yamlio.located import items, mapping, place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupool.findings import Location
    from gpupool.yamlio.located import Located

_WINDOW: Final = tuple(BlueprintWindow.rows)
_NAMELESS: Final = frozenset(
    row.key for row in (BlueprintWindow.days, BlueprintWindow.hours, BlueprintWindow.timezone)
)
"""Fields of a window that its text shows without their names."""

_TIMES: Final = frozenset({BlueprintWindow.days.key, BlueprintWindow.hours.key})

_MOST: Final = 200
_CUT: Final = "… "
"""What a digest of the whole text follows in a text that was too long."""

_SEPARATORS: Final = re.compile(r"[ ,;]+")
_SPACES: Final = re.compile(r"[\s,;]+")


class _Part(NamedTuple):
    """A part of a text, and the value or key that it is of."""

    text: str
    node: Located | None
    before: str
    """What separates it from the part before."""


def format_input(node: Located) -> str:
    """Return the short text of a value: `sat 22:00-04:00 America/New_York`, `a100,h100`, `min 64Gi`."""
    text = "".join(part.before + part.text for part in _parts(node)).strip(" ,;")
    if len(text) <= _MOST:
        return text
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:8]
    return f"{text[: _MOST - 12]}{_CUT}{digest}"


def find_changed_places(node: Located, old: str) -> list[Location]:
    """Return the locations of the scalars that an old text lacks; where it has all, that of the value."""
    if _CUT in old:
        return [place(node)]
    parts = list(_parts(node))
    before = [part for part in _SEPARATORS.split(old) if part]
    if len(parts) == len(before):
        changed = [part for part, text in zip(parts, before, strict=True) if part.text != text]
    else:
        changed = [part for part in parts if part.text not in before]
    places = [place(part.node) for part in changed if part.node is not None]
    return list(dict.fromkeys(places)) or [place(node)]


def _parts(node: Located) -> Iterator[_Part]:
    if isinstance(node.value, list):
        is_of_maps = any(isinstance(item.value, dict) for item in node.value)
        for item in node.value:
            yield from _separated(item, "; " if is_of_maps else ",")
    elif isinstance(node.value, dict):
        if node.value.keys() & _TIMES and node.value.keys() <= {*_WINDOW}:
            yield from _window_parts(node)
        else:
            for key, item in node.value.items():
                yield _Part(_SPACES.sub("_", key), None, ", ")
                yield from _separated(item, " ")
    else:
        yield _Part(_scalar(node), node, " ")


def _window_parts(node: Located) -> Iterator[_Part]:
    fields = mapping(node)
    for key in _WINDOW:
        if key in fields and fields[key].value is not None:
            if key not in _NAMELESS:
                yield _Part(key, None, " ")
            for index, item in enumerate(items(fields[key]) or [fields[key]]):
                yield _Part(_scalar(item), item, "," if index else " ")


def _separated(node: Located, separator: str) -> Iterator[_Part]:
    for index, part in enumerate(_parts(node)):
        yield part if index else part._replace(before=separator)


def _scalar(node: Located) -> str:
    if node.value is None:
        return "null"
    if isinstance(node.value, bool):
        return str(node.value).lower()
    text = node.text if node.text and not isinstance(node.value, str) else str(node.value)
    return _SPACES.sub("_", text) or '""'
