"""Kubernetes quantities as Go parses them; a text that matches the CRD's pattern may still be invalid."""

import re
from decimal import ROUND_UP, Decimal
from typing import Final, TypeAlias

from gpupool.karpenter.integers import parse_int64

Amount: TypeAlias = int | Decimal
"""How much of a resource, exactly, in its base unit: cores, bytes, pieces."""

_EXPONENT = re.compile(r"[+-]?[0-9.]*[eE](?P<digits>.+)", re.ASCII)
_REASONABLE: Final = range(-10_000, 10_001)
"""Beyond these exponents Go calculates powers of ten for seconds or for ever when it parses or compares."""

_QUANTITY = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:([KMGTPE]i|[numkMGTPE])|[eE](.+))?", re.ASCII)
_SUFFIXES: Final = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
"""Powers of ten."""

_BINARY_SUFFIXES: Final = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
"""Powers of 1024, from the first power upwards."""

_FURTHEST: Final = Decimal(30)
"""Kubernetes keeps no amount over 2^63 or below a nano, so larger exponents make no difference."""

_NANO: Final = Decimal("1e-9")
_MUCH: Final = Decimal(10) ** 18


def find_quantity_problem(text: str) -> str | None:
    """Find why Karpenter can't use a quantity that matches the CRDs' pattern; None if it can.

    The text continues a sentence that starts with the quantity: `1e3.5` *has an exponent that …*.
    """
    if not text:
        return "is empty"
    match = _EXPONENT.fullmatch(text)
    if match is None or match["digits"] == "i":
        return None
    exponent = parse_int64(match["digits"])
    if exponent is None:
        return "has an exponent that is not a whole number of 64 bits"
    if exponent not in _REASONABLE:
        return "has an exponent so large that Karpenter never finishes calculating"
    return None


def parse_amount(text: str) -> Amount:
    """Parse a Kubernetes quantity that matches its pattern, such as `2000Gi` or `500m`.

    An amount below a nano is rounded up to one, as in Go.

    Raises:
        ValueError: for a text that is not a quantity.
    """
    match = _QUANTITY.fullmatch(text)
    if match is None:
        message = f"{text!r} is not a quantity"
        raise ValueError(message)
    number, suffix, exponent = match.groups()
    if suffix in _BINARY_SUFFIXES:
        exact = Decimal(number) * (1 << 10 * (_BINARY_SUFFIXES.index(suffix) + 1))
    else:
        # The pattern accepts a fractional exponent such as 1e3.5, so this must accept it as well.
        power = Decimal(exponent) if exponent else Decimal(_SUFFIXES.get(suffix or "", 0))
        exact = Decimal(number) * Decimal(10) ** min(max(power, -_FURTHEST), _FURTHEST)
    if exact == exact.to_integral_value():
        return int(exact)
    # An amount this large has no digits below a nano, and `quantize` would exceed Decimal's precision.
    return exact if abs(exact) >= _MUCH else exact.quantize(_NANO, ROUND_UP)
