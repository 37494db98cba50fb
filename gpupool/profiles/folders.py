"""Folders from which profiles and user data can be read.

A blueprint can be untrusted, as in a pull request. Findings quote profiles, and user data is rendered, so
paths in a blueprint must not give access to other files that the user can read.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FOLDER: Final = "profiles"
"""The folder of profiles in the working directory; allowed for blueprints in any folder."""

_STDIN: Final = "-"
_allowed: ContextVar[tuple[str, ...]] = ContextVar("allowed", default=())


@contextmanager
def allow_folders(folders: Iterable[str]) -> Iterator[None]:
    """Allow profiles in additional folders while the block runs."""
    token = _allowed.set((*_allowed.get(), *map(os.path.realpath, folders)))
    try:
        yield
    finally:
        _allowed.reset(token)


def is_allowed(file: str, beside: Iterable[str]) -> bool:
    """Return whether a profile can be read from a path, with the folders of `beside` allowed.

    Links are resolved. The file does not have to exist.
    """
    try:
        real = Path(os.path.realpath(file))
    except ValueError:  # an invalid file name
        return True
    return any(real.is_relative_to(folder) for folder in _folders(beside))


def is_allowed_user_data(file: str, blueprint: str) -> bool:
    """Return whether user data can be read from a path below the blueprint's or the working folder.

    Hidden files are not allowed: `.git/config` and `.env` contain credentials. Links are resolved. Folders
    that the user allows are allowed for user data as well.
    """
    try:
        real = Path(os.path.realpath(file))
    except ValueError:  # an invalid file name
        return True
    folders = (*_folders((blueprint,)), os.path.realpath(""))
    paths = [real.relative_to(folder) for folder in folders if real.is_relative_to(folder)]
    return any(not any(part.startswith(".") for part in path.parts) for path in paths)


def _folders(beside: Iterable[str]) -> Iterator[str]:
    working = os.path.realpath("")
    for file in beside:
        yield working if file == _STDIN else os.path.realpath(Path(file).parent)
    yield os.path.join(working, FOLDER)  # noqa: PTH118 - a link here is not resolved
    yield from _allowed.get()
