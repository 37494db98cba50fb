"""Put rendered files into a folder, whole or not at all for each file, and touch nothing else."""

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
"""The beginning of each file that gpupool writes; the blueprint's name follows."""

_UNFINISHED = ".gpupool-unfinished"
"""The end of a file's name while it is written; a killed run may leave one, and the next takes it away."""

OWN_PATHS = (
    "kustomization.yaml", "ec2nodeclasses/*.yaml", "nodeoverlays/*.yaml", "nodepools/*.yaml", "values/*.yaml"
)  # fmt: skip
"""Where an older render can have left files; what stands elsewhere is never removed, whatever its head."""


class FolderResult(NamedTuple):
    """How many files of a folder were written, removed, and left as they were."""

    wrote: int
    removed: int
    unchanged: int


def write_files(files: Mapping[str, str], folder: Path, name: str) -> FolderResult:
    """Make `folder` hold exactly `files` of the blueprint `name`, beside whatever else is in it.

    Files that an earlier render of the same blueprint left and that are no longer made are removed.

    Raises:
        InputError: before anything is written, where a file that gpupool did not write is in the way.
    """
    if in_the_way := list(_in_the_way(files, folder, name)):
        raise InputError(in_the_way)
    wrote = [path for path, text in files.items() if read_content(folder / path) != text.encode()]
    for path in wrote:
        write_atomically(folder / path, files[path])
    _remove_unfinished({(folder / path).parent for path in files})
    removed = find_left_over(files, folder, name)
    for path in removed:
        with _refusals(folder / path, "remove"):
            (folder / path).unlink()
    return FolderResult(len(wrote), len(removed), len(files) - len(wrote))


def _remove_unfinished(parents: Iterable[Path]) -> None:
    for parent in parents:
        for path in parent.glob(f".*{_UNFINISHED}"):
            with _refusals(path, "remove"):
                path.unlink(missing_ok=True)


def find_stale(files: Mapping[str, str], folder: Path, name: str) -> list[str]:
    """Return the paths that differ from `files`, are missing, or are left over from an earlier render."""
    differing = [path for path, text in files.items() if read_content(folder / path) != text.encode()]
    return sorted([*differing, *find_left_over(files, folder, name)])


def find_left_over(files: Mapping[str, str], folder: Path, name: str) -> list[str]:
    """Return the files of the blueprint `name` in `folder` that it no longer makes."""
    candidates = {path.relative_to(folder).as_posix(): path for path in _yaml_files(folder)}
    return sorted(place for place, path in candidates.items() if place not in files and _owner(path) == name)


def _yaml_files(folder: Path) -> Iterator[Path]:
    """Yield the files where gpupool writes its own; links are never followed."""
    for path in (found for pattern in OWN_PATHS for found in sorted(folder.glob(pattern))):
        if not path.is_symlink() and (path.parent == folder or not path.parent.is_symlink()):
            yield path


def _in_the_way(files: Mapping[str, str], folder: Path, name: str) -> Iterator[Finding]:
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
        if (target.exists() or target.is_symlink()) and (target.is_symlink() or _owner(target) != name):
            message = f"this file was not rendered from the blueprint `{name}`, so it is not overwritten"
            yield Finding(
                Code.IN_THE_WAY, message, Location(str(target)), "move it away, or render into another folder"
            )


def _owner(path: Path) -> str:
    """Return the name of the blueprint that a file was rendered from, or an empty text."""
    if not path.is_file():  # opening a named pipe would wait for ever
        return ""
    try:
        with path.open("rb") as file:
            line = file.readline(1024).decode("utf-8", "replace").rstrip("\r\n")
    except OSError:
        return ""
    return line.removeprefix(MARK) if line.startswith(MARK) else ""


def read_content(path: Path) -> bytes | None:
    """Return what a file holds; None where there is none.

    Raises:
        InputError: where the system does not let us.
    """
    with _refusals(path, "read"):
        return path.read_bytes() if path.is_file() else None


def write_atomically(target: Path, content: str | bytes, *, is_private: bool = False) -> None:
    """Write beside the target and move into place, so that a reader sees the old file or the new one.

    Whatever mode the old file has, the new one has that of a file that was just made, by the umask; a private
    one, and folders that are made for it, are for their owner alone.

    Raises:
        InputError: where the system does not let us.
    """
    with _refusals(target, "write"):
        _make_folders(target.parent, 0o700 if is_private else 0o777)
        mode = 0o600 if is_private else 0o666
        _write_and_move(target, content.encode() if isinstance(content, str) else content, mode)


def _make_folders(folder: Path, mode: int) -> None:
    """Make a folder with those above it; those that are there stay as they are."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode, exist_ok=True)


@contextmanager
def _refusals(path: Path, verb: str) -> Iterator[None]:
    """Turn the system's refusal into an error that names the file."""
    try:
        yield
    except OSError as problem:
        message = f"can't {verb} it: {problem.strerror or problem}"
        raise InputError([Finding(Code.UNWRITABLE, message, Location(str(path)))]) from None


def _write_and_move(target: Path, content: bytes, mode: int) -> None:
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}{_UNFINISHED}")
    # Made anew, so that the mode is that of the first byte on and nobody else has it open.
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
