"""Start of the single file: unpack it once into the user's cache, and run gpupool from there.

It is `__main__.py` of the file and runs each time, so it imports no more than it needs. Compiled modules
cannot be imported from a zip file; the folder that they are unpacked to is named after the contents.
"""

import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator

WRONG_PYTHON, NO_CACHE = 64, 1
_OWNER_WRITES, _ROOT = 0o755, 0
_OTHERS_WRITE = 0o022
_ARCHIVE = os.path.dirname(__file__)  # noqa: PTH120 - pathlib takes as long to import as all else here


def main() -> NoReturn:
    """Run gpupool from the unpacked packages."""
    # Images often forbid it for all Python programs; this folder is a cache, and bytecode a part of it.
    sys.dont_write_bytecode = False
    digest, built_for = _read("built").decode().split()
    if EXTENSION_SUFFIXES[0] != built_for:
        _stop(
            WRONG_PYTHON,
            f"{_ARCHIVE} was built for another Python (compiled modules end in {built_for});"
            f" {sys.executable} is Python {sys.version.split()[0]} ({EXTENSION_SUFFIXES[0]})."
            " Run the file with a Python as it was built with, or build it again with this one",
        )
    problems: list[str] = []
    folder = _unpacked(digest, problems)
    if not folder:
        reasons = "; ".join(problems)
        _stop(NO_CACHE, f"cannot unpack {_ARCHIVE}: {reasons}; set XDG_CACHE_HOME to a writable folder")
    sys.path[0] = folder
    from gpupool.__main__ import run

    run()


def _unpacked(digest: str, problems: list[str]) -> str:
    """Return the folder of the packages in the first cache folder that can be used; empty for none."""
    for base in _bases():
        folder = f"{base}/{digest}"
        try:
            os.makedirs(base, mode=_OWNER_WRITES, exist_ok=True)  # noqa: PTH103 - as above
            if _is_open_to_others(base):
                problems.append(f"other users can write to {base}")
                continue
            if not os.path.isdir(folder):  # noqa: PTH112 - as above
                _unpack(folder)
        except OSError as error:
            problems.append(f"{base}: {error.strerror}")
        else:
            return folder
    return ""


def _bases() -> "Iterator[str]":
    """Yield the folders to try: the user's cache, then a folder of the user's among the temporary files."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - as above
    yield f"{cache}/gpupool/single-file"
    import tempfile

    yield f"{tempfile.gettempdir()}/gpupool-single-file-{os.getuid()}"


def _is_open_to_others(folder: str) -> bool:
    """Return whether another user than root could put code into a folder: anybody can make one in /tmp."""
    status = os.stat(folder, follow_symlinks=False)  # noqa: PTH116 - as above
    return status.st_uid not in {_ROOT, os.getuid()} or bool(status.st_mode & _OTHERS_WRITE)


def _unpack(folder: str) -> None:
    """Unpack beside `folder` and rename, so that two first runs at once see a whole folder or none."""
    import io
    import shutil
    from zipfile import ZipFile

    draft = f"{folder}.{os.getpid()}"
    try:
        ZipFile(io.BytesIO(_read("packages.zip"))).extractall(draft)
        os.rename(draft, folder)  # noqa: PTH104 - as above
    except OSError:
        if not os.path.isdir(folder):  # noqa: PTH112 - as above
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _read(name: str) -> bytes:
    loader: Any = __spec__.loader
    data: bytes = loader.get_data(f"{_ARCHIVE}/{name}")
    return data


def _stop(code: int, message: str) -> NoReturn:
    sys.stderr.write(f"error: {message}\n")
    sys.exit(code)


if __name__ == "__main__":
    main()
