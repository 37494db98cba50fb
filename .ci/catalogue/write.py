"""Write the catalogue's file, or say whether it is what would be written."""

import sys

from catalogue.make import made
from gpupool.catalogue.load import MOST_OPENED, SHIPPED
from gpupool.catalogue.packed import decompress, pack, write_document


def write() -> int:
    """Write the file unless it is current."""
    if not is_current():
        SHIPPED.write_bytes(pack(made()))
    catalogue, size = made(), SHIPPED.stat().st_size
    types, regions = len(catalogue.names), len(catalogue.regions)
    sys.stdout.write(f"{SHIPPED.name}: {types:,} types, {regions} regions, {size:,} bytes\n")
    return 0


def check() -> int:
    """Return 1 where the file is not current."""
    if is_current():
        sys.stdout.write(f"{SHIPPED.name} is current\n")
        return 0
    sys.stdout.write(f"{SHIPPED.name} is out of date: run python .ci/catalogue\n")
    return 1


def is_current() -> bool:
    """Return whether the file holds what is made; versions of zlib may compress it to different bytes."""
    return (
        SHIPPED.exists() and decompress(SHIPPED.read_bytes(), MOST_OPENED) == write_document(made()).encode()
    )
