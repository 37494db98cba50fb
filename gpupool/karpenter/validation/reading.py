"""How the API server reads an object before it checks anything: what it drops, and what numbers are to it."""

import math
from collections.abc import Iterator
from typing import Final

from gpupool.codes import Code
from gpupool.findings import Finding, Severity
from gpupool.shapes.error_messages import ErrorPath, dotted
from gpupool.yamlio.located import Located, Scalar, items, mapping, place, text_at

OPEN_MAPS: Final = frozenset(
    {
        "labels", "annotations", "limits", "tags", "capacity", "systemReserved", "kubeReserved",
        "evictionHard", "evictionSoft", "evictionSoftGracePeriod",
    }
)  # fmt: skip
"""The maps with keys of the user's: there the server drops a null before it looks."""

_LISTS_OF_MAPS = ("ownerReferences", "managedFields")
_EXACT = 2**53 - 1
"""The greatest whole number that the server takes for one when it is written with a point."""

_READ_AS_THEY_ARE = frozenset({str, bool, type(None)})
_BITS_OF_FLOAT = 1023
_INT64 = range(-(2**63), 2**63)
_FILLED_IN = frozenset(
    {
        "disruption", "budgets", "consolidationPolicy", "nodes", "expireAfter", "metadataOptions",
        "httpEndpoint", "httpProtocolIPv6", "httpPutResponseHopLimit", "httpTokens",
    }
)  # fmt: skip
"""Fields with a default: there server-side apply takes a null as well."""


def as_server_reads(body: Located, *, odd: bool) -> Located:
    """Return an object as the server has it before it checks anything; `odd` is what `is_odd` says of it."""
    said = dict(mapping(body))
    said["metadata"] = _metadata(said.get("metadata") or Located(None, place(body)))
    whole = _with(body, said)
    return _read(whole) if odd else whole


def is_odd(body: Located) -> bool:
    """Return whether an object holds what the server reads as something else: a null, or a number of a kind."""
    left = [body]
    while left:
        value = left.pop().value
        if isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list):
            left += value
        elif value is None or isinstance(value, float) or (type(value) is int and value not in _INT64):
            return True
    return False


def find_nulls(body: Located, path: ErrorPath = ()) -> Iterator[Finding]:
    """Find each null that a plain create drops and server-side apply refuses."""
    for key, item in mapping(body).items():
        here = (*path, key)
        if item.value is None and key not in _FILLED_IN and here[0] == "spec":
            message = f"`{dotted(here)}` is null: server-side apply rejects it"
            yield Finding(
                Code.NULL_FIELD, message, place(item), "remove the field", Severity.WARNING, dotted(here)
            )
        yield from find_nulls(item, here)
    for index, item in enumerate(items(body)):
        yield from find_nulls(item, (*path, index))


def _metadata(node: Located) -> Located:
    """Return metadata as Go reads it: a null is an empty value there, and so is what is left out."""
    if node.value is not None and not isinstance(node.value, dict):
        return node
    said = dict(mapping(node))
    if text_at(node, "generateName") and not text_at(node, "name"):
        said.pop("name", None)
    for key in _LISTS_OF_MAPS:
        if key in said and isinstance(said[key].value, list):
            filled = [Located({}, item.at) if item.value is None else item for item in items(said[key])]
            said[key] = _with(said[key], filled)
    return _with(node, said)


def _read(node: Located, key: str = "") -> Located:
    value = node.value
    if isinstance(value, dict):
        kept = (
            value
            if key not in OPEN_MAPS
            else {k: item for k, item in value.items() if item.value is not None}
        )
        return _with(node, {name: _read(item, name) for name, item in kept.items()})
    if isinstance(value, list):
        return _with(node, [_read(item) for item in value])
    return node if type(value) in _READ_AS_THEY_ARE else _number(node)


def _number(node: Located) -> Located:
    """Return a number as Go's JSON has it: whole in 64 bits, or else with a point."""
    value = node.value
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT:
        return _with(node, int(value))
    if isinstance(value, int) and value not in _INT64:
        return _with(node, float(value) if value.bit_length() <= _BITS_OF_FLOAT else math.inf)
    return node


def _with(node: Located, value: Scalar | list[Located] | dict[str, Located]) -> Located:
    return Located(value, node.at, node.key, node.text, node.previous, node.note)
