"""The lists of an inventory as a ConfigMap's data: JSON for people while they are small, packed when large.

A ConfigMap holds 1 MiB, and while an apply is under way the inventory lists every object twice. Packed, what
is pending says of an object that stays only what changes, and 20,000 objects fit.
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
"""What the API server takes as a ConfigMap's data."""

_SPARE: Final = 32 << 10
"""For the history and the serial."""

_PACKED_FROM: Final = 192 << 10
"""So long a list is JSON, which people can read with kubectl."""

_UID_BYTES, _DIGEST_BYTES, _LENGTH_BYTES = 16, 12, 4
_MOST_UNPACKED: Final = 64 << 20
_NO_UID: Final = bytes(_UID_BYTES)
_SOME_UID: Final = str(UUID(int=1))


class InventoryEntry(NamedTuple):
    """One object that gpupool applied, or is about to."""

    kind: str
    name: str
    uid: str
    """Empty for one that is about to be created."""

    generation: int
    digest: str
    """Of what was applied."""

    @property
    def ref(self) -> Ref:
        """Return the kind and the name."""
        return Ref(self.kind, self.name)


class Encoded(NamedTuple):
    """One list as a ConfigMap keeps it: either of the two is empty."""

    text: str
    packed: bytes

    @property
    def size(self) -> int:
        """Return the bytes that the API server counts."""
        return len(self.text.encode()) + len(self.packed)

    def data(self, key: str) -> tuple[dict[str, Plain], dict[str, Plain]]:
        """Return what stands under a key of `data` and of `binaryData`; None takes away what was there."""
        packed = base64.b64encode(self.packed).decode() if self.packed else None
        return {key: self.text or None}, {key: packed}


def encode_current(entries: Sequence[InventoryEntry]) -> Encoded:
    """Encode what is there."""
    text = _json([_plain(each) for each in entries])
    return Encoded(text, b"") if len(text) < _PACKED_FROM else Encoded("", _pack(entries))


def encode_pending(plan: str, entries: Sequence[InventoryEntry], known: Sequence[InventoryEntry]) -> Encoded:
    """Encode what may come to be; `known` is what the list of what is there says at the same time."""
    text = _json({"plan": plan, "entries": [_plain(each) for each in entries]})
    if len(text) < _PACKED_FROM:
        return Encoded(text, b"")
    places = {(each.ref, each.uid, each.generation): place for place, each in enumerate(known)}
    at = [(places.get((each.ref, each.uid, each.generation)), each) for each in entries]
    same = [(place, each) for place, each in at if place is not None]
    other = _pack([each for place, each in at if place is None])
    head = zlib.compress(_json({"plan": plan, "places": _steps(place for place, _ in same)}).encode(), 9)
    digests = b"".join(_digest(each.digest) for place, each in same if known[place].digest != each.digest)
    changed = bytes(known[place].digest != each.digest for place, each in same)
    flags = zlib.compress(changed, 9)
    return Encoded("", b"".join(map(_sized, (head, flags, digests, other))))


def read_current(packed: bytes) -> tuple[InventoryEntry, ...]:
    """Read what `current` packed.

    Raises:
        ValueError: for anything else.
    """
    return tuple(_unpack(packed))


def read_pending(packed: bytes, known: Sequence[InventoryEntry]) -> tuple[str, tuple[InventoryEntry, ...]]:
    """Read what `pending` packed: the plan's id, and the entries.

    Raises:
        ValueError: for anything else.
    """
    head, flags, digests, other = _parts(packed, 4)
    said = plain_map(json.loads(_inflated(head)))
    places, changed = _places(plain_list(said.get("places"))), _inflated(flags)
    if len(places) != len(changed) or len(digests) != sum(changed) * _DIGEST_BYTES:
        _refuse("its list of what is pending is cut off")
    new = iter(digests[start : start + _DIGEST_BYTES] for start in range(0, len(digests), _DIGEST_BYTES))
    entries = []
    for place, is_changed in zip(places, changed, strict=True):
        if not 0 <= place < len(known):
            _refuse("its list of what is pending names an object that it does not list")
        entry = known[place]
        entries.append(entry._replace(digest=next(new).hex()) if is_changed else entry)
    return plain_text(said.get("plan")), (*entries, *_unpack(other))


def shorten_digest(digest: str) -> str:
    """Return the part of a digest that an inventory keeps: it tells a change, and proves nothing."""
    return digest[: 2 * _DIGEST_BYTES]


def calculate_fullness(entries: Sequence[InventoryEntry]) -> float:
    """Return how much of a ConfigMap entries take while all of them are applied anew; 1 is all of it."""
    there = [each._replace(uid=each.uid or _SOME_UID) for each in entries]
    changed = [each._replace(digest="f" * 2 * _DIGEST_BYTES) for each in there]
    return (encode_current(there).size + encode_pending("", changed, there).size) / (MOST_BYTES - _SPARE)


def _plain(entry: InventoryEntry) -> dict[str, Plain]:
    return {
        "group": KINDS[entry.kind].group,
        "kind": entry.kind,
        "name": entry.name,
        "uid": entry.uid,
        "generation": entry.generation,
        "sha256": entry.digest,
    }


def _pack(entries: Sequence[InventoryEntry]) -> bytes:
    """Pack entries: what repeats itself compressed, and what is random as it is."""
    head = _json({
        "kinds": [each.kind for each in entries],
        "names": [each.name for each in entries],
        "generations": [each.generation for each in entries],
    })  # fmt: skip
    uids = b"".join(UUID(each.uid).bytes if each.uid else _NO_UID for each in entries)
    digests = b"".join(_digest(each.digest) for each in entries)
    return b"".join(map(_sized, (zlib.compress(head.encode(), 9), uids, digests)))


def _unpack(packed: bytes) -> Iterable[InventoryEntry]:
    head, uids, digests = _parts(packed, 3)
    said = plain_map(json.loads(_inflated(head)))
    columns = [plain_list(said.get(key)) for key in ("kinds", "names", "generations")]
    count = len(columns[0])
    sizes = {len(column) for column in columns}
    if sizes != {count} or (len(uids), len(digests)) != (count * _UID_BYTES, count * _DIGEST_BYTES):
        _refuse("its list of objects is cut off")
    for index, (kind, name, generation) in enumerate(zip(*columns, strict=True)):
        if not (isinstance(kind, str) and isinstance(name, str) and isinstance(generation, int)):
            _refuse("an object that it lists has no kind, no name or no generation")
        elif kind not in KINDS:
            _refuse(f"it lists a {kind}")
        else:
            uid = uids[index * _UID_BYTES : (index + 1) * _UID_BYTES]
            digest = digests[index * _DIGEST_BYTES : (index + 1) * _DIGEST_BYTES]
            said_uid = "" if uid == _NO_UID else str(UUID(bytes=uid))
            yield InventoryEntry(kind, name, said_uid, generation, digest.hex())


def _digest(said: str) -> bytes:
    return bytes.fromhex(shorten_digest(said)).ljust(_DIGEST_BYTES, b"\0")


def _steps(places: Iterable[int]) -> list[Plain]:
    """Return numbers as steps from one to the next: nearly all of them are 1."""
    found: list[Plain] = []
    before = -1
    for place in places:
        found.append(place - before)
        before = place
    return found


def _places(steps: Sequence[Plain]) -> list[int]:
    at, found = -1, []
    for step in steps:
        at += step if isinstance(step, int) else _refuse("its list of what is pending has no numbers")
        found.append(at)
    return found


def _sized(part: bytes) -> bytes:
    return len(part).to_bytes(_LENGTH_BYTES, "big") + part


def _parts(packed: bytes, count: int) -> list[bytes]:
    parts, at = [], 0
    for _ in range(count):
        size = int.from_bytes(packed[at : at + _LENGTH_BYTES], "big")
        at += _LENGTH_BYTES
        parts.append(packed[at : at + size])
        at += size
    if at != len(packed):
        _refuse("its list of objects is cut off")
    return parts


def _inflated(part: bytes) -> bytes:
    inflating = zlib.decompressobj()
    try:
        found = inflating.decompress(part, _MOST_UNPACKED)
    except zlib.error:
        return _refuse("its list of objects is damaged")
    return found if inflating.eof else _refuse("its list of objects is damaged")


def _refuse(message: str) -> Never:
    raise ValueError(message)


def _json(value: Plain | Mapping[str, Plain]) -> str:
    return json.dumps(value, separators=(",", ":"))
