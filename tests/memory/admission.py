"""What becomes of a body before it is stored: unknown fields, defaults, and what its CRD rejects."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

from tests.karpenter.crds import FILES, errors
from tests.memory.schemas import NO_DEFAULT, resources
from tests.memory.statuses import bad_request, invalid
from tests.memory.values import copy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.memory.schemas import Body, Resource, Type

_NO_FINALIZER = "Forbidden: no new finalizers can be added if the object is being deleted"


def received(resource: Resource, body: Body, *, is_strict: bool) -> Body:
    """Return a body as the server reads it: without unknown fields, with defaults.

    Raises:
        RefusedError: where there are unknown fields, and they are to be refused.
    """
    unknown = [
        path
        for part in ("spec", "data")
        if part in body
        for path in _unknown(body[part], resource.type.of(part), part)
    ]
    if unknown and is_strict:
        listed = ", ".join(f'unknown field "{path}"' for path in unknown)
        message = f"{resource.kind} in version can't be handled as a {resource.kind}: strict decoding error: {listed}"
        raise bad_request(message)
    return defaulted(resource, body)


def _unknown(value: Any, type_: Type | None, path: str) -> Iterator[str]:  # noqa: ANN401 - any part of an object
    if type_ is None:
        yield path
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _unknown(item, type_.of(key) if type_.form == "map" else None, f"{path}.{key}")
    elif isinstance(value, list) and type_.element is not None:
        for index, item in enumerate(value):
            yield from _unknown(item, type_.element, f"{path}[{index}]")


def defaulted(resource: Resource, body: Body, *, keeps_nulls: bool = False) -> Body:
    """Return a body without unknown fields and nulls, with the defaults of its schema.

    What server-side apply emptied is null, which stays as it is, and is rejected later.
    """
    if resource.is_custom:
        return {
            key: _metadata(value)
            if key == "metadata"
            else _filled(value, resource.type.fields[key], keeps_nulls=keeps_nulls)
            for key, value in body.items()
            if key in resource.type.fields and value is not None
        }
    kept = {key: _metadata(value) if key == "metadata" else value for key, value in body.items()}
    structs: Body = {"spec": {}} if "spec" in resource.type.fields else {}
    return structs | {
        key: value for key, value in kept.items() if key == "metadata" or value not in (None, {}, [])
    }


def _metadata(metadata: Body) -> Body:
    """Metadata is read into a struct, and what is empty there is not written again."""
    return {
        key: value
        for key, value in metadata.items()
        if value not in (None, {}, [], "") or key == "managedFields"
    }


def _filled(value: Any, type_: Type, *, keeps_nulls: bool) -> Any:  # noqa: ANN401 - any part of an object
    if type_.form == "map" and isinstance(value, dict):
        missing = {
            key: copy(inner.default)
            for key, inner in type_.fields.items()
            if inner.default is not NO_DEFAULT and value.get(key) is None
        }
        known = {**value, **missing}
        return {
            key: _filled(item, inner, keeps_nulls=keeps_nulls)
            for key, item in known.items()
            if (item is not None or keeps_nulls) and (inner := type_.of(key)) is not None
        }
    if type_.form == "list" and isinstance(value, list) and type_.element is not None:
        return [_filled(item, type_.element, keeps_nulls=keeps_nulls) for item in value]
    return value


def ensure_valid(resource: Resource, body: Body, part: str) -> None:
    """Check `spec` or `status` of an object against its CRD.

    Raises:
        RefusedError: with every violation.
    """
    if resource.kind not in FILES:
        return
    found = _violations(resource.kind, part, json.dumps(body.get(part, {}), sort_keys=True))
    if found:
        raise invalid(resource, body["metadata"]["name"], found)


@lru_cache(maxsize=4096)
def _violations(kind: str, part: str, text: str) -> tuple[tuple[str, str], ...]:
    """Cached, as jsonschema takes a millisecond for an object, and most are seen again and again."""
    value = json.loads(text)
    found = errors(kind, {"spec": value}) if part == "spec" else _status(kind).iter_errors({"status": value})
    return tuple((".".join(map(str, each.absolute_path)), each.message) for each in found)


@cache
def _status(kind: str) -> Draft202012Validator:
    """Return what checks a status; that of a whole object is read without its status."""
    (crd,) = (each.crd for each in resources() if each.kind == kind)
    assert crd is not None
    (version,) = crd["spec"]["versions"]
    return Draft202012Validator(
        {"properties": {"status": version["schema"]["openAPIV3Schema"]["properties"]["status"]}}
    )


def ensure_no_new_finalizers(resource: Resource, before: Body, after: Body) -> None:
    """Check that nobody holds an object that is being deleted any longer than others do.

    Raises:
        RefusedError: where somebody does.
    """
    metadata = before["metadata"]
    if "deletionTimestamp" not in metadata:
        return
    if set(after["metadata"].get("finalizers", ())) - set(metadata.get("finalizers", ())):
        raise invalid(resource, metadata["name"], [("metadata.finalizers", _NO_FINALIZER)])
