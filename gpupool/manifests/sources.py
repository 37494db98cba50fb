"""Manifest files behind paths: folders are walked, skipped files are listed with the reason."""

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
"""Where a shell puts `<(command)`; such a pipe already has a writer."""


class SkipReason(StrEnum):
    """Why a file or a document was skipped."""

    ENDING = "not .yaml, .yml or .json"
    HIDDEN = "hidden folder"
    LINKED_FOLDER = "symbolic link to a folder"
    READ_ALREADY = "already read"
    HELM_TEMPLATE = "Helm template"
    NO_OBJECT = "not a Kubernetes object"
    OVERLAY = "blueprint without a name"
    UNREADABLE = "unreadable"


class SkippedFile(NamedTuple):
    """A skipped file, folder or document."""

    at: Location
    reason: SkipReason


class ManifestFile(NamedTuple):
    """A file to read."""

    path: str
    is_named: bool
    """Whether the user named it, as opposed to a file in a folder."""

    @property
    def name(self) -> str:
        """Return the path in printable form."""
        return to_printable(self.path)

    @property
    def is_chart_template(self) -> bool:
        """Return whether the file is in the `templates` folder of a Helm chart."""
        folders = () if self.is_named else Path(self.path).parents
        return any(f.name == "templates" and (f.parent / "Chart.yaml").is_file() for f in folders)


ManifestSource: TypeAlias = ManifestFile | SkippedFile | Finding


def find_files(paths: Iterable[str]) -> Iterator[ManifestSource]:
    """Find the files behind `paths` in their order, folders sorted by name, each file once."""
    seen: set[str] = set()
    for path in paths:
        for source in _find_behind(path):
            if isinstance(source, ManifestFile):
                real = source.path if source.path == STDIN else os.path.realpath(source.path)
                if real in seen:
                    yield SkippedFile(Location(source.name), SkipReason.READ_ALREADY)
                    continue
                seen.add(real)
            yield source


def read_bytes(path: str, stdin: Callable[[], bytes]) -> bytes | Finding:
    """Read a file, or return why it can't be read; a file that is too large is cut after the limit."""
    try:
        return stdin() if path == STDIN else _read_content(path)
    except (OSError, ValueError) as problem:
        return _build_unreadable(path, problem)


def to_printable(path: str) -> str:
    """Return a path in printable form, with a mark for each byte that is not valid UTF-8."""
    return path.encode(errors="surrogateescape").decode(errors="replace")


def _find_behind(path: str) -> Iterator[ManifestSource]:
    if path == STDIN:
        yield ManifestFile(path, is_named=True)
        return
    try:
        is_folder = stat.S_ISDIR(os.stat(path).st_mode)  # noqa: PTH116 - Path("") is the folder `.`
    except (OSError, ValueError) as problem:  # a ValueError is a name that no file can have
        yield _build_unreadable(path, problem)
        return
    if is_folder:
        yield from _walk(path)
    else:
        yield ManifestFile(path, is_named=True)


def _walk(folder: str) -> Iterator[ManifestSource]:
    """Yield the files in a folder; links to folders are not followed, so there are no loops."""
    entries, problem = _list_entries(folder)
    yield from problem
    while entries:
        entry = entries.pop()
        path = entry.path.removeprefix("./")
        if not entry.is_dir(follow_symlinks=False):
            yield _classify_entry(entry, path)
        elif entry.name.startswith("."):
            yield SkippedFile(Location(to_printable(path)), SkipReason.HIDDEN)
        else:
            inner, problem = _list_entries(entry.path)
            yield from problem
            entries += inner


def _list_entries(folder: str) -> tuple[list[os.DirEntry[str]], list[Finding]]:
    """Return the entries of a folder in descending order of name, or why it can't be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name, reverse=True), []
    except OSError as problem:
        return [], [_build_unreadable(folder, problem, "folder")]


def _classify_entry(entry: os.DirEntry[str], path: str) -> ManifestSource:
    if entry.is_symlink() and Path(path).is_dir():
        return SkippedFile(Location(to_printable(path)), SkipReason.LINKED_FOLDER)
    if entry.name.lower().endswith(ENDINGS):
        return ManifestFile(path, is_named=False)
    return SkippedFile(Location(to_printable(path)), SkipReason.ENDING)


def _read_content(path: str) -> bytes:
    if path.startswith(_OPEN_FILES):
        with Path(path).open("rb") as file:
            return file.read(MAX_MANIFEST_BYTES + 1)
    # Without O_NONBLOCK, opening a pipe without a writer would block for ever.
    with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        kind = stat.S_IFMT(os.fstat(file.fileno()).st_mode)
        if kind != stat.S_IFREG:
            message = f"it is {_KINDS.get(kind, 'a device')}, not a regular file"
            raise OSError(0, message)
        return file.read(MAX_MANIFEST_BYTES + 1)


def _build_unreadable(path: str, problem: Exception, kind: str = "file") -> Finding:
    reason = getattr(problem, "strerror", None) or str(problem)
    fix = "check the path and its permissions; `-` reads from standard input"
    at = Location(to_printable(path))
    return Finding(Code.MANIFEST_UNREADABLE, f"can't read the {kind}: {reason}", at, fix)
