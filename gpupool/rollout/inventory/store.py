"""The list of what gpupool applied: a ConfigMap that is also the parent of an ApplySet, as in kubectl.

Before anything is written, `pending` names all that may come to be beside what there was, so that a run that
is killed at any moment leaves nothing that the next one does not know of.
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
"""A ConfigMap's `data` and `binaryData`; None takes away what was there."""

_NOT_FOUND, _CONFLICT = 404, 409
_KEY: Final = re.compile(r"[0-9a-f]{64}")  # of 32 bytes


class InventoryRef(NamedTuple):
    """Where an inventory is."""

    namespace: str
    name: str

    @property
    def id(self) -> str:
        """Return the ApplySet's id, as the value of the label that its members have."""
        return foreign_fields.set_id(self.namespace, self.name)


@dataclass(frozen=True)
class Inventory:
    """What an inventory says."""

    place: InventoryRef
    uid: str
    """Empty where there is none yet."""

    version: str
    """Its resourceVersion."""

    serial: int
    current: tuple[InventoryEntry, ...]
    pending: tuple[InventoryEntry, ...]
    """Not empty where an apply was interrupted, or is under way."""

    pending_plan: str
    history: tuple[Plain, ...]
    key: str = ""
    """Chance that keys the digests of sensitive values in plans; empty before the first apply."""

    @cached_property
    def known(self) -> Mapping[Ref, InventoryEntry]:
        """Every object that exists, or may exist, because of gpupool."""
        found = {each.ref: each for each in self.current}
        for each in self.pending:
            # Whatever `current` says of another uid is of an object that was gone when the apply began.
            if each.ref not in found or found[each.ref].uid != each.uid:
                found[each.ref] = each
        return found

    @property
    def said(self) -> tuple[object, ...]:
        """Return what one write differs in from another."""
        return self.serial, self.pending_plan, self.current, self.pending


def read(cluster: Cluster, place: InventoryRef) -> Inventory:
    """Read an inventory; an empty one where there is none.

    Raises:
        ClusterError: where the server refuses, or what is there is not gpupool's.
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
    packed = {key: _packed(said) for key, said in plain_map(answer.body.get("binaryData")).items()}
    said_id = plain_map(metadata.get("labels")).get(_ID)
    try:
        if said_id != place.id:
            message = f"its label {_ID} is {said_id!r}"
            raise ValueError(message)  # noqa: TRY301 - one place says what is wrong with it
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
            f"the ConfigMap {place.namespace}/{place.name} is no inventory of gpupool's: {problem}. Nothing"
            " is applied while it is unknown what gpupool manages: repair it, or move it away"
        )
        raise ClusterError(message) from problem


def _lists(
    data: Mapping[str, Plain], packed: Mapping[str, bytes]
) -> tuple[tuple[InventoryEntry, ...], str, tuple[InventoryEntry, ...]]:
    """Read what is there, the plan that is under way, and what it is about to write."""
    is_pending = "pending" in data or "pending" in packed
    if "current" in packed:
        current = encoding.read_current(packed["current"])
    else:
        current = _entries(_parsed(data, "current", [] if is_pending else None))
    if "pending" in packed:
        return current, *encoding.read_pending(packed["pending"], current)
    said = plain_map(_parsed(data, "pending", {}))
    pending = _entries(said.get("entries", None if is_pending else []))
    return current, plain_text(said.get("plan")), pending


def _packed(said: Plain) -> bytes:
    return base64.b64decode(plain_text(said), validate=True)


def _serial(data: Mapping[str, Plain]) -> int:
    said = plain_text(data.get("serial"))
    if not (said.isdecimal() and said.isascii() and len(said) <= _DIGITS):
        message = f"its serial is {said!r:.40}"
        raise ValueError(message)
    return int(said)


def _key(data: Mapping[str, Plain]) -> str:
    said = plain_text(_parsed(data, "key", ""))
    if said and not _KEY.fullmatch(said):
        message = "its key is not 64 hexadecimal digits"
        raise ValueError(message)
    return said


def _parsed(data: Mapping[str, Plain], key: str, missing: Plain) -> Plain:
    if key not in data:
        return missing
    try:
        found: Plain = json.loads(plain_text(data[key]))
    except ValueError as problem:
        message = f"its {key} is no JSON: {problem}"
        raise ValueError(message) from None
    return found


def _entries(said: Plain) -> tuple[InventoryEntry, ...]:
    if not isinstance(said, list):
        message = "it has no list of objects" if said is None else f"its list of objects is {said!r:.40}"
        raise TypeError(message)
    return tuple(_entry(plain_map(each)) for each in said)


def _entry(item: Mapping[str, Plain]) -> InventoryEntry:
    said = {key: item.get(key) for key in ("kind", "name", "uid", "sha256")}
    if wrong := sorted(key for key, each in said.items() if not isinstance(each, str)):
        message = f"an object that it lists has no {' and no '.join(wrong)}"
        raise TypeError(message)
    kind, name, uid, digest = map(plain_text, said.values())
    if kind not in KINDS:
        message = f"it lists a {kind}"
        raise ValueError(message)
    generation = item.get("generation")
    if not isinstance(generation, int):
        message = f"the generation of {kind}/{name} is no number"
        raise TypeError(message)
    return InventoryEntry(kind, name, uid, generation, encoding.shorten_digest(digest))


def begin(
    cluster: Cluster, found: Inventory, pending: Iterable[InventoryEntry], plan: str, tooling: str,
    known: Secrets = tuple,
) -> Inventory:  # fmt: skip
    """Write down what may come to be, before anything of it is; the first time with a new key.

    No refusal quotes one of the `known` secrets.

    Raises:
        OutdatedError: where somebody else wrote the inventory since it was read.
        ClusterError: where the server refuses, or a ConfigMap does not hold so much.
    """
    kept = tuple(pending)
    if encoding.calculate_fullness(kept) > 1:
        message = (
            f"the blueprint has too many objects: a list of {len(kept)} does not fit into the ConfigMap"
            f" {found.place.namespace}/{found.place.name}. Nothing was applied; split the blueprint"
        )
        raise ClusterError(message)
    key = found.key or secrets.token_hex(32)
    began = replace(found, pending=kept, pending_plan=plan, serial=found.serial + 1, key=key)
    data, binary = encoding.encode_pending(plan, kept, found.current).data("pending")
    more: dict[str, Plain] = {"serial": str(began.serial), "key": _text(key)}
    return _written(cluster, found, began, ({**data, **more}, binary), tooling, known)


def finish(
    cluster: Cluster, began: Inventory, current: Iterable[InventoryEntry], record: Mapping[str, Plain],
    tooling: str, known: Secrets = tuple,
) -> Inventory:  # fmt: skip
    """Write down what is, now that nothing is under way; `record` says who did what, for the history.

    Raises:
        OutdatedError: where somebody else wrote the inventory since.
        ClusterError: where the server refuses.
    """
    history = (*began.history, dict(record))[-_HISTORY:]
    done = replace(began, current=tuple(current), pending=(), pending_plan="", history=history)
    data, binary = encoding.encode_current(done.current).data("current")
    gone: dict[str, Plain] = {"pending": None}
    both = ({**data, **gone, "history": _text(list(history))}, {**binary, **gone})
    return _written(cluster, began, done, both, tooling, known)


def _written(
    cluster: Cluster, before: Inventory, wanted: Inventory, data: _Data, tooling: str, known: Secrets
) -> Inventory:
    def all_secrets() -> list[str]:
        return [wanted.key, *known()]

    for _ in range(_TRIES):
        request = _write_request(wanted, data, tooling)
        answer = redaction.ask(cluster, request, all_secrets)
        if answer.status != _CONFLICT:
            if not answer.ok:
                doing = f"write the inventory {wanted.place.namespace}/{wanted.place.name}"
                raise_rejection(request, redaction.redact_response(answer, all_secrets()), doing)
            return _with_version(wanted, plain_map(answer.body.get("metadata")))
        there = read(cluster, wanted.place)
        if there.said == wanted.said:
            # The answer to our own write was lost.
            return there
        if there.said != before.said:
            break
        # Somebody gave it a label, or the like.
        wanted = replace(wanted, uid=there.uid, version=there.version)
    title = f"{wanted.place.namespace}/{wanted.place.name}"
    message = f"the inventory {title} was changed by another writer in the meantime"
    raise OutdatedError(message)


def _write_request(wanted: Inventory, data: _Data, tooling: str) -> Request:
    place = wanted.place
    kinds = {each.kind for each in (*wanted.current, *wanted.pending)}
    metadata: dict[str, Plain] = {
        "name": place.name,
        "labels": {_ID: place.id, BLUEPRINT: place.name.removeprefix("gpupool-")},
        "annotations": {
            _TOOLING: tooling,
            _CONTAINS: ",".join(sorted(f"{kind}.{KINDS[kind].group}" for kind in kinds)),
        },
    }
    query = {"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict"}
    if wanted.uid:
        metadata |= {"uid": wanted.uid, "resourceVersion": wanted.version}
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


def _with_version(wanted: Inventory, metadata: Mapping[str, Plain]) -> Inventory:
    version = plain_text(metadata.get("resourceVersion"))
    return replace(wanted, uid=plain_text(metadata.get("uid")), version=version)


def _text(value: Plain) -> str:
    return json.dumps(value, separators=(",", ":"))
