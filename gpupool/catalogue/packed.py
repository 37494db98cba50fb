"""A catalogue as the bytes of a file: JSON of columns, compressed; equal catalogues give equal text."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any, TypeAlias

from gpupool.catalogue.model import Catalogue, CatalogueSource, Column, Prices, TypeLimits, Value, Zone

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

FORMAT = "gpupool.catalogue/1"
_GZIP = 31
"""zlib's word for deflate with the head and sum of a gzip file."""

_WIDE = 2
"""Bytes of an index where one is not enough."""

PackedDocument: TypeAlias = "Mapping[str, Any]"


def pack(catalogue: Catalogue) -> bytes:
    """Return the contents of a catalogue's file."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, _GZIP)
    return compressor.compress(text(catalogue).encode()) + compressor.flush()


def text(catalogue: Catalogue) -> str:
    """Return what is compressed in the file."""
    document = {
        "format": FORMAT,
        "karpenter": catalogue.karpenter,
        "date": catalogue.date,
        "sources": catalogue.sources,
        "names": " ".join(_shortened(catalogue.names)),
        "columns": {name: _written(column) for name, column in catalogue.columns.items()},
        "regions": catalogue.regions,
        "offers": _written(catalogue.offers),
        "prices": catalogue.price_lists,
        "unlisted": catalogue.unlisted,
    }
    return json.dumps(document, separators=(",", ":"))


def opened(packed: bytes, most: int) -> bytes:
    """Decompress the contents of a file, up to `most` bytes.

    Raises:
        ValueError: where it is larger, or not compressed.
    """
    opener = zlib.decompressobj(_GZIP)
    try:
        found = opener.decompress(packed, most)
    except zlib.error as problem:
        message = "it is not a gzip file"
        raise ValueError(message) from problem
    if opener.unconsumed_tail:
        message = f"it holds more than {most >> 20} MiB"
        raise ValueError(message)
    if not opener.eof:
        message = "it ends too early"
        raise ValueError(message)
    return found


def built(document: PackedDocument) -> Catalogue:
    """Make a catalogue of a document that is as `text` writes it."""
    names = tuple(names_of(document["names"]))
    count = len(names)
    return Catalogue(
        names=names,
        columns={name: _column(column, count) for name, column in document["columns"].items()},
        regions={name: tuple(Zone(*zone) for zone in zones) for name, zones in document["regions"].items()},
        offers=_column(document["offers"], count),
        price_lists=tuple(
            Prices(region, currency, date, tuple(amounts))
            for region, currency, date, amounts in document["prices"]
        ),
        unlisted={name: TypeLimits(*limits) for name, limits in document["unlisted"].items()},
        karpenter=document["karpenter"],
        date=document["date"],
        sources=tuple(CatalogueSource(*source) for source in document["sources"]),
    )


def names_of(words: str) -> Iterator[str]:
    """Yield the types of a list in which a size alone belongs to the family before it."""
    family = ""
    for word in words.split(" "):
        before, dot, _ = word.partition(".")
        family = before if dot else family
        yield word if dot else f"{family}.{word}"


def _shortened(names: Iterable[str]) -> Iterator[str]:
    family = ""
    for name in names:
        before, _, size = name.partition(".")
        yield size if before == family else name
        family = before


def _written(column: Column) -> tuple[tuple[Value, ...], str]:
    if isinstance(column.index, bytes):
        return column.values, column.index.hex()
    return column.values, b"".join(each.to_bytes(_WIDE) for each in column.index).hex()


def _column(written: list[Any], count: int) -> Column:
    values, digits = written
    index = bytes.fromhex(digits)
    frozen = tuple(_frozen(value) for value in values)
    if len(index) == count:
        return Column(frozen, index)
    wide = (index[place : place + _WIDE] for place in range(0, len(index), _WIDE))
    return Column(frozen, tuple(int.from_bytes(each) for each in wide))


def _frozen(value: Any) -> Value:  # noqa: ANN401 - what JSON gives
    if type(value) is list:
        return tuple([_frozen(each) for each in value])
    plain: Value = value
    return plain
