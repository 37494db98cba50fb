"""The list of what gpupool applied: a ConfigMap that is also the parent of an ApplySet, as in kubectl.

Before anything is written, `pending` names all that may come to be beside what there was, so that a run that
is killed at any moment leaves nothing that the next one does not know of.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import secrets
from typing import TYPE_CHECKING, Final, NamedTuple

from gpupool.cluster.kinds import KINDS, config_map_path
from gpupool.cluster.port import FIELD_MANAGER, MERGE, Request
from gpupool.cluster.refusals import refuse
from gpupool.errors import ClusterError, OutdatedError
from gpupool.rollout import hiding
from gpupool.yamlio.nodes import plain_list, plain_map, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gpupool.cluster.port import Answer, Cluster
    from gpupool.yamlio.nodes import Plain

BLUEPRINT: Final = "gpupool.dev/blueprint"
_ID: Final = "applyset.kubernetes.io/id"
_TOOLING: Final = "applyset.kubernetes.io/tooling"
_CONTAINS: Final = "applyset.kubernetes.io/contains-group-kinds"
_HISTORY, _DIGITS = 10, 18
_TRIES: Final = 10
_NOT_FOUND, _CONFLICT = 404, 409
_KEY: Final = re.compile(r"[0-9a-f]{64}")  # of 32 bytes


class Entry(NamedTuple):
    """One object that gpupool applied, or is about to."""

    kind: str
    name: str
    uid: str
    """Empty for one that is about to be created."""

    generation: int
    digest: str
    """Of what was applied, without what is sensitive."""

    @property
    def address(self) -> str:
        """Give `KIND/NAME`."""
        return f"{self.kind}/{self.name}"


class Place(NamedTuple):
    """Where an inventory is."""

    namespace: str
    name: str

    @property
    def id(self) -> str:
        """Give the ApplySet's id, as the value of the label that its members have."""
        said = f"{self.name}.{self.namespace}.ConfigMap."
        digest = hashlib.sha256(said.encode()).digest()
        return f"applyset-{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}-v1"


class Inventory(NamedTuple):
    """What an inventory says."""

    place: Place
    uid: str
    """Empty where there is none yet."""

    version: str
    """Its resourceVersion."""

    serial: int
    current: tuple[Entry, ...]
    pending: tuple[Entry, ...]
    """Not empty where an apply was interrupted, or is under way."""

    pending_plan: str
    history: tuple[Plain, ...]
    key: str = ""
    """Chance that keys the digests of sensitive values in plans; empty before the first apply."""

    @property
    def known(self) -> dict[str, Entry]:
        """Give every object that is, or may be, there because of gpupool, by address."""
        found = {each.address: each for each in self.current}
        for each in self.pending:
            # Whatever `current` says of another uid is of an object that was gone when the apply began.
            if each.address not in found or found[each.address].uid != each.uid:
                found[each.address] = each
        return found

    @property
    def said(self) -> tuple[object, ...]:
        """Give what one write differs in from another."""
        return self.serial, self.pending_plan, self.current, self.pending


def read(cluster: Cluster, place: Place) -> Inventory:
    """Read an inventory; an empty one where there is none.

    Raises:
        ClusterError: where the server refuses, or what is there is not gpupool's.
    """
    request = Request("GET", config_map_path(*place))
    answer = cluster.ask(request)
    if answer.status == _NOT_FOUND:
        return Inventory(place, "", "", 0, (), (), "", ())
    if not answer.ok:
        refuse(request, answer, f"read the inventory {place.namespace}/{place.name}")
    return _read(place, answer)


def _read(place: Place, answer: Answer) -> Inventory:
    metadata, data = plain_map(answer.body.get("metadata")), plain_map(answer.body.get("data"))
    said_id = plain_map(metadata.get("labels")).get(_ID)
    try:
        if said_id != place.id:
            message = f"its label {_ID} is {said_id!r}"
            raise ValueError(message)  # noqa: TRY301 - one place says what is wrong with it
        pending = plain_map(_parsed(data, "pending", {}))
        return Inventory(
            place=place,
            uid=plain_text(metadata.get("uid")),
            version=plain_text(metadata.get("resourceVersion")),
            serial=_serial(data),
            current=_entries(_parsed(data, "current", [] if "pending" in data else None)),
            pending=_entries(pending.get("entries", [] if "pending" not in data else None)),
            pending_plan=plain_text(pending.get("plan")),
            history=tuple(plain_list(_parsed(data, "history", []))),
            key=_key(data),
        )
    except (ValueError, TypeError, RecursionError) as problem:
        message = (
            f"the ConfigMap {place.namespace}/{place.name} is no inventory of gpupool's: {problem}. Nothing"
            " is written while nobody knows what gpupool applied; mend it, or move it away"
        )
        raise ClusterError(message) from problem


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


def _entries(said: Plain) -> tuple[Entry, ...]:
    if not isinstance(said, list):
        message = "it has no list of objects" if said is None else f"its list of objects is {said!r:.40}"
        raise TypeError(message)
    return tuple(_entry(plain_map(each)) for each in said)


def _entry(item: Mapping[str, Plain]) -> Entry:
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
    return Entry(kind, name, uid, generation, digest)


def begin(cluster: Cluster, found: Inventory, pending: Iterable[Entry], plan: str, tooling: str) -> Inventory:
    """Write down what may come to be, before anything of it is; the first time with a new key.

    Raises:
        OutdatedError: where somebody else wrote the inventory since it was read.
        ClusterError: where the server refuses.
    """
    kept = tuple(pending)
    key = found.key or secrets.token_hex(32)
    began = found._replace(pending=kept, pending_plan=plan, serial=found.serial + 1, key=key)
    data: dict[str, Plain] = {"pending": _pending_text(began), "serial": str(began.serial), "key": _text(key)}
    return _written(cluster, found, began, data, tooling)


def finish(
    cluster: Cluster, began: Inventory, current: Iterable[Entry], record: Mapping[str, Plain], tooling: str
) -> Inventory:
    """Write down what is, now that nothing is under way; `record` says who did what, for the history.

    Raises:
        OutdatedError: where somebody else wrote the inventory since.
        ClusterError: where the server refuses.
    """
    history = (*began.history, dict(record))[-_HISTORY:]
    done = began._replace(current=tuple(current), pending=(), pending_plan="", history=history)
    data: dict[str, Plain] = {
        "current": _text([_plain(each) for each in done.current]),
        "pending": None,
        "history": _text(list(history)),
    }
    return _written(cluster, began, done, data, tooling)


def _written(
    cluster: Cluster, before: Inventory, wanted: Inventory, data: Mapping[str, Plain], tooling: str
) -> Inventory:
    for _ in range(_TRIES):
        request = _write_request(wanted, data, tooling)
        answer = hiding.ask(cluster, request, [wanted.key])
        if answer.status != _CONFLICT:
            if not answer.ok:
                doing = f"write the inventory {wanted.place.namespace}/{wanted.place.name}"
                refuse(request, hiding.hidden(answer, [wanted.key]), doing)
            return _with_version(wanted, plain_map(answer.body.get("metadata")))
        there = read(cluster, wanted.place)
        if there.said == wanted.said:
            # The answer to our own write was lost.
            return there
        if there.said != before.said:
            break
        # Somebody gave it a label, or the like.
        wanted = wanted._replace(uid=there.uid, version=there.version)
    message = (
        f"the inventory {wanted.place.namespace}/{wanted.place.name} was written by somebody else meanwhile"
    )
    raise OutdatedError(message)


def _write_request(wanted: Inventory, data: Mapping[str, Plain], tooling: str) -> Request:
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
        body: Plain = {"metadata": metadata, "data": dict(data)}
        return Request("PATCH", config_map_path(*place), query, body, MERGE)
    kept: dict[str, Plain] = {key: value for key, value in data.items() if value is not None}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": kept}
    return Request("POST", config_map_path(place.namespace), query, body)


def _with_version(wanted: Inventory, metadata: Mapping[str, Plain]) -> Inventory:
    return wanted._replace(
        uid=plain_text(metadata.get("uid")), version=plain_text(metadata.get("resourceVersion"))
    )


def _pending_text(inventory: Inventory) -> str:
    return _text({"plan": inventory.pending_plan, "entries": [_plain(each) for each in inventory.pending]})


def _plain(entry: Entry) -> dict[str, Plain]:
    return {
        "group": KINDS[entry.kind].group,
        "kind": entry.kind,
        "name": entry.name,
        "uid": entry.uid,
        "generation": entry.generation,
        "sha256": entry.digest,
    }


def _text(value: Plain) -> str:
    return json.dumps(value, separators=(",", ":"))
