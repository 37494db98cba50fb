"""An object as the API server reads it before validation: dropped nulls, normalized numbers."""

import math
from collections.abc import Iterator
from typing import Final

from gpupool.codes import Code
from gpupool.findings import Finding, Severity
from gpupool.shapes.error_messages import ErrorPath, format_path
from gpupool.yamlio.located import Located, Scalar, items, mapping, place, text_at

OPEN_MAPS: Final = frozenset(
    {
        "labels", "annotations", "limits", "tags", "capacity", "systemReserved", "kubeReserved",
        "evictionHard", "evictionSoft", "evictionSoftGracePeriod",
    }
)  # fmt: skip
"""The maps with user-defined keys, in which the server drops nulls before it validates."""

_LISTS_OF_MAPS = ("ownerReferences", "managedFields")
_EXACT = 2**53 - 1
"""The greatest whole number that the server accepts as one when it is written with a point."""

_READ_AS_THEY_ARE = frozenset({str, bool, type(None)})
_BITS_OF_FLOAT = 1023
_INT64 = range(-(2**63), 2**63)
_FILLED_IN = frozenset(
    {
        "disruption", "budgets", "consolidationPolicy", "nodes", "expireAfter", "metadataOptions",
        "httpEndpoint", "httpProtocolIPv6", "httpPutResponseHopLimit", "httpTokens",
    }
)  # fmt: skip
"""Fields with a default, for which server-side apply also accepts a null."""


def as_server_reads(body: Located, *, odd: bool) -> Located:
    """Return an object as the server reads it before validation; `odd` is the result of `is_odd`."""
    fields = dict(mapping(body))
    fields["metadata"] = _read_metadata(fields.get("metadata") or Located(None, place(body)))
    filled = _replace_value(body, fields)
    return _read(filled) if odd else filled


def is_odd(body: Located) -> bool:
    """Return whether an object has values that the server reads differently: nulls or certain numbers."""
    pending = [body]
    while pending:
        value = pending.pop().value
        if isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list):
            pending += value
        elif value is None or isinstance(value, float) or (type(value) is int and value not in _INT64):
            return True
    return False


def find_nulls(body: Located, path: ErrorPath = ()) -> Iterator[Finding]:
    """Find each null that a plain create drops and server-side apply rejects."""
    for key, item in mapping(body).items():
        here = (*path, key)
        if item.value is None and key not in _FILLED_IN and here[0] == "spec":
            message = f"`{format_path(here)}` is null: server-side apply rejects it"
            yield Finding(
                Code.NULL_FIELD, message, place(item), "remove the field", Severity.WARNING, format_path(here)
            )
        yield from find_nulls(item, here)
    for index, item in enumerate(items(body)):
        yield from find_nulls(item, (*path, index))


def _read_metadata(node: Located) -> Located:
    """Return metadata as Go reads it: a null or a missing field is an empty value."""
    if node.value is not None and not isinstance(node.value, dict):
        return node
    fields = dict(mapping(node))
    if text_at(node, "generateName") and not text_at(node, "name"):
        fields.pop("name", None)
    for key in _LISTS_OF_MAPS:
        if key in fields and isinstance(fields[key].value, list):
            filled = [Located({}, item.at) if item.value is None else item for item in items(fields[key])]
            fields[key] = _replace_value(fields[key], filled)
    return _replace_value(node, fields)


def _read(node: Located, key: str = "") -> Located:
    value = node.value
    if isinstance(value, dict):
        entries = (
            value
            if key not in OPEN_MAPS
            else {k: item for k, item in value.items() if item.value is not None}
        )
        return _replace_value(node, {name: _read(item, name) for name, item in entries.items()})
    if isinstance(value, list):
        return _replace_value(node, [_read(item) for item in value])
    return node if type(value) in _READ_AS_THEY_ARE else _read_number(node)


def _read_number(node: Located) -> Located:
    """Return a number as Go's JSON reads it: an integer of 64 bits, otherwise a float."""
    value = node.value
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT:
        return _replace_value(node, int(value))
    if isinstance(value, int) and value not in _INT64:
        return _replace_value(node, float(value) if value.bit_length() <= _BITS_OF_FLOAT else math.inf)
    return node


def _replace_value(node: Located, value: Scalar | list[Located] | dict[str, Located]) -> Located:
    return Located(value, node.at, node.key, node.text, node.previous, node.note)
