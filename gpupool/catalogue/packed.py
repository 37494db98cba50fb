"""File format of a catalogue: compressed JSON of columns; equal catalogues have equal text."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any, TypeAlias

from gpupool.catalogue.model import Catalogue, CatalogueSource, Column, Prices, TypeLimits, Value, Zone

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

FORMAT = "gpupool.catalogue/1"
_GZIP = 31
"""zlib's parameter for the gzip format."""

_WIDE = 2
"""Bytes per index entry if one byte is not enough."""

PackedDocument: TypeAlias = "Mapping[str, Any]"


def pack(catalogue: Catalogue) -> bytes:
    """Build the contents of a catalogue's file."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, _GZIP)
    return compressor.compress(write_document(catalogue).encode()) + compressor.flush()


def write_document(catalogue: Catalogue) -> str:
    """Render a catalogue as the JSON text of its file."""
    document = {
        "format": FORMAT,
        "karpenter": catalogue.karpenter,
        "date": catalogue.date,
        "sources": catalogue.sources,
        "names": " ".join(_shorten_names(catalogue.names)),
        "columns": {name: _pack_column(column) for name, column in catalogue.columns.items()},
        "regions": catalogue.regions,
        "offers": _pack_column(catalogue.offers),
        "prices": catalogue.price_lists,
        "unlisted": catalogue.unlisted,
    }
    return json.dumps(document, separators=(",", ":"))


def decompress(packed: bytes, limit: int) -> bytes:
    """Decompress the contents of a file, up to `most` bytes.

    Raises:
        ValueError: if it is larger, or not compressed.
    """
    opener = zlib.decompressobj(_GZIP)
    try:
        content = opener.decompress(packed, limit)
    except zlib.error as problem:
        message = "it is not a gzip file"
        raise ValueError(message) from problem
    if opener.unconsumed_tail:
        message = f"it holds more than {limit >> 20} MiB"
        raise ValueError(message)
    if not opener.eof:
        message = "it ends too early"
        raise ValueError(message)
    return content


def build_catalogue(document: PackedDocument) -> Catalogue:
    """Build a catalogue from a document of `write_document`."""
    names = tuple(expand_names(document["names"]))
    count = len(names)
    return Catalogue(
        names=names,
        columns={name: _unpack_column(column, count) for name, column in document["columns"].items()},
        regions={name: tuple(Zone(*zone) for zone in zones) for name, zones in document["regions"].items()},
        offers=_unpack_column(document["offers"], count),
        price_lists=tuple(
            Prices(region, currency, date, tuple(amounts))
            for region, currency, date, amounts in document["prices"]
        ),
        unlisted={name: TypeLimits(*limits) for name, limits in document["unlisted"].items()},
        karpenter=document["karpenter"],
        date=document["date"],
        sources=tuple(CatalogueSource(*source) for source in document["sources"]),
    )


def expand_names(text: str) -> Iterator[str]:
    """Yield the types of a list in which a size without a family belongs to the family before it."""
    family = ""
    for entry in text.split(" "):
        own_family, dot, _ = entry.partition(".")
        family = own_family if dot else family
        yield entry if dot else f"{family}.{entry}"


def _shorten_names(names: Iterable[str]) -> Iterator[str]:
    family = ""
    for name in names:
        own_family, _, size = name.partition(".")
        yield size if own_family == family else name
        family = own_family


def _pack_column(column: Column) -> tuple[tuple[Value, ...], str]:
    if isinstance(column.index, bytes):
        return column.values, column.index.hex()
    return column.values, b"".join(position.to_bytes(_WIDE) for position in column.index).hex()


def _unpack_column(packed: list[Any], count: int) -> Column:
    values, digits = packed
    index = bytes.fromhex(digits)
    frozen = tuple(_freeze(value) for value in values)
    if len(index) == count:
        return Column(frozen, index)
    wide = (index[offset : offset + _WIDE] for offset in range(0, len(index), _WIDE))
    return Column(frozen, tuple(int.from_bytes(entry) for entry in wide))


def _freeze(value: Any) -> Value:  # noqa: ANN401 - any JSON value
    if type(value) is list:
        return tuple([_freeze(item) for item in value])
    plain: Value = value
    return plain
