"""Encoding of inventory lists as ConfigMap data: JSON for small lists, packed for large ones.

A ConfigMap holds 1 MiB, and during an apply the inventory lists every object twice. The packed list of
pending objects holds only the changes to the list of current ones, so that 20,000 objects fit.

The list of current objects also has the texts of their inputs, for the next plan. They take only space that
the entries leave free, and are left out where there is too little. An older gpupool ignores them.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import TYPE_CHECKING, Final, NamedTuple, Never
from uuid import UUID

from gpupool.cluster.resources import KINDS
from gpupool.objects import Ref
from gpupool.yamlio.located import plain_list, plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gpupool.yamlio.located import Plain

MOST_BYTES: Final = 1 << 20
"""The largest data of a ConfigMap that the API server accepts."""

_SPARE: Final = 32 << 10
"""Space for the history and the serial."""

_PACKED_FROM: Final = 192 << 10
"""The size up to which a list is JSON, which is readable with kubectl."""

_UID_BYTES, _DIGEST_BYTES, _LENGTH_BYTES = 16, 12, 4
_MOST_UNPACKED: Final = 64 << 20
_NO_UID: Final = bytes(_UID_BYTES)
_SOME_UID: Final = str(UUID(int=1))


class InventoryEntry(NamedTuple):
    """An object that gpupool applied, or is about to apply."""

    kind: str
    name: str
    uid: str
    """Empty before the object is created."""

    generation: int
    digest: str
    """The digest of the applied object."""

    inputs: tuple[tuple[str, str], ...] = ()
    """The fields and short texts of its inputs in the blueprint; empty where they are not known."""

    @property
    def ref(self) -> Ref:
        """Return the kind and the name."""
        return Ref(self.kind, self.name)


class EncodedList(NamedTuple):
    """An encoded list: either text or packed bytes; the other one is empty."""

    text: str
    packed: bytes

    @property
    def size(self) -> int:
        """Return the bytes that the API server counts."""
        return len(self.text.encode()) + len(self.packed)

    def data(self, key: str) -> tuple[dict[str, Plain], dict[str, Plain]]:
        """Return the values of a key of `data` and of `binaryData`; None removes a previous value."""
        packed = base64.b64encode(self.packed).decode() if self.packed else None
        return {key: self.text or None}, {key: packed}


def encode_current(entries: Sequence[InventoryEntry]) -> EncodedList:
    """Encode the list of current objects."""
    text = _json([_plain(entry) for entry in entries])
    if len(text) < _PACKED_FROM:
        return EncodedList(text, b"")
    return EncodedList("", _pack(entries, _input_columns(entries)))


def fit_inputs(entries: Sequence[InventoryEntry]) -> tuple[InventoryEntry, ...]:
    """Return the current objects, without their inputs where the list takes more than half of the space."""
    is_small = encode_current(entries).size <= (MOST_BYTES - _SPARE) // 2
    return tuple(entries) if is_small else without_inputs(entries)


def encode_pending(
    plan: str, entries: Sequence[InventoryEntry], current: Sequence[InventoryEntry]
) -> EncodedList:
    """Encode the list of pending objects; `current` is the list that is encoded beside it."""
    entries = without_inputs(entries)
    text = _json({"plan": plan, "entries": [_plain(entry) for entry in entries]})
    if len(text) < _PACKED_FROM:
        return EncodedList(text, b"")
    places = {(entry.ref, entry.uid, entry.generation): place for place, entry in enumerate(current)}
    placed = [(places.get((entry.ref, entry.uid, entry.generation)), entry) for entry in entries]
    same = [(place, entry) for place, entry in placed if place is not None]
    other = _pack([entry for place, entry in placed if place is None])
    head = zlib.compress(_json({"plan": plan, "places": _steps(place for place, _ in same)}).encode(), 9)
    digests = b"".join(
        _digest(entry.digest) for place, entry in same if current[place].digest != entry.digest
    )
    changed = bytes(current[place].digest != entry.digest for place, entry in same)
    flags = zlib.compress(changed, 9)
    return EncodedList("", b"".join(map(_sized, (head, flags, digests, other))))


def read_current(packed: bytes) -> tuple[InventoryEntry, ...]:
    """Decode what `encode_current` packed.

    Raises:
        ValueError: for other content.
    """
    return tuple(_unpack(packed))


def read_pending(packed: bytes, current: Sequence[InventoryEntry]) -> tuple[str, tuple[InventoryEntry, ...]]:
    """Decode what `encode_pending` packed: the plan's id and the entries.

    Raises:
        ValueError: for other content.
    """
    head, flags, digests, other = _parts(packed, 4)
    header = plain_map(json.loads(_inflated(head)))
    places, changed = _places(plain_list(header.get("places"))), _inflated(flags)
    if len(places) != len(changed) or len(digests) != sum(changed) * _DIGEST_BYTES:
        _fail("the pending list is truncated")
    new = iter(digests[start : start + _DIGEST_BYTES] for start in range(0, len(digests), _DIGEST_BYTES))
    entries = []
    for place, is_changed in zip(places, changed, strict=True):
        if not 0 <= place < len(current):
            _fail("the pending list has an object that is not in the list of objects")
        entry = current[place]
        entries.append(entry._replace(digest=next(new).hex() if is_changed else entry.digest, inputs=()))
    return plain_text(header.get("plan")), (*entries, *_unpack(other))


def shorten_digest(digest: str) -> str:
    """Return the part of a digest that an inventory keeps: enough to detect changes, but no proof."""
    return digest[: 2 * _DIGEST_BYTES]


def without_inputs(entries: Iterable[InventoryEntry]) -> tuple[InventoryEntry, ...]:
    """Return entries without the texts of their inputs."""
    return tuple(entry._replace(inputs=()) if entry.inputs else entry for entry in entries)


def is_too_large(current: EncodedList, pending: EncodedList) -> bool:
    """Return whether two lists do not fit into one ConfigMap."""
    return current.size + pending.size > MOST_BYTES - _SPARE


def calculate_fullness(entries: Sequence[InventoryEntry]) -> float:
    """Return the share of a ConfigMap that entries need while all of them are applied again."""
    existing = [entry._replace(uid=entry.uid or _SOME_UID, inputs=()) for entry in entries]
    changed = [entry._replace(digest="f" * 2 * _DIGEST_BYTES) for entry in existing]
    size = encode_current(existing).size + encode_pending("", changed, existing).size
    return size / (MOST_BYTES - _SPARE)


def _plain(entry: InventoryEntry) -> dict[str, Plain]:
    return {
        "group": KINDS[entry.kind].group,
        "kind": entry.kind,
        "name": entry.name,
        "uid": entry.uid,
        "generation": entry.generation,
        "sha256": entry.digest,
        **({"inputs": dict(entry.inputs)} if entry.inputs else {}),
    }


def _pack(entries: Sequence[InventoryEntry], more: Mapping[str, Plain] | None = None) -> bytes:
    """Pack entries: repetitive columns compressed, random ones as they are."""
    head = _json({
        "kinds": [entry.kind for entry in entries],
        "names": [entry.name for entry in entries],
        "generations": [entry.generation for entry in entries],
        **(more or {}),
    })  # fmt: skip
    uids = b"".join(UUID(entry.uid).bytes if entry.uid else _NO_UID for entry in entries)
    digests = b"".join(_digest(entry.digest) for entry in entries)
    return b"".join(map(_sized, (zlib.compress(head.encode(), 9), uids, digests)))


def _unpack(packed: bytes) -> Iterable[InventoryEntry]:
    head, uids, digests = _parts(packed, 3)
    header = plain_map(json.loads(_inflated(head)))
    columns = [plain_list(header.get(key)) for key in ("kinds", "names", "generations")]
    count = len(columns[0])
    sizes = {len(column) for column in columns}
    if sizes != {count} or (len(uids), len(digests)) != (count * _UID_BYTES, count * _DIGEST_BYTES):
        _fail("the list of objects is truncated")
    inputs = _read_inputs(header, count)
    for index, (kind, name, generation) in enumerate(zip(*columns, strict=True)):
        if not (isinstance(kind, str) and isinstance(name, str) and isinstance(generation, int)):
            _fail("an object in the list has no kind, no name or no generation")
        elif kind not in KINDS:
            _fail(f"unknown kind `{kind}` in the list of objects")
        else:
            uid = uids[index * _UID_BYTES : (index + 1) * _UID_BYTES]
            digest = digests[index * _DIGEST_BYTES : (index + 1) * _DIGEST_BYTES]
            uid_text = "" if uid == _NO_UID else str(UUID(bytes=uid))
            yield InventoryEntry(kind, name, uid_text, generation, digest.hex(), inputs[index])


def _input_columns(entries: Sequence[InventoryEntry]) -> dict[str, Plain]:
    """Return the inputs as columns: each distinct field and text once, and their numbers for each entry."""
    fields: dict[tuple[str, ...], int] = {}
    texts: dict[str, int] = {}
    numbers: list[Plain] = []
    for entry in entries:
        names = tuple(name for name, _ in entry.inputs)
        row: list[Plain] = [fields.setdefault(names, len(fields))]
        row += [texts.setdefault(text, len(texts)) for _, text in entry.inputs]
        numbers.append(row)
    if not texts:
        return {}
    return {"fields": [list(names) for names in fields], "texts": list(texts), "inputs": numbers}


def _read_inputs(header: Mapping[str, Plain], count: int) -> list[tuple[tuple[str, str], ...]]:
    if "inputs" not in header:
        return [()] * count
    fields = [[plain_text(name) for name in plain_list(names)] for names in plain_list(header.get("fields"))]
    texts = [plain_text(text) for text in plain_list(header.get("texts"))]
    rows = [
        [number if isinstance(number, int) else -1 for number in plain_list(row)]
        for row in plain_list(header["inputs"])
    ]
    read = []
    for row in rows:
        names = fields[row[0]] if row and 0 <= row[0] < len(fields) else None
        if names is None or len(names) != len(row) - 1 or not all(0 <= n < len(texts) for n in row[1:]):
            _fail("the inputs in the list of objects are damaged")
        read.append(tuple(zip(names, (texts[number] for number in row[1:]), strict=True)))
    return read if len(read) == count else _fail("the list of objects is truncated")


def _digest(digest: str) -> bytes:
    return bytes.fromhex(shorten_digest(digest)).ljust(_DIGEST_BYTES, b"\0")


def _steps(places: Iterable[int]) -> list[Plain]:
    """Return numbers as steps from one to the next, nearly all of which are 1."""
    steps: list[Plain] = []
    previous = -1
    for place in places:
        steps.append(place - previous)
        previous = place
    return steps


def _places(steps: Sequence[Plain]) -> list[int]:
    place, places = -1, []
    for step in steps:
        place += step if isinstance(step, int) else _fail("the pending list has no numbers")
        places.append(place)
    return places


def _sized(part: bytes) -> bytes:
    return len(part).to_bytes(_LENGTH_BYTES, "big") + part


def _parts(packed: bytes, count: int) -> list[bytes]:
    parts, offset = [], 0
    for _ in range(count):
        size = int.from_bytes(packed[offset : offset + _LENGTH_BYTES], "big")
        offset += _LENGTH_BYTES
        parts.append(packed[offset : offset + size])
        offset += size
    if offset != len(packed):
        _fail("the list of objects is truncated")
    return parts


def _inflated(part: bytes) -> bytes:
    decompressor = zlib.decompressobj()
    try:
        content = decompressor.decompress(part, _MOST_UNPACKED)
    except zlib.error:
        return _fail("the list of objects is damaged")
    return content if decompressor.eof else _fail("the list of objects is damaged")


def _fail(message: str) -> Never:
    raise ValueError(message)


def _json(value: Plain | Mapping[str, Plain]) -> str:
    return json.dumps(value, separators=(",", ":"))
