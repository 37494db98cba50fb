"""The YAML dialect of kubectl and the API server: sigs.k8s.io/yaml on go-yaml v2, converted to JSON."""

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
_BOOLEAN_INITIALS = frozenset("yYnNtTfFoO")
_NO_BREAKS = str.maketrans("", "", "\r\n")
_SINGLE_DIGITS = 9
"""The digits that distinguish every single-precision number from the next."""

_MIN_EXPONENT, _MAX_EXPONENT = -4, 6
"""Numbers outside this range are written with an exponent by Go."""


def convert_float(value: float) -> int | float:
    """Convert a finite floating-point number to the number that the API server receives.

    Go writes one without a fraction as a whole number, with the fewest digits that identify it.
    """
    integer = int(Decimal(repr(value))) if value.is_integer() else None
    return integer if integer is not None and integer in _INT64 else value


def convert_int(value: int) -> int | float:
    """Convert a whole number to the number that the API server receives: a float beyond 64 bits."""
    return value if value in _INT64 else float(value)


def read_untagged(text: str) -> Reading:
    """Read a scalar that has neither quotes nor a tag as go-yaml does."""
    return Reading(text if text[:1].isalpha() and text[0] not in _BOOLEAN_INITIALS else resolve_kubectl(text))


def read_tagged(tag: str, text: str) -> Reading:
    """Read a scalar that has a tag; with an unknown tag it is a string."""
    if tag == f"{_PREFIX}binary":
        return _decode_binary(text)
    if tag == f"{_PREFIX}timestamp" and not _TIMESTAMP.fullmatch(text):
        return _invalid(f"{quote_value(text)} is not a valid !!timestamp", "put the string in quotes")
    if tag not in _TYPES:
        return Reading(text)
    value = resolve_kubectl(text)
    if type(value) not in _TYPES[tag]:
        name = tag.removeprefix(_PREFIX)
        return _invalid(
            f"{quote_value(text)} is not a valid !!{name} for kubectl",
            f"remove the tag, or write a !!{name} value",
        )
    return Reading(float(value) if isinstance(value, int) and tag == _FLOAT_TAG else value)


def convert_key(value: KeyValue, spelled: str | None) -> Reading:
    """Convert a key to its text in JSON."""
    if value is None or isinstance(value, (dict, list)):
        return _invalid(describe_key_problem(value, spelled), "use a string as the key")
    if isinstance(value, bool):
        return Reading("true" if value else "false")
    # The value of an alias was converted to JSON already; its text still shows the original number.
    original = resolve_kubectl(spelled or "")
    if not isinstance(original, int):
        return Reading(format_single(original if isinstance(original, float) else float(value)))
    if original not in _INT64:
        return _invalid(f"the key {original} has more than 64 bits", suggest_quotes(spelled or str(original)))
    return Reading(str(original))


def format_single(value: float) -> str:
    """Format a number with the fewest digits for single precision, as go-yaml does in a key."""
    narrow = _to_single(value)
    if not math.isfinite(narrow):
        return _NON_FINITE[str(narrow)]
    spellings = (f"{narrow:.{places}e}" for places in range(_SINGLE_DIGITS))
    digits = next(spelling for spelling in spellings if _to_single(float(spelling)) == narrow)
    exponent = digits.partition("e")[2]
    if _MIN_EXPONENT <= int(exponent) < _MAX_EXPONENT:
        return f"{Decimal(digits):f}"
    return digits


def _to_single(value: float) -> float:
    """Round to single precision."""
    try:
        narrow: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return narrow


def convert_value(value: Scalar, text: str) -> Reading:
    """Convert a value as the conversion to JSON and the API server do."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return Reading(value)
    if isinstance(value, float) and not math.isfinite(value):
        return _invalid(
            f"{quote_value(text)} is not a finite number; JSON supports no others", "write a number"
        )
    return Reading(convert_float(value) if isinstance(value, float) else convert_int(value))


def _decode_binary(text: str) -> Reading:
    try:
        return Reading(base64.b64decode(text.translate(_NO_BREAKS), validate=True).decode(errors="replace"))
    except ValueError:
        return _invalid("the !!binary value is not base64", "remove the tag, or write base64")


def _invalid(problem: str, fix: str) -> Reading:
    return Reading(None, Code.MANIFEST_SYNTAX, problem, fix)


KUBECTL = Dialect(
    noun="manifest",
    limits=ReadLimits(depth=200, nodes=300_000),
    syntax=Code.MANIFEST_SYNTAX,
    duplicate_key=Code.MANIFEST_KEY_TWICE,
    read_plain=read_untagged,
    read_tagged=read_tagged,
    convert_value=convert_value,
    convert_key=convert_key,
    check_tag=lambda _tag, _is_map: "",
    has_merge_keys=True,
    is_last_key_kept=True,
)
"""YAML 1.1 as go-yaml reads it; what strict field validation of the API server rejects is an error."""
