"""Writing of rendered files into a folder: each file atomically, and no other file is changed."""

import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from gpupool.codes import Code
from gpupool.errors import InputError
from gpupool.findings import Finding, Location

MARK = "# Rendered by gpupool from "
"""The beginning of each rendered file; the blueprint's name follows."""

_UNFINISHED = ".gpupool-unfinished"
"""The suffix of a temporary file; one that a killed run left is removed by the next run."""

OWN_PATHS = (
    "kustomization.yaml", "ec2nodeclasses/*.yaml", "nodeoverlays/*.yaml", "nodepools/*.yaml", "values/*.yaml"
)  # fmt: skip
"""The paths of rendered files; files elsewhere are never removed, even if they begin with the mark."""


class FolderResult(NamedTuple):
    """The numbers of files that were written, removed and left unchanged."""

    written: int
    removed: int
    unchanged: int


def write_files(files: Mapping[str, str], folder: Path, name: str) -> FolderResult:
    """Write the files of the blueprint `name` into a folder, and remove those that it no longer renders.

    Raises:
        InputError: before anything is written, where a file would be overwritten that is not from this
            blueprint.
    """
    if conflicts := list(_find_conflicts(files, folder, name)):
        raise InputError(conflicts)
    changed = [path for path, text in files.items() if read_content(folder / path) != text.encode()]
    for path in changed:
        write_atomically(folder / path, files[path])
    _remove_unfinished({(folder / path).parent for path in files})
    removed = find_left_over(files, folder, name)
    for path in removed:
        with _reporting_os_errors(folder / path, "remove"):
            (folder / path).unlink()
    return FolderResult(len(changed), len(removed), len(files) - len(changed))


def _remove_unfinished(parents: Iterable[Path]) -> None:
    for parent in parents:
        for path in parent.glob(f".*{_UNFINISHED}"):
            with _reporting_os_errors(path, "remove"):
                path.unlink(missing_ok=True)


def find_stale(files: Mapping[str, str], folder: Path, name: str) -> list[str]:
    """Return the paths that differ from `files`, do not exist, or are left over from an earlier render."""
    differing = [path for path, text in files.items() if read_content(folder / path) != text.encode()]
    return sorted([*differing, *find_left_over(files, folder, name)])


def find_left_over(files: Mapping[str, str], folder: Path, name: str) -> list[str]:
    """Return the files in `folder` that the blueprint `name` no longer renders."""
    candidates = {path.relative_to(folder).as_posix(): path for path in _find_rendered_files(folder)}
    return sorted(
        file for file, path in candidates.items() if file not in files and _read_owner(path) == name
    )


def _find_rendered_files(folder: Path) -> Iterator[Path]:
    """Yield the files at the paths of rendered files; links are not followed."""
    for path in (match for pattern in OWN_PATHS for match in sorted(folder.glob(pattern))):
        if not path.is_symlink() and (path.parent == folder or not path.parent.is_symlink()):
            yield path


def _find_conflicts(files: Mapping[str, str], folder: Path, name: str) -> Iterator[Finding]:
    if folder.exists() and not folder.is_dir():
        yield Finding(
            Code.IN_THE_WAY, "this is a file, not a folder", Location(str(folder)), "use another folder"
        )
        return
    for parent in sorted({(folder / path).parent for path in files}):
        if parent != folder and (parent.is_symlink() or (parent.exists() and not parent.is_dir())):
            message = "gpupool writes into this folder, but it is a link or a file"
            yield Finding(Code.IN_THE_WAY, message, Location(str(parent)), "move it away")
    for path in files:
        target = folder / path
        if (target.exists() or target.is_symlink()) and (target.is_symlink() or _read_owner(target) != name):
            message = f"this file was not rendered from the blueprint `{name}`, so it is not overwritten"
            yield Finding(
                Code.IN_THE_WAY, message, Location(str(target)), "move it away, or render into another folder"
            )


def _read_owner(path: Path) -> str:
    """Return the name of the blueprint that a file is rendered from, or an empty text."""
    if not path.is_file():  # opening a named pipe would block
        return ""
    try:
        with path.open("rb") as file:
            line = file.readline(1024).decode("utf-8", "replace").rstrip("\r\n")
    except OSError:
        return ""
    return line.removeprefix(MARK) if line.startswith(MARK) else ""


def read_content(path: Path) -> bytes | None:
    """Return the content of a file, or None where it does not exist.

    Raises:
        InputError: where the file cannot be read.
    """
    with _reporting_os_errors(path, "read"):
        return path.read_bytes() if path.is_file() else None


def write_atomically(target: Path, content: str | bytes, *, is_private: bool = False) -> None:
    """Write a file atomically: a reader sees either the old content or the new.

    The file gets the default mode of new files, whatever its old mode; only the owner can read a private
    file and the folders that are created for it.

    Raises:
        InputError: where the file cannot be written.
    """
    with _reporting_os_errors(target, "write"):
        _create_folders(target.parent, 0o700 if is_private else 0o777)
        mode = 0o600 if is_private else 0o666
        _write_and_move(target, content.encode() if isinstance(content, str) else content, mode)


def _create_folders(folder: Path, mode: int) -> None:
    """Create a folder and its missing parents with a mode."""
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    for parent in reversed(missing):
        parent.mkdir(mode, exist_ok=True)


@contextmanager
def _reporting_os_errors(path: Path, verb: str) -> Iterator[None]:
    """Convert an OSError to an InputError at the file."""
    try:
        yield
    except OSError as problem:
        message = f"can't {verb} it: {problem.strerror or problem}"
        raise InputError([Finding(Code.UNWRITABLE, message, Location(str(path)))]) from None


def _write_and_move(target: Path, content: bytes, mode: int) -> None:
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}{_UNFINISHED}")
    # A new file, so that it has its mode before the first byte, and no other process has it open.
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
