"""Where catalogues come from: the one that is shipped, a file that is named, and what a user fetched."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from gpupool.catalogue.packed import built, opened

if TYPE_CHECKING:
    from gpupool.catalogue.model import Catalogue

SHIPPED = Path(__file__).with_name("instance-types.json.gz")
MOST_BYTES, MOST_OPENED = 4 << 20, 32 << 20
"""A file of all types and regions has some 20 KiB, and some 200 KiB when it is opened."""


@cache
def shipped() -> Catalogue:
    """Return the catalogue that this release of gpupool has."""
    return built(json.loads(opened(SHIPPED.read_bytes(), MOST_OPENED)))


def from_file(path: str | os.PathLike[str]) -> Catalogue:
    """Read a catalogue that `gpupool catalogue refresh` wrote.

    Raises:
        InputError: where the file can't be read, or is not such a catalogue.
    """
    from gpupool.catalogue.checked import document
    from gpupool.codes import Code
    from gpupool.errors import InputError
    from gpupool.findings import Finding, Location

    try:
        with Path(path).open("rb") as file:
            packed = file.read(MOST_BYTES + 1)
        return built(document(_unlimited(packed)))
    except OSError as problem:
        message, fix = f"can't read the file: {problem.strerror or problem}", ""
    except ValueError as problem:
        message, fix = f"the file is not a gpupool catalogue: {problem}", _FIX
    raise InputError([Finding(Code.CATALOGUE, message, Location(os.fspath(path)), fix)])


def preferred(named: Catalogue | None) -> Catalogue:
    """Return the catalogue that `explain` and `fit` ask: the named one, the user's, or what is shipped.

    Raises:
        InputError: where the user's can't be read, or is not such a catalogue.
    """
    return named or users_own() or shipped()


def users_own() -> Catalogue | None:
    """Return what the user last fetched with `gpupool catalogue refresh`, or None.

    Raises:
        InputError: where the file can't be read, or is not such a catalogue.
    """
    place = users_place()
    return from_file(place) if place.is_file() else None


def users_place() -> Path:
    """Return the file in the user's cache that `gpupool catalogue refresh` writes."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "gpupool" / SHIPPED.name


_FIX = "create it again with `gpupool catalogue refresh --to FILE`, or remove it"


def _unlimited(packed: bytes) -> bytes:
    if len(packed) > MOST_BYTES:
        message = f"it has more than {MOST_BYTES >> 20} MiB"
        raise ValueError(message)
    return opened(packed, MOST_OPENED)
