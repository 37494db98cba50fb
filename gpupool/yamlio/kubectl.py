"""YAML as kubectl and the API server read it: sigs.k8s.io/yaml on go-yaml v2, on the way to JSON."""

from __future__ import annotations

import base64
import binascii
import math
import struct
from decimal import Decimal
from typing import TYPE_CHECKING

from gpupool.codes import Code
from gpupool.yamlio.dialect import Dialect, KeyValue, Limits, key_problem
from gpupool.yamlio.scalars import Reading, kubectl_reading, shown

if TYPE_CHECKING:
    from gpupool.yamlio.nodes import Scalar

_PREFIX = "tag:yaml.org,2002:"
_INT64 = range(-(2**63), 2**63)
_TYPES: dict[str, tuple[type, ...]] = {
    f"{_PREFIX}int": (int,),
    f"{_PREFIX}float": (float, int),
    f"{_PREFIX}bool": (bool,),
    f"{_PREFIX}null": (type(None),),
}
_SINGLE_DIGITS = 9
"""So many digits tell every single-precision number from the next."""

_FEWEST_EXPONENT, _MOST_EXPONENT = -4, 6
"""Where Go begins to write an exponent."""


def fraction(value: float) -> int | float:
    """Give a finite number with a fraction or an exponent as the API server gets it.

    Go writes one without a fraction like a whole number, with the fewest digits that tell it from others.
    """
    whole = int(Decimal(repr(value))) if value.is_integer() else None
    return whole if whole is not None and whole in _INT64 else value


def whole(value: int) -> int | float:
    """Give a whole number as the API server takes it: as a float where 64 bits do not hold it."""
    return value if value in _INT64 else float(value)


def read(text: str) -> Reading:
    """Read a scalar without quotes."""
    return _json(kubectl_reading(text), text)


def read_tagged(tag: str, text: str) -> Reading:
    """Read a scalar that has a tag; one that is not known makes it text."""
    if tag == "!":
        return read(text)
    if tag == f"{_PREFIX}binary":
        return _binary(text)
    if tag == f"{_PREFIX}timestamp":
        return _mistake(f"{shown(text)} can't be read as a !!timestamp", "put the text in quotes")
    if tag not in _TYPES:
        return Reading(text)
    value = kubectl_reading(text)
    if type(value) not in _TYPES[tag]:
        name = tag.removeprefix(_PREFIX)
        return _mistake(f"{shown(text)} is no !!{name} to kubectl", "remove the tag, or write such a value")
    return _json(value, text)


def key_text(value: KeyValue, spelled: str | None) -> Reading:
    """Give the text that becomes of a key on the way to JSON."""
    if isinstance(value, str):
        return Reading(value)
    if value is None or isinstance(value, (dict, list)):
        return _mistake(key_problem(value, spelled), "write a text as the key")
    if isinstance(value, bool):
        return Reading("true" if value else "false")
    # What it was before JSON counts: a float is spelled anew, even one without a fraction.
    original = kubectl_reading(spelled or "")
    if not isinstance(original, int):
        return Reading(single(original if isinstance(original, float) else float(value)))
    if original not in _INT64:
        return _mistake(f"the key {original} has more than 64 bits", "put the key in quotes")
    return Reading(str(original))


def single(value: float) -> str:
    """Spell a number as Go does with the fewest digits for single precision, as go-yaml does in a key."""
    try:
        narrow: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return ".inf" if value > 0 else "-.inf"
    digits = next(
        spelled
        for places in range(_SINGLE_DIGITS)
        if struct.unpack("f", struct.pack("f", float(spelled := f"{narrow:.{places}e}")))[0] == narrow
    )
    exponent = digits.partition("e")[2]
    if _FEWEST_EXPONENT <= int(exponent) < _MOST_EXPONENT:
        return f"{Decimal(digits):f}"
    return digits


def _json(value: Scalar, text: str) -> Reading:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return Reading(value)
    if isinstance(value, float) and not math.isfinite(value):
        return _mistake(f"{shown(text)} is no finite number, and JSON has no other", "write a number")
    return Reading(fraction(value) if isinstance(value, float) else whole(value))


def _binary(text: str) -> Reading:
    try:
        return Reading(base64.b64decode("".join(text.split()), validate=True).decode(errors="replace"))
    except binascii.Error:
        return _mistake("a !!binary value that is no base64", "remove the tag, or write base64")


def _mistake(problem: str, fix: str) -> Reading:
    return Reading(None, Code.MANIFEST_SYNTAX, problem, fix)


KUBECTL = Dialect(
    noun="manifest",
    limits=Limits(depth=200, nodes=500_000),
    unreadable=Code.MANIFEST_UNREADABLE,
    syntax=Code.MANIFEST_SYNTAX,
    key_twice=Code.MANIFEST_KEY_TWICE,
    plain=read,
    tagged=read_tagged,
    key=key_text,
    collection_problem=lambda _tag, _is_map: "",
    merges=True,
    keeps_last=True,
)
"""YAML 1.1 with go-yaml's ways; what the API server's strict reading refuses is a mistake."""
