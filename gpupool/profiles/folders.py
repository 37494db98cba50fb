"""Where files may be that a blueprint names: a profile, or user data.

A blueprint may come from anybody, as in a pull request; mistakes in a profile quote it, and user data is
rendered. So a path in it must not lead to whatever else the one who runs gpupool can read.
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
"""In the folder that gpupool runs in, for blueprints in folders beside it."""

_STDIN: Final = "-"
_allowed: ContextVar[tuple[str, ...]] = ContextVar("allowed", default=())


@contextmanager
def allow_folders(folders: Iterable[str]) -> Iterator[None]:
    """Allow profiles in more folders while the block runs."""
    token = _allowed.set((*_allowed.get(), *map(os.path.realpath, folders)))
    try:
        yield
    finally:
        _allowed.reset(token)


def is_allowed(file: str, beside: Iterable[str]) -> bool:
    """Return whether a profile may be at a path; `beside` are the files whose folders are allowed.

    What counts is where links lead to. Whether there is such a file is not looked at.
    """
    try:
        real = Path(os.path.realpath(file))
    except ValueError:  # a name that no file can have
        return True
    return any(real.is_relative_to(folder) for folder in _folders(beside))


def is_allowed_user_data(file: str, named_in: str) -> bool:
    """Return whether user data may be at a path: beside the file that names it, or in the working folder.

    What is hidden there is not for it: `.git/config` and `.env` hold credentials. What counts is where links
    lead to, and the folders that the user allows count too.
    """
    try:
        real = Path(os.path.realpath(file))
    except ValueError:  # a name that no file can have
        return True
    folders = (*_folders((named_in,)), os.path.realpath(""))
    within = [real.relative_to(folder) for folder in folders if real.is_relative_to(folder)]
    return any(not any(part.startswith(".") for part in each.parts) for each in within)


def _folders(beside: Iterable[str]) -> Iterator[str]:
    here = os.path.realpath("")
    for file in beside:
        yield here if file == _STDIN else os.path.realpath(Path(file).parent)
    yield os.path.join(here, FOLDER)  # noqa: PTH118 - not where it leads to, if it is a link
    yield from _allowed.get()
