"""Storage of the inventory: a ConfigMap that is also the parent of an ApplySet, as in kubectl.

Before anything is written, `pending` lists every object that may be created, so that a run that is killed at
any moment leaves no object that the next run does not know.
"""

from __future__ import annotations

import base64
import json
import re
import secrets
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from gpupool.cluster.client import FIELD_MANAGER, MERGE, Request
from gpupool.cluster.rejections import raise_rejection
from gpupool.cluster.resources import KINDS, config_map_path
from gpupool.errors import ClusterError, OutdatedError
from gpupool.planning import foreign_fields
from gpupool.rollout import redaction
from gpupool.rollout.inventory import encoding
from gpupool.rollout.inventory.encoding import InventoryEntry
from gpupool.yamlio.located import plain_list, plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gpupool.cluster.client import Cluster, Response
    from gpupool.objects import Ref
    from gpupool.rollout.redaction import Secrets
    from gpupool.yamlio.located import Plain

BLUEPRINT: Final = foreign_fields.BLUEPRINT
_ID: Final = "applyset.kubernetes.io/id"
_TOOLING: Final = "applyset.kubernetes.io/tooling"
_CONTAINS: Final = "applyset.kubernetes.io/contains-group-kinds"
_HISTORY, _DIGITS = 10, 18
_TRIES: Final = 10
_Data: TypeAlias = "tuple[Mapping[str, Plain], Mapping[str, Plain]]"
"""A ConfigMap's `data` and `binaryData`; None removes a previous value."""

_NOT_FOUND, _CONFLICT = 404, 409
_KEY: Final = re.compile(r"[0-9a-f]{64}")  # of 32 bytes


class InventoryRef(NamedTuple):
    """The namespace and the name of an inventory's ConfigMap."""

    namespace: str
    name: str

    @property
    def id(self) -> str:
        """Return the ApplySet's id, the value of its members' label."""
        return foreign_fields.calculate_applyset_id(self.namespace, self.name)


@dataclass(frozen=True)
class Inventory:
    """The content of an inventory."""

    place: InventoryRef
    uid: str
    """Empty where the inventory does not exist yet."""

    version: str
    """Its resourceVersion."""

    serial: int
    current: tuple[InventoryEntry, ...]
    pending: tuple[InventoryEntry, ...]
    """Objects of an apply that is in progress or was interrupted."""

    pending_plan: str
    history: tuple[Plain, ...]
    key: str = ""
    """A random key of the digests of sensitive values in plans; empty before the first apply."""

    @cached_property
    def entries(self) -> Mapping[Ref, InventoryEntry]:
        """Every object that exists, or may exist, because of gpupool."""
        entries = {entry.ref: entry for entry in self.current}
        for entry in self.pending:
            # An entry of `current` with another uid is of an object that was deleted before the apply.
            if entry.ref not in entries or entries[entry.ref].uid != entry.uid:
                entries[entry.ref] = entry
        return entries

    @property
    def content(self) -> tuple[object, ...]:
        """Return the part that tells one write from another."""
        return self.serial, self.pending_plan, self.current, self.pending


def read(cluster: Cluster, place: InventoryRef) -> Inventory:
    """Read an inventory; an empty one where it does not exist.

    Raises:
        ClusterError: where the server rejects the request, or the ConfigMap is not an inventory of gpupool.
    """
    request = Request("GET", config_map_path(*place))
    answer = cluster.ask(request)
    if answer.status == _NOT_FOUND:
        return Inventory(place, "", "", 0, (), (), "", ())
    if not answer.ok:
        raise_rejection(request, answer, f"read the inventory {place.namespace}/{place.name}")
    return _read(place, answer)


def _read(place: InventoryRef, answer: Response) -> Inventory:
    metadata, data = plain_map(answer.body.get("metadata")), plain_map(answer.body.get("data"))
    packed = {key: _packed(value) for key, value in plain_map(answer.body.get("binaryData")).items()}
    set_id = plain_map(metadata.get("labels")).get(_ID)
    try:
        if set_id != place.id:
            message = f"the label {_ID} is {set_id!r}"
            raise ValueError(message)  # noqa: TRY301 - one place reports invalid inventories
        serial = _serial(data)
        current, plan, pending = _lists(data, packed)
        return Inventory(
            place=place,
            uid=plain_text(metadata.get("uid")),
            version=plain_text(metadata.get("resourceVersion")),
            serial=serial,
            current=current,
            pending=pending,
            pending_plan=plan,
            history=tuple(plain_list(_parsed(data, "history", []))),
            key=_key(data),
        )
    except (ValueError, TypeError, RecursionError) as problem:
        message = (
            f"the ConfigMap {place.namespace}/{place.name} is not a valid inventory: {problem}."
            " Nothing was applied; repair it, or save it elsewhere and delete it"
        )
        raise ClusterError(message) from problem


def _lists(
    data: Mapping[str, Plain], packed: Mapping[str, bytes]
) -> tuple[tuple[InventoryEntry, ...], str, tuple[InventoryEntry, ...]]:
    """Read the current entries, the pending plan's id and the pending entries."""
    is_pending = "pending" in data or "pending" in packed
    if "current" in packed:
        current = encoding.read_current(packed["current"])
    else:
        current = _entries(_parsed(data, "current", [] if is_pending else None))
    if "pending" in packed:
        return current, *encoding.read_pending(packed["pending"], current)
    document = plain_map(_parsed(data, "pending", {}))
    pending = _entries(document.get("entries", None if is_pending else []))
    return current, plain_text(document.get("plan")), pending


def _packed(value: Plain) -> bytes:
    return base64.b64decode(plain_text(value), validate=True)


def _serial(data: Mapping[str, Plain]) -> int:
    text = plain_text(data.get("serial"))
    if not (text.isdecimal() and text.isascii() and len(text) <= _DIGITS):
        message = f"`serial` is {text!r:.40}, not a number"
        raise ValueError(message)
    return int(text)


def _key(data: Mapping[str, Plain]) -> str:
    text = plain_text(_parsed(data, "key", ""))
    if text and not _KEY.fullmatch(text):
        message = "`key` is not 64 hexadecimal digits"
        raise ValueError(message)
    return text


def _parsed(data: Mapping[str, Plain], key: str, missing: Plain) -> Plain:
    if key not in data:
        return missing
    try:
        value: Plain = json.loads(plain_text(data[key]))
    except ValueError as problem:
        message = f"`{key}` is not JSON: {problem}"
        raise ValueError(message) from None
    return value


def _entries(items: Plain) -> tuple[InventoryEntry, ...]:
    if not isinstance(items, list):
        message = (
            "the list of objects is missing" if items is None else f"the list of objects is {items!r:.40}"
        )
        raise TypeError(message)
    return tuple(_entry(plain_map(item)) for item in items)


def _entry(item: Mapping[str, Plain]) -> InventoryEntry:
    texts = {key: item.get(key) for key in ("kind", "name", "uid", "sha256")}
    if wrong := sorted(key for key, text in texts.items() if not isinstance(text, str)):
        message = f"an object in the list has no {' and no '.join(wrong)}"
        raise TypeError(message)
    kind, name, uid, digest = map(plain_text, texts.values())
    if kind not in KINDS:
        message = f"unknown kind `{kind}` in the list of objects"
        raise ValueError(message)
    generation = item.get("generation")
    if not isinstance(generation, int):
        message = f"the generation of {kind}/{name} is no number"
        raise TypeError(message)
    inputs = tuple(
        (field, text) for field, text in plain_map(item.get("inputs")).items() if isinstance(text, str)
    )
    return InventoryEntry(kind, name, uid, generation, encoding.shorten_digest(digest), inputs)


def begin(
    cluster: Cluster, inventory: Inventory, pending: Iterable[InventoryEntry], plan: str, tooling: str,
    hidden: Secrets = tuple,
) -> Inventory:  # fmt: skip
    """Write the pending objects before an apply; the first time with a new key.

    Error messages do not quote `hidden` texts.

    Raises:
        OutdatedError: where another writer changed the inventory since it was read.
        ClusterError: where the server rejects the request, or the list does not fit into a ConfigMap.
    """
    entries = encoding.without_inputs(pending)
    if encoding.calculate_fullness(entries) > 1:
        message = (
            f"the blueprint has too many objects: a list of {len(entries)} does not fit into the ConfigMap"
            f" {inventory.place.namespace}/{inventory.place.name}. Nothing was applied; split the blueprint"
        )
        raise ClusterError(message)
    key = inventory.key or secrets.token_hex(32)
    began = replace(inventory, pending=entries, pending_plan=plan, serial=inventory.serial + 1, key=key)
    listed = encoding.encode_pending(plan, entries, inventory.current)
    data, binary = listed.data("pending")
    if encoding.is_too_large(encoding.encode_current(inventory.current), listed):
        began = replace(began, current=encoding.without_inputs(inventory.current))
        data, binary = (
            {**one, **other}
            for one, other in zip(
                (data, binary), encoding.encode_current(began.current).data("current"), strict=True
            )
        )
    more: dict[str, Plain] = {"serial": str(began.serial), "key": _text(key)}
    return _written(cluster, inventory, began, ({**data, **more}, binary), tooling, hidden)


def finish(
    cluster: Cluster, began: Inventory, current: Iterable[InventoryEntry], record: Mapping[str, Plain],
    tooling: str, hidden: Secrets = tuple,
) -> Inventory:  # fmt: skip
    """Write the current objects after an apply; `record` is the new entry of the history.

    Raises:
        OutdatedError: where another writer changed the inventory since.
        ClusterError: where the server rejects the request.
    """
    history = (*began.history, dict(record))[-_HISTORY:]
    entries = encoding.fit_inputs(tuple(current))
    done = replace(began, current=entries, pending=(), pending_plan="", history=history)
    data, binary = encoding.encode_current(done.current).data("current")
    removed: dict[str, Plain] = {"pending": None}
    both = ({**data, **removed, "history": _text(list(history))}, {**binary, **removed})
    return _written(cluster, began, done, both, tooling, hidden)


def _written(
    cluster: Cluster, before: Inventory, after: Inventory, data: _Data, tooling: str, hidden: Secrets
) -> Inventory:
    title = f"{after.place.namespace}/{after.place.name}"

    def all_secrets() -> list[str]:
        return [after.key, *hidden()]

    for _ in range(_TRIES):
        request = _write_request(after, data, tooling)
        answer = redaction.ask(cluster, request, all_secrets)
        if answer.status != _CONFLICT:
            if not answer.ok:
                redacted = redaction.redact_response(answer, all_secrets())
                raise_rejection(request, redacted, f"write the inventory {title}")
            return _with_version(after, plain_map(answer.body.get("metadata")))
        live = read(cluster, after.place)
        if live.content == after.content:
            # The response to our own write was lost.
            return live
        if live.content != before.content:
            break
        # Another writer changed its metadata alone, such as a label.
        after = replace(after, uid=live.uid, version=live.version)
    message = f"the inventory {title} was changed by another writer in the meantime"
    raise OutdatedError(message)


def _write_request(inventory: Inventory, data: _Data, tooling: str) -> Request:
    place = inventory.place
    kinds = {entry.kind for entry in (*inventory.current, *inventory.pending)}
    metadata: dict[str, Plain] = {
        "name": place.name,
        "labels": {_ID: place.id, BLUEPRINT: place.name.removeprefix("gpupool-")},
        "annotations": {
            _TOOLING: tooling,
            _CONTAINS: ",".join(sorted(f"{kind}.{KINDS[kind].group}" for kind in kinds)),
        },
    }
    query = {"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict"}
    if inventory.uid:
        metadata |= {"uid": inventory.uid, "resourceVersion": inventory.version}
        body: Plain = {"metadata": metadata, "data": dict(data[0]), "binaryData": dict(data[1])}
        return Request("PATCH", config_map_path(*place), query, body, MERGE)
    texts, packed = map(_without_nulls, data)
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "data": texts,
        **({"binaryData": packed} if packed else {}),
    }
    return Request("POST", config_map_path(place.namespace), query, body)


def _without_nulls(data: Mapping[str, Plain]) -> dict[str, Plain]:
    return {key: value for key, value in data.items() if value is not None}


def _with_version(inventory: Inventory, metadata: Mapping[str, Plain]) -> Inventory:
    version = plain_text(metadata.get("resourceVersion"))
    return replace(inventory, uid=plain_text(metadata.get("uid")), version=version)


def _text(value: Plain) -> str:
    return json.dumps(value, separators=(",", ":"))
