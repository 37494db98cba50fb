"""YAML as kubectl and the API server read it: sigs.k8s.io/yaml on go-yaml v2, on the way to JSON."""

from __future__ import annotations

import base64
import math
import re
import struct
from decimal import Decimal
from typing import TYPE_CHECKING

from gpupool.codes import Code
from gpupool.yamlio.dialect import Dialect, KeyValue, ReadLimits, describe_key_problem
from gpupool.yamlio.scalars import Reading, quote_value, resolve_kubectl, suggest_quotes

if TYPE_CHECKING:
    from gpupool.yamlio.located import Scalar

_PREFIX = "tag:yaml.org,2002:"
_FLOAT_TAG = f"{_PREFIX}float"
_INT64 = range(-(2**63), 2**63)
_TIMESTAMP = re.compile(
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    r"( [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(\.[0-9]+)?"
    r"|[Tt][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(\.[0-9]+)?(Z|[-+][0-9]{2}:[0-9]{2}))?"
)
_TYPES: dict[str, tuple[type, ...]] = {
    f"{_PREFIX}int": (int,),
    _FLOAT_TAG: (float, int),
    f"{_PREFIX}bool": (bool,),
    f"{_PREFIX}null": (type(None),),
}
_NON_FINITE = {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}
_MAY_BE_A_WORD = frozenset("yYnNtTfFoO")
_NO_BREAKS = str.maketrans("", "", "\r\n")
_SINGLE_DIGITS = 9
"""So many digits tell every single-precision number from the next."""

_FEWEST_EXPONENT, _MOST_EXPONENT = -4, 6
"""Where Go begins to write an exponent."""


def convert_float(value: float) -> int | float:
    """Return a finite number with a fraction or an exponent as the API server gets it.

    Go writes one without a fraction like a whole number, with the fewest digits that tell it from others.
    """
    convert_int = int(Decimal(repr(value))) if value.is_integer() else None
    return convert_int if convert_int is not None and convert_int in _INT64 else value


def convert_int(value: int) -> int | float:
    """Return a whole number as the API server takes it: as a float where 64 bits do not hold it."""
    return value if value in _INT64 else float(value)


def read_untagged(text: str) -> Reading:
    """Read a scalar without quotes as go-yaml does."""
    return Reading(text if text[:1].isalpha() and text[0] not in _MAY_BE_A_WORD else resolve_kubectl(text))


def read_tagged(tag: str, text: str) -> Reading:
    """Read a scalar that has a tag; one that is not known makes it text."""
    if tag == f"{_PREFIX}binary":
        return _binary(text)
    if tag == f"{_PREFIX}timestamp" and not _TIMESTAMP.fullmatch(text):
        return _mistake(f"{quote_value(text)} is not a valid !!timestamp", "put the string in quotes")
    if tag not in _TYPES:
        return Reading(text)
    value = resolve_kubectl(text)
    if type(value) not in _TYPES[tag]:
        name = tag.removeprefix(_PREFIX)
        return _mistake(
            f"{quote_value(text)} is not a valid !!{name} for kubectl",
            f"remove the tag, or write a !!{name} value",
        )
    return Reading(float(value) if isinstance(value, int) and tag == _FLOAT_TAG else value)


def convert_key(value: KeyValue, spelled: str | None) -> Reading:
    """Return the text that becomes of a key on the way to JSON."""
    if value is None or isinstance(value, (dict, list)):
        return _mistake(describe_key_problem(value, spelled), "use a string as the key")
    if isinstance(value, bool):
        return Reading("true" if value else "false")
    # What an alias stands for went through JSON already; how it is written still says what it was.
    original = resolve_kubectl(spelled or "")
    if not isinstance(original, int):
        return Reading(format_single(original if isinstance(original, float) else float(value)))
    if original not in _INT64:
        return _mistake(f"the key {original} has more than 64 bits", suggest_quotes(spelled or str(original)))
    return Reading(str(original))


def format_single(value: float) -> str:
    """Spell a number as Go does with the fewest digits for single precision, as go-yaml does in a key."""
    narrow = _narrow(value)
    if not math.isfinite(narrow):
        return _NON_FINITE[str(narrow)]
    spellings = (f"{narrow:.{places}e}" for places in range(_SINGLE_DIGITS))
    digits = next(spelling for spelling in spellings if _narrow(float(spelling)) == narrow)
    exponent = digits.partition("e")[2]
    if _FEWEST_EXPONENT <= int(exponent) < _MOST_EXPONENT:
        return f"{Decimal(digits):f}"
    return digits


def _narrow(value: float) -> float:
    """Round to single precision."""
    try:
        narrow: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return narrow


def convert_value(value: Scalar, text: str) -> Reading:
    """Return what becomes of a value on the way to JSON and to the API server."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return Reading(value)
    if isinstance(value, float) and not math.isfinite(value):
        return _mistake(
            f"{quote_value(text)} is not a finite number; JSON supports no others", "write a number"
        )
    return Reading(convert_float(value) if isinstance(value, float) else convert_int(value))


def _binary(text: str) -> Reading:
    try:
        return Reading(base64.b64decode(text.translate(_NO_BREAKS), validate=True).decode(errors="replace"))
    except ValueError:
        return _mistake("the !!binary value is not base64", "remove the tag, or write base64")


def _mistake(problem: str, fix: str) -> Reading:
    return Reading(None, Code.MANIFEST_SYNTAX, problem, fix)


KUBECTL = Dialect(
    noun="manifest",
    limits=ReadLimits(depth=200, nodes=300_000),
    unreadable=Code.MANIFEST_UNREADABLE,
    syntax=Code.MANIFEST_SYNTAX,
    key_twice=Code.MANIFEST_KEY_TWICE,
    plain=read_untagged,
    tagged=read_tagged,
    value=convert_value,
    key=convert_key,
    check_tag=lambda _tag, _is_map: "",
    merges=True,
    keeps_last=True,
)
"""YAML 1.1 with go-yaml's ways; what the API server's strict reading refuses is a mistake."""
