"""Loading of catalogues: the shipped one, a given file, or the one that the user fetched."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from gpupool.catalogue.packed import build_catalogue, decompress

if TYPE_CHECKING:
    from gpupool.catalogue.model import Catalogue

_FIX = "create it again with `gpupool catalogue refresh --to FILE`, or remove it"
SHIPPED = Path(__file__).with_name("instance-types.json.gz")
MOST_BYTES, MOST_OPENED = 4 << 20, 32 << 20
"""A file with all types and regions has about 20 KiB, and about 200 KiB decompressed."""


@cache
def load_shipped() -> Catalogue:
    """Load the catalogue that is part of this release."""
    return build_catalogue(json.loads(decompress(SHIPPED.read_bytes(), MOST_OPENED)))


def load_file(path: str | os.PathLike[str]) -> Catalogue:
    """Read a catalogue that `gpupool catalogue refresh` wrote.

    Raises:
        InputError: where the file can't be read, or is not such a catalogue.
    """
    from gpupool.catalogue.checked import read_document
    from gpupool.codes import Code
    from gpupool.errors import InputError
    from gpupool.findings import Finding, Location

    try:
        with Path(path).open("rb") as file:
            packed = file.read(MOST_BYTES + 1)
        return build_catalogue(read_document(_decompress(packed)))
    except OSError as problem:
        message, fix = f"can't read the file: {problem.strerror or problem}", ""
    except ValueError as problem:
        message, fix = f"the file is not a gpupool catalogue: {problem}", _FIX
    raise InputError([Finding(Code.CATALOGUE, message, Location(os.fspath(path)), fix)])


def load_preferred(named: Catalogue | None) -> Catalogue:
    """Load the catalogue for `explain` and `fit`: the named one, the fetched one, or the shipped one.

    Raises:
        InputError: where the fetched one can't be read, or is not such a catalogue.
    """
    return named or load_fetched() or load_shipped()


def load_fetched() -> Catalogue | None:
    """Load the catalogue that the user last fetched with `gpupool catalogue refresh`; None if there is none.

    Raises:
        InputError: where the file can't be read, or is not such a catalogue.
    """
    path = get_fetched_path()
    return load_file(path) if path.is_file() else None


def get_fetched_path() -> Path:
    """Return the file in the user's cache that `gpupool catalogue refresh` writes."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "gpupool" / SHIPPED.name


def _decompress(packed: bytes) -> bytes:
    if len(packed) > MOST_BYTES:
        message = f"it has more than {MOST_BYTES >> 20} MiB"
        raise ValueError(message)
    return decompress(packed, MOST_OPENED)
