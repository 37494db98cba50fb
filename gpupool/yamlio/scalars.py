"""Values of unquoted scalars in YAML 1.2 core, and in kubectl and Helm."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

from gpupool.codes import Code

if TYPE_CHECKING:
    from gpupool.yamlio.located import Scalar

_CORE_LITERALS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_KUBECTL_LITERALS: dict[str, bool | None] = {
    **_CORE_LITERALS,
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF"), False),
}
_NON_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_CORE_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_KUBECTL_INT = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)")
_KUBECTL_DOT_FLOAT = re.compile(r"\.[0-9]+(_[0-9]+)*([eE][-+]?[0-9]+(_[0-9]+)*)?")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+")

_NON_STRING_INITIALS = frozenset("+-.0123456789~nNtTfFyYoO")
"""An unquoted scalar with any other first character is a string to every reader."""

_MAX_DIGITS = 1000
_LONGEST_SHOWN = 60
_INT_MIN, _INT_MAX = -(2**63), 2**64 - 1
"""The whole numbers that kubectl keeps; it reads others as floating-point numbers."""

_INVISIBLE = frozenset(
    "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u202f\u3000"
)


class Reading(NamedTuple):
    """The value of an unquoted scalar, and the error where the text is ambiguous or invalid."""

    value: Scalar
    code: str = ""
    problem: str = ""
    fix: str = ""


def read_plain(text: str) -> Reading:
    """Read an unquoted scalar as YAML 1.2 core, with an error where kubectl and Helm read it differently."""
    if text and text[0] not in _NON_STRING_INITIALS:
        return _read_string(text)
    value = resolve_core(text)
    if isinstance(value, float) and not math.isfinite(value):
        problem = f"{quote_value(text)} is not a finite number; JSON supports no others"
        return Reading(value, Code.AMBIGUOUS_SCALAR, problem, "write a number, or put the string in quotes")
    kubectl = resolve_kubectl(text)
    if type(value) is not type(kubectl) and {type(value), type(kubectl)} != {int, float}:
        return _report_difference(text, value, kubectl)
    if value != kubectl or _is_past_64_bits(value):
        return _report_difference(text, value, kubectl)
    if _LEADING_ZERO.fullmatch(text):
        problem = (
            f"{quote_value(text)} has a leading zero: a number loses it, and some parsers read it as octal"
        )
        fix = f"remove the zero, or {suggest_quotes(text)}"
        return Reading(value, Code.AMBIGUOUS_SCALAR, problem, fix)
    return Reading(value)


def resolve_core(text: str) -> Scalar:
    """Return the value of an unquoted scalar in YAML 1.2 core; `.inf` and `.nan` are floats."""
    if text in _CORE_LITERALS:
        return _CORE_LITERALS[text]
    if _CORE_INT.fullmatch(text) and len(text) <= _MAX_DIGITS:
        return int(text, 10 if text.lstrip("+-")[:2] not in {"0o", "0x"} else 0)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _NON_FINITE.fullmatch(text):
        return float(text.replace(".", "").lower())
    return text


def resolve_kubectl(text: str) -> Scalar:
    """Return the value of an unquoted scalar in kubectl and Helm.

    Both read YAML with sigs.k8s.io/yaml, which is go-yaml v2: YAML 1.1's booleans, Go's syntax of
    whole numbers with underscores anywhere, no sexagesimal numbers; dates stay strings.
    """
    if text in _KUBECTL_LITERALS:
        return _KUBECTL_LITERALS[text]
    if text.startswith("."):
        return _resolve_kubectl_dot(text)
    if text[0] not in "+-0123456789":
        return text
    digits = text.replace("_", "")
    if _KUBECTL_INT.fullmatch(digits) and len(digits) <= _MAX_DIGITS:
        number = _parse_go_int(digits)
        if _INT_MIN <= number <= _INT_MAX:
            return number
    if _FLOAT.fullmatch(digits):
        return _parse_finite(digits, text)
    return float(text.replace(".", "").lower()) if _NON_FINITE.fullmatch(text) else text


def quote_value(text: str) -> str:
    """Return a text in quotes for a message, shortened where it is long."""
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…")


def suggest_quotes(text: str) -> str:
    """Return the fix that writes an unquoted scalar as a string."""
    return f'put it in quotes: `"{text}"`' if len(text) <= _LONGEST_SHOWN else "put it in quotes"


def _read_string(text: str) -> Reading:
    """Read a string, with an error where an invisible space is at its start or end."""
    edge = text[0] if text[0] in _INVISIBLE else text[-1]
    if edge not in _INVISIBLE:
        return Reading(text)
    problem = f"invisible space U+{ord(edge):04X} at the start or end of a string: YAML keeps it in the value"
    return Reading(text, Code.NOT_YAML, problem, "use ordinary spaces, or put the string in quotes")


def _resolve_kubectl_dot(text: str) -> Scalar:
    if _NON_FINITE.fullmatch(text):
        return float(text.replace(".", "").lower())
    return _parse_finite(text.replace("_", ""), text) if _KUBECTL_DOT_FLOAT.fullmatch(text) else text


def _parse_go_int(text: str) -> int:
    """Parse a whole number as Go's ParseInt with base 0 does: a leading zero alone means octal."""
    digits = text.lstrip("+-")
    is_octal = digits[0] == "0" and digits.isdigit()
    number = int(digits, 8 if is_octal else 0)
    return -number if text[0] == "-" else number


def _parse_finite(number: str, text: str) -> Scalar:
    """Parse a floating-point number; one that is too large stays a string, as in Go."""
    value = float(number)
    return value if math.isfinite(value) else text


def _is_past_64_bits(value: Scalar) -> bool:
    return type(value) is int and not _INT_MIN <= value <= _INT_MAX


def _report_difference(text: str, core: Scalar, kubectl: Scalar) -> Reading:
    problem = (
        f"{quote_value(text)} is {_describe(core)} in YAML 1.2, but {_describe(kubectl)} for kubectl and Helm"
    )
    others = dict.fromkeys(
        f"`{_format_scalar(value)}`" for value in (kubectl, core) if not isinstance(value, str)
    )
    fix = f"write {' or '.join(others)}, or {suggest_quotes(text)}"
    return Reading(core, Code.AMBIGUOUS_SCALAR, problem, fix)


def _describe(value: Scalar) -> str:
    if isinstance(value, str):
        return "a string"
    if isinstance(value, bool) or value is None:
        return _format_scalar(value)
    return f"the number {_format_scalar(value)}"


def _format_scalar(value: Scalar) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    number = repr(value)
    return number if len(number) <= _LONGEST_SHOWN else f"{number[:_LONGEST_SHOWN]}…"
