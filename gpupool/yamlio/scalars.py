"""What a plain scalar means: to YAML 1.2 core, and to kubectl and Helm."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

from gpupool.codes import Code

if TYPE_CHECKING:
    from gpupool.yamlio.located import Scalar

_CORE_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_KUBECTL_WORDS: dict[str, bool | None] = {
    **_CORE_WORDS,
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF"), False),
}
_NON_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_CORE_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_KUBECTL_INT = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)")
_KUBECTL_DOT_FLOAT = re.compile(r"\.[0-9]+(_[0-9]+)*([eE][-+]?[0-9]+(_[0-9]+)*)?")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+")

_MAYBE_NOT_TEXT = frozenset("+-.0123456789~nNtTfFyYoO")
"""A plain scalar that begins otherwise is text to every reader."""
_MAX_DIGITS = 1000
_LONGEST_SHOWN = 60
_INT_MIN, _INT_MAX = -(2**63), 2**64 - 1
"""What kubectl keeps as a whole number; past it, it counts in floating point."""

_INVISIBLE = frozenset(
    "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u202f\u3000"
)


class Reading(NamedTuple):
    """What a plain scalar means, and why it must not be written this way, if so."""

    value: Scalar
    code: str = ""
    problem: str = ""
    fix: str = ""


def read_plain(text: str) -> Reading:
    """Read a plain scalar as YAML 1.2 core and say whether kubectl and Helm disagree."""
    if text and text[0] not in _MAYBE_NOT_TEXT:
        return _text(text)
    value = resolve_core(text)
    if isinstance(value, float) and not math.isfinite(value):
        problem = f"{quote_value(text)} is not a finite number; JSON supports no others"
        return Reading(value, Code.AMBIGUOUS_SCALAR, problem, "write a number, or put the string in quotes")
    theirs = resolve_kubectl(text)
    if type(value) is not type(theirs) and {type(value), type(theirs)} != {int, float}:
        return _disagreement(text, value, theirs)
    if value != theirs or _is_past_64_bits(value):
        return _disagreement(text, value, theirs)
    if _LEADING_ZERO.fullmatch(text):
        problem = (
            f"{quote_value(text)} has a leading zero: a number loses it, and some readers take it as octal"
        )
        fix = f"remove the zero, or {suggest_quotes(text)}"
        return Reading(value, Code.AMBIGUOUS_SCALAR, problem, fix)
    return Reading(value)


def resolve_core(text: str) -> Scalar:
    """Return what YAML 1.2 core makes of a plain scalar; `.inf` and `.nan` become floats."""
    if text in _CORE_WORDS:
        return _CORE_WORDS[text]
    if _CORE_INT.fullmatch(text) and len(text) <= _MAX_DIGITS:
        return int(text, 10 if text.lstrip("+-")[:2] not in {"0o", "0x"} else 0)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _NON_FINITE.fullmatch(text):
        return float(text.replace(".", "").lower())
    return text


def resolve_kubectl(text: str) -> Scalar:
    """Return what kubectl and Helm make of a plain scalar.

    Both read YAML with sigs.k8s.io/yaml, which is go-yaml v2: YAML 1.1's booleans, Go's spelling of
    whole numbers with underscores anywhere, no sexagesimal numbers; dates stay text.
    """
    if text in _KUBECTL_WORDS:
        return _KUBECTL_WORDS[text]
    if text.startswith("."):
        return _kubectl_dot(text)
    if text[0] not in "+-0123456789":
        return text
    bare = text.replace("_", "")
    if _KUBECTL_INT.fullmatch(bare) and len(bare) <= _MAX_DIGITS:
        number = _go_int(bare)
        if _INT_MIN <= number <= _INT_MAX:
            return number
    if _FLOAT.fullmatch(bare):
        return _finite(bare, text)
    return float(text.replace(".", "").lower()) if _NON_FINITE.fullmatch(text) else text


def quote_value(text: str) -> str:
    """Return the beginning of a text as a message can quote it."""
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…")


def suggest_quotes(text: str) -> str:
    """Return how to write a short plain scalar as a string, for a fix."""
    return f'put it in quotes: `"{text}"`' if len(text) <= _LONGEST_SHOWN else "put it in quotes"


def _text(text: str) -> Reading:
    """Accept text unless an invisible blank stands at its edge."""
    edge = text[0] if text[0] in _INVISIBLE else text[-1]
    if edge not in _INVISIBLE:
        return Reading(text)
    problem = f"invisible space U+{ord(edge):04X} at the start or end of a string: YAML keeps it in the value"
    return Reading(text, Code.NOT_YAML, problem, "use ordinary spaces, or put the string in quotes")


def _kubectl_dot(text: str) -> Scalar:
    if _NON_FINITE.fullmatch(text):
        return float(text.replace(".", "").lower())
    return _finite(text.replace("_", ""), text) if _KUBECTL_DOT_FLOAT.fullmatch(text) else text


def _go_int(text: str) -> int:
    """Read a whole number as Go's ParseInt with base 0 does: a leading zero alone means octal."""
    digits = text.lstrip("+-")
    is_octal = digits[0] == "0" and digits.isdigit()
    number = int(digits, 8 if is_octal else 0)
    return -number if text[0] == "-" else number


def _finite(number: str, text: str) -> Scalar:
    """Read a floating-point number; Go leaves one that is too large as text."""
    value = float(number)
    return value if math.isfinite(value) else text


def _is_past_64_bits(value: Scalar) -> bool:
    return type(value) is int and not _INT_MIN <= value <= _INT_MAX


def _disagreement(text: str, ours: Scalar, theirs: Scalar) -> Reading:
    problem = f"{quote_value(text)} is {_words(ours)} in YAML 1.2, but {_words(theirs)} for kubectl and Helm"
    others = dict.fromkeys(f"`{_spelling(value)}`" for value in (theirs, ours) if not isinstance(value, str))
    fix = f"write {' or '.join(others)}, or {suggest_quotes(text)}"
    return Reading(ours, Code.AMBIGUOUS_SCALAR, problem, fix)


def _words(value: Scalar) -> str:
    if isinstance(value, str):
        return "a string"
    if isinstance(value, bool) or value is None:
        return _spelling(value)
    return f"the number {_spelling(value)}"


def _spelling(value: Scalar) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    number = repr(value)
    return number if len(number) <= _LONGEST_SHOWN else f"{number[:_LONGEST_SHOWN]}…"
