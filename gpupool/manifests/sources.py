"""Paths to the files behind them: folders are walked, and what is passed over is named with its reason."""

from __future__ import annotations

import os
import stat
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from gpupool.codes import Code
from gpupool.findings import Finding, Location
from gpupool.yamlio.decoding import MAX_MANIFEST_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

STDIN = "-"
ENDINGS = (".yaml", ".yml", ".json")
_KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFDIR: "a folder"}
_OPEN_FILES = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
"""Where a shell puts `<(command)`: somebody writes to such a pipe already."""


class SkipReason(StrEnum):
    """Why a file or a document was passed over."""

    ENDING = "not .yaml, .yml or .json"
    HIDDEN = "hidden folder"
    LINKED_FOLDER = "symbolic link to a folder"
    READ_ALREADY = "already read"
    HELM_TEMPLATE = "Helm template"
    NO_OBJECT = "not a Kubernetes object"
    OVERLAY = "blueprint without a name"
    UNREADABLE = "unreadable"


class SkippedFile(NamedTuple):
    """A file, folder or document that nothing is said about."""

    at: Location
    reason: SkipReason


class ManifestFile(NamedTuple):
    """A file to read."""

    path: str
    is_named: bool
    """It was named itself, not found in a folder."""

    @property
    def name(self) -> str:
        """Return the path as it can be shown."""
        return to_printable(self.path)

    @property
    def is_chart_template(self) -> bool:
        """Return whether the file lies in the `templates` folder of a Helm chart."""
        folders = () if self.is_named else Path(self.path).parents
        return any(f.name == "templates" and (f.parent / "Chart.yaml").is_file() for f in folders)


ManifestSource: TypeAlias = ManifestFile | SkippedFile | Finding


def find_files(paths: Iterable[str]) -> Iterator[ManifestSource]:
    """Yield the files behind `paths` in their order, folders sorted by name, each file once."""
    seen: set[str] = set()
    for path in paths:
        for found in _behind(path):
            if isinstance(found, ManifestFile):
                real = found.path if found.path == STDIN else os.path.realpath(found.path)
                if real in seen:
                    yield SkippedFile(Location(found.name), SkipReason.READ_ALREADY)
                    continue
                seen.add(real)
            yield found


def read_bytes(path: str, stdin: Callable[[], bytes]) -> bytes | Finding:
    """Return what a file holds, or why it can't be read; of a file that is too large, enough to refuse it."""
    try:
        return stdin() if path == STDIN else _content(path)
    except (OSError, ValueError) as problem:
        return _unreadable(path, problem)


def to_printable(path: str) -> str:
    """Return a path as it can be shown: a name that is no UTF-8 gets a mark in place of each bad byte."""
    return path.encode(errors="surrogateescape").decode(errors="replace")


def _behind(path: str) -> Iterator[ManifestSource]:
    if path == STDIN:
        yield ManifestFile(path, is_named=True)
        return
    try:
        is_folder = stat.S_ISDIR(os.stat(path).st_mode)  # noqa: PTH116 - Path takes no name for the folder `.`
    except (OSError, ValueError) as problem:  # a ValueError is a name that no file can have
        yield _unreadable(path, problem)
        return
    if is_folder:
        yield from _walk(path)
    else:
        yield ManifestFile(path, is_named=True)


def _walk(folder: str) -> Iterator[ManifestSource]:
    """Yield what a folder holds; links to folders are not followed, so there are no loops."""
    entries, problem = _entries(folder)
    yield from problem
    while entries:
        entry = entries.pop()
        path = entry.path.removeprefix("./")
        if not entry.is_dir(follow_symlinks=False):
            yield _file(entry, path)
        elif entry.name.startswith("."):
            yield SkippedFile(Location(to_printable(path)), SkipReason.HIDDEN)
        else:
            inner, problem = _entries(entry.path)
            yield from problem
            entries += inner


def _entries(folder: str) -> tuple[list[os.DirEntry[str]], list[Finding]]:
    """Return the entries of a folder, the first by name at the end, or why there are none."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name, reverse=True), []
    except OSError as problem:
        return [], [_unreadable(folder, problem, "folder")]


def _file(entry: os.DirEntry[str], path: str) -> ManifestSource:
    if entry.is_symlink() and Path(path).is_dir():
        return SkippedFile(Location(to_printable(path)), SkipReason.LINKED_FOLDER)
    if entry.name.lower().endswith(ENDINGS):
        return ManifestFile(path, is_named=False)
    return SkippedFile(Location(to_printable(path)), SkipReason.ENDING)


def _content(path: str) -> bytes:
    if path.startswith(_OPEN_FILES):
        with Path(path).open("rb") as file:
            return file.read(MAX_MANIFEST_BYTES + 1)
    # Without O_NONBLOCK, to open a pipe that nobody writes to would wait for ever.
    with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        kind = stat.S_IFMT(os.fstat(file.fileno()).st_mode)
        if kind != stat.S_IFREG:
            message = f"it is {_KINDS.get(kind, 'a device')}, not a regular file"
            raise OSError(0, message)
        return file.read(MAX_MANIFEST_BYTES + 1)


def _unreadable(path: str, problem: Exception, kind: str = "file") -> Finding:
    reason = getattr(problem, "strerror", None) or str(problem)
    fix = "check the path and its permissions; `-` reads from standard input"
    at = Location(to_printable(path))
    return Finding(Code.MANIFEST_UNREADABLE, f"can't read the {kind}: {reason}", at, fix)
