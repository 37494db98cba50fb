"""Unified diff between a rendered folder and a new rendering, without sensitive values."""

from __future__ import annotations

from difflib import unified_diff
from typing import TYPE_CHECKING, Final

from gpupool.planning.masking import blank_sensitive_values
from gpupool.rendering.folder import find_stale, read_content
from gpupool.yamlio.located import plain
from gpupool.yamlio.read import read
from gpupool.yamlio.write import dump

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from gpupool.rendering.render import Rendered

_HIDDEN: Final = "  only comments, formatting or sensitive values differ"


def folder_diff(rendered: Rendered, folder: Path) -> Iterator[str]:
    """Yield the lines of a unified diff from a folder to a rendering; no lines where it is up to date.

    Both sides are YAML without comments, with a mark in place of each sensitive value.

    Raises:
        InputError: where a file can't be read.
    """
    files = rendered.files()
    for path in find_stale(files, folder, rendered.name):
        old, new = read_content(folder / path), files.get(path)
        sides = (
            _format_file(rendered.sensitive, path, "" if old is None else old.decode("utf-8", "replace")),
            _format_file(rendered.sensitive, path, new or ""),
        )
        names = (f"a/{path}" if old is not None else "/dev/null", f"b/{path}" if new else "/dev/null")
        lines = [*unified_diff(*sides, *names, lineterm="")]
        yield from lines or [f"--- {names[0]}", f"+++ {names[1]}", _HIDDEN]


def _format_file(sensitive: Sequence[str], path: str, text: str) -> list[str]:
    if not text:
        return []
    parsed = read(text.encode(), path)
    if parsed.node is None or parsed.findings:
        return ["(not readable as YAML)"]
    return dump(blank_sensitive_values(sensitive, plain(parsed.node))).splitlines()
